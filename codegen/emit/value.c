/* Pulling values: emit_eval gives a value at a place, computing what it needs there, once a
 * block (the memo).
 *
 * Which rule computes an op comes from ops.def: a LEAF, SHAPE or ELEMENTWISE row
 * without its rule here, in shape.c or in region/elementwise.c does not compile. gather, an
 * embedding's row of a token, is value_gather. */
#include "codegen/emit/emit.h"

#include "base/bf16.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void memo_forget(Emit *e)
{
    for (int i = 0; i < e->n_values; i++)
        e->memo[i].value = NULL;
}

/* ---- element types, and code at the entry ---- */

void emit_at_entry(Emit *e) { lo_before(&e->lo, e->entry); }

LoValue val_and(Emit *e, LoValue a, LoValue b) { return a && b ? lo_and(&e->lo, a, b) : a ? a : b; }

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

/* ---- leaves ---- */

static LoValue to_dtype(Emit *e, LoValue x, DType dtype)
{
    if (lo_type(x) == lo_i64)
        x = lo_trunc(&e->lo, x, lo_i32);
    return emit_convert(e, x, DT_I32, dtype);
}

static LoValue value_const(Emit *e, const BodyOp *b, const Place *place)
{
    DType dtype = b->op->results[0].type.dtype;
    LoType type = emit_type(e, dtype);
    double value = op_float(b->op, ATTR_value);
    if (dtype == DT_BOOL)
        return lo_int(&e->lo, type, value != 0);
    if (dtype == DT_BF16)
        value = bf16_to_float(bf16_from_float((float)value));
    return dtype_is_float(dtype) ? lo_real(&e->lo, type, value)
                                 : lo_int(&e->lo, type, (int64_t)value);
}

/* Where a leaf with ones around its dimension stands along that dimension. */
static Coord leaf_coord(Emit *e, const BodyOp *b, const Place *place)
{
    int dim = type_long_dim(&b->op->results[0].type);
    return dim >= 0 ? place->at[dim] : coord_const(e, 0);
}

static LoValue value_iota(Emit *e, const BodyOp *b, const Place *place)
{
    Coord at = leaf_coord(e, b, place);
    return coord_value(e, &at, lo_i32);
}

static LoValue value_size(Emit *e, const BodyOp *b, const Place *place)
{
    LoValue total = dim_field(e, (int)op_int(b->op, ATTR_dim), DIM_TOTAL);
    return to_dtype(e, total, b->op->results[0].type.dtype);
}

static LoValue value_lengths(Emit *e, const BodyOp *b, const Place *place)
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

static LoValue value_random(Emit *e, const BodyOp *b, const Place *place)
{
    LoValue word = random_word(e, b, place);
    return random_unit(e, word, b->op->results[0].type.dtype);
}

static LoValue value_outside(Emit *e, const BodyOp *b, const Place *place)
{
    (void)e, (void)b, (void)place;
    assert(!"inputs and params are operands of kernels, and `training` was resolved before");
    return NULL;
}
#define value_input value_outside
#define value_param value_outside
#define value_training value_outside

/* ---- elementwise ---- */

enum { MAX_ELEMENT_ARGS = 4 };

static LoValue value_elementwise(Emit *e, const BodyOp *b, const Place *place)
{
    const Op *op = b->op;
    LoValue x[MAX_ELEMENT_ARGS];
    int n = op->n_args;
    for (int i = 0; i < n; i++)
        x[i] = emit_aligned(e, op->args[i], place);
    if (op->kind == OP_dropout)
        x[n++] = random_word(e, b, place);
    return emit_elementwise(e, op, x);
}

/* ---- moved ---- */

/* The operand's own place: its dimensions of 1 stand at 0. */
static LoValue eval_at(Emit *e, const Value *value, Place place)
{
    for (int i = 0; i < place.rank; i++)
        if (dim_is_one(value->type.dims[i]))
            place.at[i] = (Coord){0};
    return emit_eval(e, value, &place);
}

static LoValue or_zero(Emit *e, LoValue inside, LoValue x)
{
    return inside ? lo_select(&e->lo, inside, x, lo_zero(&e->lo, lo_type(x))) : x;
}

static LoValue value_shape(Emit *e, const BodyOp *b, const Place *place)
{
    LoValue inside;
    Place in = place_of_operand(e, b->op, place, &inside);
    return or_zero(e, inside, eval_at(e, b->op->args[0], in));
}

/* Rows of a table at the indices; an index outside gives zeros and reads row 0. */
static LoValue value_gather(Emit *e, const BodyOp *b, const Place *place)
{
    Lo *lo = &e->lo;
    const Value *table = b->op->args[0], *index = b->op->args[1];
    Place at_index = {.rank = index->type.rank, .valid = place->valid};
    Place at_table = {.rank = table->type.rank, .valid = place->valid};
    bool varies = false;
    for (int i = 0; i < index->type.rank; i++) {
        at_index.at[i] = place->at[i];
        varies |= place->at[i].varies;
    }
    for (int i = 1; i < table->type.rank; i++)
        at_table.at[i] = place->at[index->type.rank + i - 1];
    LoValue row = eval_at(e, index, at_index);
    Dim rows = table->type.dims[0];
    LoValue n = dim_is_const(rows) ? lo_int(lo, lo_i32, rows.size)
                                   : lo_trunc(lo, dim_field(e, rows.symbol, DIM_EXTENT), lo_i32);
    LoValue inside = lo_ult(lo, row, n);
    LoValue safe = lo_select(lo, inside, row, lo_zero(lo, lo_i32));
    at_table.at[0] = (Coord){.base = lo_zext(lo, safe, lo_i64), .varies = varies};
    LoValue x = op_is_packed_lookup(b->op)
                    ? emit_packed(e, body_number(&e->body, table), op_quant(b->op),
                                  at_table.at[0].base, &at_table)
                    : eval_at(e, table, at_table);
    return or_zero(e, inside, x);
}

/* The number that a constant holds. */
static bool constant_of(const Value *value, int64_t *number)
{
    const Op *op = value->op;
    if (!op || op->kind != OP_const)
        return false;
    *number = (int64_t)op_float(op, ATTR_value);
    return true;
}

/* Whether positions along this symbol are the own ones, plus a constant. */
static bool is_distance(const Emit *e, const Value *index, int symbol, int64_t *distance)
{
    const Op *op = body_number(&e->body, index) >= e->body.n_inputs ? index->op : NULL;
    int64_t number;
    if (op && op->kind == OP_iota) {
        int dim = type_long_dim(&index->type);
        *distance = 0;
        return dim >= 0 && index->type.dims[dim].symbol == symbol;
    }
    if (op && op->kind == OP_reshape) /* ones around the dimension */
        return type_long_dim(&index->type) >= 0 && is_distance(e, op->args[0], symbol, distance);
    if (!op || (op->kind != OP_add && op->kind != OP_sub))
        return false;
    bool first = op->kind == OP_add && constant_of(op->args[0], &number);
    if ((!first && !constant_of(op->args[1], &number)) ||
        !is_distance(e, op->args[first ? 1 : 0], symbol, distance))
        return false;
    *distance += op->kind == OP_sub ? -number : number;
    return true;
}

bool lookup_distance(const Emit *e, const Op *op, int symbol, int64_t *distance)
{
    if (op->kind != OP_lookup || body_number(&e->body, op->args[0]) >= e->body.n_inputs)
        return false;
    const Type *x = &op->args[0]->type, *index = &op->args[1]->type;
    int axis = (int)op_int(op, ATTR_axis), shift = op->results[0].type.rank - index->rank;
    return x->dims[axis].symbol == symbol && type_long_dim(index) + shift == axis &&
           dim_equal(x->dims[axis], op->results[0].type.dims[axis]) &&
           type_find_dim(x, e->module->symbols.data[symbol].batch) >= 0 &&
           is_distance(e, op->args[1], symbol, distance);
}

/* The token and the position so far from the first row of the block. */
static void stand_in_block(Emit *e, int64_t distance, Coord *position)
{
    LoValue by = lo_i64_of(&e->lo, distance);
    position->base = lo_iadd(&e->lo, e->block.position, by);
    e->token.base = lo_iadd(&e->lo, e->block.token, by);
}

/* Of rows side by side: the row at this distance, which exists. What the blocks to come read first
 * is fetched meanwhile: each row begins a stream that no processor foresees. */
static LoValue lookup_in_block(Emit *e, const BodyOp *b, int64_t distance, Place place)
{
    const Coord own = e->token;
    Coord *position = &place.at[op_int(b->op, ATTR_axis)];
    stand_in_block(e, e->block.row + distance, position);
    LoValue x = eval_at(e, b->op->args[0], place);
    if (distance == e->block.greatest) {
        stand_in_block(e, e->block.row + distance + BLOCK_AHEAD, position);
        lo_prefetch(&e->lo, emit_address(e, body_number(&e->body, b->op->args[0]), &place));
    }
    e->token = own;
    return x;
}

/* Elements at positions along an axis. Outside, nothing is read: the address is that of the same
 * position of the result where both have the same dimension, and else memory is masked. */
static LoValue value_lookup(Emit *e, const BodyOp *b, const Place *place)
{
    Lo *lo = &e->lo;
    const Value *x = b->op->args[0], *index = b->op->args[1];
    int axis = (int)op_int(b->op, ATTR_axis);
    int64_t distance;
    if (e->block.token && place->at[axis].token == e->token.token &&
        lookup_distance(e, b->op, e->token.token - 1, &distance))
        return lookup_in_block(e, b, distance, *place);
    Dim along = x->type.dims[axis];
    Place at_index = place_aligned(&index->type, place), in = *place;
    if (dim_is_const(along) && along.size == 0)
        return lo_zero(lo, emit_type(e, x->type.dtype));
    LoValue row = lo_sext(lo, emit_eval(e, index, &at_index), lo_i64);
    bool varies = false;
    for (int i = 0; i < at_index.rank; i++)
        varies |= at_index.at[i].varies;
    Coord length = length_along(e, &x->type, axis, place);
    LoValue inside = lo_ult(lo, row, coord_value(e, &length, lo_i64));
    if (dim_is_const(along) || dim_equal(along, b->op->results[0].type.dims[axis])) {
        Coord own = dim_is_const(along) ? (Coord){0} : place->at[axis];
        row = lo_select(lo, inside, row, coord_value(e, &own, lo_i64));
        varies |= own.varies;
    } else {
        in.valid = val_and(e, in.valid, inside);
    }
    in.at[axis] = (Coord){.base = row, .varies = varies};
    return or_zero(e, inside, eval_at(e, x, in));
}

/* ---- the table ---- */

typedef LoValue (*ValueRule)(Emit *e, const BodyOp *op, const Place *place);

static const ValueRule rules[OP_COUNT] = {
#define LEAF(name, ...) [OP_##name] = value_##name,
#define ELEMENTWISE(name, ...) [OP_##name] = value_elementwise,
#define SHAPE(name, ...) [OP_##name] = value_shape,
#include "ir/ops.def"
    [OP_gather] = value_gather,
    [OP_lookup] = value_lookup,
};

/* The row that an earlier sweep saved. */
static LoValue value_cached(Emit *e, int number)
{
    Lo *lo = &e->lo;
    const Type *type = &e->body.ops[number - e->body.n_inputs].op->results[0].type;
    LoType element = type->dtype == DT_BOOL ? lo_i8 : emit_type(e, type->dtype);
    LoValue x =
        lo_load(lo, element,
                lo_at(lo, element, e->row_cache[number], e->cache_at ? e->cache_at : e->column),
                (unsigned)dtype_bytes(type->dtype));
    if (type->dtype == DT_BOOL)
        x = lo_ne(lo, x, lo_zero(lo, lo_type(x)));
    return x;
}

/* Whether what was computed holds here: in this block or one around it. */
static bool is_known(const Emit *e, const Memo *memo)
{
    return memo->value && lo_is_visible(&e->lo, memo->value);
}

static LoValue value_at(Emit *e, int number, const Value *value, const Place *place)
{
    if (number < e->body.n_inputs)
        return emit_load_at(e, number, place);
    if (e->cached[number] && place_is_own(e, &value->type, place))
        return value_cached(e, number);
    const BodyOp *op = &e->body.ops[number - e->body.n_inputs];
    assert(rules[op->op->kind] &&
           "bodies hold leaves, elementwise and shape ops, reductions, gather, lookup");
    return rules[op->op->kind](e, op, place);
}

LoValue emit_eval(Emit *e, const Value *value, const Place *place)
{
    int number = body_number(&e->body, value);
    assert(number >= 0 && "a body reads its operands and its own values");
    Memo *memo = &e->memo[number];
    if (e->reduced[number])
        return e->reduced[number];
    if (is_known(e, memo) && place_equal(&memo->place, place))
        return memo->value;
    int former = e->lo.origin;
    if (number >= e->body.n_inputs) /* an operand is loaded for who asks */
        emit_from(e, number);
    LoValue x = value_at(e, number, value, place);
    e->lo.origin = former;
    if (!is_known(e, memo))
        *memo = (Memo){x, *place};
    return x;
}
