/* Pulling values: emit_eval gives a value at a place, computing what it needs at the
 * depth where it is known, once (the memo).
 *
 * Which rule computes an op comes from ops.def: a LEAF, SHAPE or ELEMENTWISE row
 * without its rule here, in shape.c or in elementwise.c does not compile. */
#include "codegen/emit/emit.h"

#include "base/bf16.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- depth ---- */

void emit_at(Emit *e, Depth depth)
{
    if (depth == DEPTH_BODY)
        lo_resume(&e->lo);
    else
        lo_before(&e->lo, e->anchors[depth]);
}

Depth depth_max(Depth a, Depth b) { return a > b ? a : b; }

LoValue emit_widen(Emit *e, Val x, Depth depth)
{
    if (depth != DEPTH_BODY || e->lanes == 1 || lo_is_vector(lo_type(x.v)))
        return x.v;
    emit_at(e, x.depth);
    return lo_splat(&e->lo, x.v, e->lanes);
}

Val val_select(Emit *e, Val condition, Val x, Val y)
{
    Depth depth = depth_max(condition.depth, depth_max(x.depth, y.depth));
    LoValue c = emit_widen(e, condition, depth), a = emit_widen(e, x, depth),
            b = emit_widen(e, y, depth);
    emit_at(e, depth);
    return (Val){lo_select(&e->lo, c, a, b), depth};
}

Val val_and(Emit *e, Val a, Val b)
{
    if (!a.v || !b.v)
        return a.v ? a : b;
    Depth depth = depth_max(a.depth, b.depth);
    LoValue x = emit_widen(e, a, depth), y = emit_widen(e, b, depth);
    emit_at(e, depth);
    return (Val){lo_and(&e->lo, x, y), depth};
}

LoType emit_type(Emit *e, DType dtype)
{
    switch (dtype) {
    case DT_F32:
    case DT_BF16: return lo_f32;
    case DT_F64: return lo_f64;
    case DT_I32: return lo_i32;
    case DT_BOOL: return lo_i1;
    case DT_COUNT: break;
    }
    assert(!"an element type");
    return lo_none;
}

LoType emit_memory_type(Emit *e, DType dtype)
{
    return dtype == DT_BOOL ? lo_i8 : dtype == DT_BF16 ? lo_i16 : emit_type(e, dtype);
}

LoValue emit_rounded(Emit *e, DType dtype, LoValue x)
{
    return dtype == DT_BF16 ? lo_bf16_round(&e->lo, x) : x;
}

/* ---- places ---- */

Place place_aligned(const Type *type, const Place *place)
{
    Place own = {.rank = type->rank, .valid = place->valid};
    for (int i = 0; i < type->rank; i++) {
        int from = i + place->rank - type->rank;
        if (!dim_is_one(type->dims[i]) && from >= 0)
            own.at[i] = place->at[from];
    }
    return own;
}

static bool same_coord(const Coord *a, const Coord *b)
{
    return a->base == b->base && a->step == b->step && a->lanes == b->lanes && a->token == b->token;
}

static bool same_place(const Place *a, const Place *b)
{
    if (a->rank != b->rank || a->valid.v != b->valid.v)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!same_coord(&a->at[i], &b->at[i]))
            return false;
    return true;
}

bool place_is_own(const Emit *e, const Type *type, const Place *place)
{
    Place own = place_aligned(type, &e->space);
    return same_place(&own, place);
}

void memo_forget(Emit *e, Depth from)
{
    for (int i = 0; i < e->n_values; i++)
        if (e->memo[i].val.v && e->memo[i].val.depth >= from)
            e->memo[i].val = (Val){0};
}

/* ---- leaves ---- */

static Val to_dtype(Emit *e, Val x, DType dtype)
{
    emit_at(e, x.depth);
    if (lo_type(x.v) == lo_i64)
        x.v = lo_trunc(&e->lo, x.v, lo_i32);
    return (Val){emit_convert(e, x.v, DT_I32, dtype), x.depth};
}

static Val value_const(Emit *e, const BodyOp *b, const Place *place)
{
    DType dtype = b->op->results[0].type.dtype;
    LoType type = emit_type(e, dtype);
    double value = op_float(b->op, ATTR_value);
    if (dtype == DT_BOOL)
        return (Val){lo_int(&e->lo, type, value != 0), DEPTH_ENTRY};
    if (dtype == DT_BF16)
        value = bf16_to_float(bf16_from_float((float)value));
    return (Val){dtype_is_float(dtype) ? lo_real(&e->lo, type, value)
                                       : lo_int(&e->lo, type, (int64_t)value),
                 DEPTH_ENTRY};
}

/* Where a leaf with ones around its dimension stands along that dimension. */
static Coord leaf_coord(Emit *e, const BodyOp *b, const Place *place)
{
    int dim = type_long_dim(&b->op->results[0].type);
    return dim >= 0 ? place->at[dim] : coord_const(e, 0);
}

static Val value_iota(Emit *e, const BodyOp *b, const Place *place)
{
    Coord at = leaf_coord(e, b, place);
    return coord_value(e, &at, lo_i32);
}

static Val value_size(Emit *e, const BodyOp *b, const Place *place)
{
    Val total = {dim_field(e, (int)op_int(b->op, ATTR_dim), DIM_TOTAL), DEPTH_ENTRY};
    return to_dtype(e, total, b->op->results[0].type.dtype);
}

static Val value_lengths(Emit *e, const BodyOp *b, const Place *place)
{
    Coord length =
        table_lookup(e, (int)op_int(b->op, ATTR_dim), DIM_LENGTH, leaf_coord(e, b, place));
    return to_dtype(e, coord_value(e, &length, lo_i32), b->op->results[0].type.dtype);
}

static LoValue random_unit(Emit *e, LoValue word, DType dtype)
{
    Lo *lo = &e->lo;
    int kept = dtype == DT_BF16 ? 8 : 24; /* bits that no rounding makes 1 */
    LoValue bits = lo_lshr(lo, word, lo_int(lo, lo_type(word), 32 - kept));
    LoType type = lo_like(lo_type(word), emit_type(e, dtype));
    return lo_mul(lo, lo_from_uint(lo, bits, type), lo_real(lo, type, ldexp(1, -kept)));
}

static Val value_random(Emit *e, const BodyOp *b, const Place *place)
{
    Val word = random_word(e, b, place);
    emit_at(e, word.depth);
    return (Val){random_unit(e, word.v, b->op->results[0].type.dtype), word.depth};
}

static Val value_outside(Emit *e, const BodyOp *b, const Place *place)
{
    (void)e, (void)b, (void)place;
    assert(!"inputs and params are operands of kernels, and `training` was resolved before");
    return (Val){0};
}
#define value_input value_outside
#define value_param value_outside
#define value_training value_outside

/* ---- elementwise ---- */

enum { MAX_ELEMENT_ARGS = 4 };

static Val value_elementwise(Emit *e, const BodyOp *b, const Place *place)
{
    const Op *op = b->op;
    Val args[MAX_ELEMENT_ARGS];
    LoValue x[MAX_ELEMENT_ARGS];
    int n = op->n_args;
    Depth depth = DEPTH_ENTRY;
    for (int i = 0; i < n; i++)
        args[i] = emit_aligned(e, op->args[i], place);
    if (op->kind == OP_dropout)
        args[n++] = random_word(e, b, place);
    for (int i = 0; i < n; i++)
        depth = depth_max(depth, args[i].depth);
    for (int i = 0; i < n; i++)
        x[i] = emit_widen(e, args[i], depth);
    emit_at(e, depth);
    return (Val){emit_elementwise(e, op, x), depth};
}

/* ---- the table ---- */

typedef Val (*ValueRule)(Emit *e, const BodyOp *op, const Place *place);

static Val value_of_shape(Emit *e, const BodyOp *b, const Place *place)
{
    return value_shape(e, b->op, place);
}

static Val value_of_gather(Emit *e, const BodyOp *b, const Place *place)
{
    return value_gather(e, b->op, place);
}

static const ValueRule rules[OP_COUNT] = {
#define LEAF(name, ...) [OP_##name] = value_##name,
#define ELEMENTWISE(name, ...) [OP_##name] = value_elementwise,
#define SHAPE(name, ...) [OP_##name] = value_of_shape,
#include "ir/ops.def"
    [OP_gather] = value_of_gather,
};

/* The row that an earlier sweep saved. */
static Val value_cached(Emit *e, int number)
{
    Lo *lo = &e->lo;
    const Type *type = &e->body.ops[number - e->body.n_inputs].op->results[0].type;
    LoType element = type->dtype == DT_BOOL ? lo_i8 : emit_type(e, type->dtype);
    emit_at(e, DEPTH_BODY);
    LoValue x =
        lo_load(lo, lo_vector(element, e->lanes),
                lo_at(lo, element, e->row_cache[number], e->cache_at ? e->cache_at : e->column),
                (unsigned)dtype_bytes(type->dtype));
    if (type->dtype == DT_BOOL)
        x = lo_ne(lo, x, lo_zero(lo, lo_type(x)));
    return (Val){x, DEPTH_BODY};
}

Val emit_eval(Emit *e, const Value *value, const Place *place)
{
    int number = body_number(&e->body, value);
    assert(number >= 0 && "a body reads its operands and its own values");
    Memo *memo = &e->memo[number];
    if (memo->val.v && same_place(&memo->place, place))
        return memo->val;
    Val val;
    if (e->reduced[number].v) {
        return e->reduced[number];
    } else if (number < e->body.n_inputs) {
        val = emit_load_at(e, number, place);
    } else if (e->cached[number] && place_is_own(e, &value->type, place)) {
        val = value_cached(e, number);
    } else {
        const BodyOp *op = &e->body.ops[number - e->body.n_inputs];
        assert(rules[op->op->kind] &&
               "bodies hold leaves, elementwise and shape ops, reductions, gather");
        val = rules[op->op->kind](e, op, place);
    }
    if (!memo->val.v)
        *memo = (Memo){val, *place};
    return val;
}
