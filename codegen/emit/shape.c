/* Shape ops inside a body: each says where its operand is read. Nothing moves;
 * the coordinates do.
 *
 *   slice      coordinate + start               flip        size - 1 - coordinate
 *   transpose  coordinates in another order     broadcast   as numpy aligns them
 *   pad        coordinate - start, zero outside
 *   reshape    by groups of constant dimensions between symbolic ones:
 *              coordinates → number in the group → coordinates */
#include "codegen/emit/emit.h"

#include <assert.h>

static LoValue zero_of(Emit *e, const Value *value)
{
    return lo_zero(&e->lo, emit_type(e, value->type.dtype));
}

static Coord coord_plus(Emit *e, Coord c, int64_t constant)
{
    return coord_add(e, c, coord_const(e, constant));
}

/* The operand's own place: its dimensions of 1 stand at 0. */
static LoValue eval_at(Emit *e, const Value *value, Place place)
{
    for (int i = 0; i < place.rank; i++)
        if (dim_is_one(value->type.dims[i]))
            place.at[i] = (Coord){0};
    return emit_eval(e, value, &place);
}

static LoValue shape_slice(Emit *e, const Op *op, const Place *place)
{
    Place in = *place;
    int axis = (int)op_int(op, ATTR_axis);
    in.at[axis] = coord_plus(e, in.at[axis], op_int(op, ATTR_start));
    return eval_at(e, op->args[0], in);
}

static LoValue shape_flip(Emit *e, const Op *op, const Place *place)
{
    Place in = *place;
    int axis = (int)op_int(op, ATTR_axis);
    in.at[axis] =
        coord_plus(e, coord_scale(e, in.at[axis], -1), op->args[0]->type.dims[axis].size - 1);
    return eval_at(e, op->args[0], in);
}

static LoValue shape_pad(Emit *e, const Op *op, const Place *place)
{
    Lo *lo = &e->lo;
    Place in = *place;
    int axis = (int)op_int(op, ATTR_axis);
    int64_t n = op->args[0]->type.dims[axis].size;
    Coord c = coord_plus(e, in.at[axis], -op_int(op, ATTR_start));
    LoValue at = coord_value(e, &c, lo_i64);
    LoValue inside = lo_ult(lo, at, lo_int(lo, lo_type(at), n));
    in.at[axis] = c;
    in.valid = val_and(e, in.valid, inside);
    return lo_select(lo, inside, eval_at(e, op->args[0], in), zero_of(e, op->args[0]));
}

static LoValue shape_transpose(Emit *e, const Op *op, const Place *place)
{
    Place in = *place;
    const Attr *perm = op_attr(op, ATTR_perm);
    for (int i = 0; i < perm->n; i++)
        in.at[perm->ints[i]] = place->at[i];
    return eval_at(e, op->args[0], in);
}

static LoValue shape_broadcast(Emit *e, const Op *op, const Place *place)
{
    return emit_aligned(e, op->args[0], place);
}

/* c / divisor, or its remainder, of a coordinate that is not negative. */
static Coord coord_divide(Emit *e, const Coord *c, int64_t divisor, bool remainder)
{
    Lo *lo = &e->lo;
    LoType narrow = c->varies && e->vector > 1 ? lo_i32 : lo_i64; /* vectors have no wide quotient */
    LoValue x = coord_value(e, c, narrow), d = lo_int(lo, narrow, divisor);
    x = remainder ? lo_urem(lo, x, d) : lo_udiv(lo, x, d);
    return (Coord){.base = narrow == lo_i64 ? x : lo_zext(lo, x, lo_i64), .varies = c->varies};
}

/* One group: dims [from, to) of the result hold the elements of dims [a, b) of the operand. */
static void regroup(Emit *e, const Type *result, int from, int to, const Place *place,
                    const Type *operand, int a, int b, Place *in)
{
    Coord number = {0};
    int64_t stride = 1, rest = 1;
    for (int i = to - 1; i >= from; i--) {
        if (!dim_is_one(result->dims[i]))
            number = coord_add(e, number, coord_scale(e, place->at[i], stride));
        stride *= result->dims[i].size;
    }
    for (int i = b - 1; i >= a; i--) {
        int64_t size = operand->dims[i].size, above = stride / (rest * (size ? size : 1));
        Coord c = rest == 1 ? number : coord_divide(e, &number, rest, false);
        if (above > 1 && size > 1)
            c = coord_divide(e, &c, size, true);
        in->at[i] = c;
        rest *= size ? size : 1;
    }
}

/* Neighbouring constant dimensions of the same lengths keep their coordinates. */
static bool keep_equal(const Type *result, int from, int to, const Place *place,
                       const Type *operand, int a, int b, Place *in)
{
    Place kept = *in;
    for (;; from++, a++) {
        while (from < to && dim_is_one(result->dims[from]))
            from++;
        while (a < b && dim_is_one(operand->dims[a]))
            a++;
        if (from == to || a == b)
            break;
        if (result->dims[from].size != operand->dims[a].size)
            return false;
        kept.at[a] = place->at[from];
    }
    if (from < to || a < b)
        return false;
    *in = kept;
    return true;
}

static LoValue shape_reshape(Emit *e, const Op *op, const Place *place)
{
    const Type *result = &op->results[0].type, *operand = &op->args[0]->type;
    Place in = {.rank = operand->rank, .valid = place->valid};
    for (int i = 0, j = 0;; i++, j++) {
        int from = i, a = j;
        while (i < result->rank && dim_is_const(result->dims[i]))
            i++;
        while (j < operand->rank && dim_is_const(operand->dims[j]))
            j++;
        if (!keep_equal(result, from, i, place, operand, a, j, &in))
            regroup(e, result, from, i, place, operand, a, j, &in);
        if (i >= result->rank || j >= operand->rank)
            break;
        in.at[j] = place->at[i];
    }
    return eval_at(e, op->args[0], in);
}

/* Concatenations are kernels of their own (index.c). */
static LoValue shape_concat(Emit *e, const Op *op, const Place *place)
{
    (void)e, (void)op, (void)place;
    assert(!"concat is no part of a body");
    return NULL;
}

typedef LoValue (*ShapeRule)(Emit *e, const Op *op, const Place *place);
static const ShapeRule rules[OP_COUNT] = {
#define SHAPE(name, ...) [OP_##name] = shape_##name,
#include "ir/ops.def"
};

LoValue value_shape(Emit *e, const Op *op, const Place *place) { return rules[op->kind](e, op, place); }

/* Rows of a table at the indices; an index outside gives zeros and reads row 0. */
LoValue value_gather(Emit *e, const Op *op, const Place *place)
{
    Lo *lo = &e->lo;
    const Value *table = op->args[0], *index = op->args[1];
    Place at_index = {.rank = index->type.rank, .valid = place->valid};
    Place at_table = {.rank = table->type.rank, .valid = place->valid};
    for (int i = 0; i < index->type.rank; i++)
        at_index.at[i] = place->at[i];
    for (int i = 1; i < table->type.rank; i++)
        at_table.at[i] = place->at[index->type.rank + i - 1];
    LoValue row = eval_at(e, index, at_index);
    Dim rows = table->type.dims[0];
    LoValue n = dim_is_const(rows) ? lo_int(lo, lo_i32, rows.size)
                                   : lo_trunc(lo, dim_field(e, rows.symbol, DIM_EXTENT), lo_i32);
    LoValue inside = lo_ult(lo, row, n);
    LoValue safe = lo_select(lo, inside, row, lo_zero(lo, lo_type(row)));
    at_table.at[0] = (Coord){.base = lo_zext(lo, safe, lo_i64), .varies = true};
    return lo_select(lo, inside, eval_at(e, table, at_table), zero_of(e, table));
}
