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

static Coord coord_plus(Emit *e, Coord c, int64_t constant)
{
    return coord_add(e, c, coord_const(e, constant));
}

static Place shape_slice(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    Place in = *place;
    int axis = (int)op_int(op, ATTR_axis);
    in.at[axis] = coord_plus(e, in.at[axis], op_int(op, ATTR_start));
    return in;
}

static Place shape_flip(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    Place in = *place;
    int axis = (int)op_int(op, ATTR_axis);
    in.at[axis] =
        coord_plus(e, coord_scale(e, in.at[axis], -1), op->args[0]->type.dims[axis].size - 1);
    return in;
}

static Place shape_pad(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    Place in = *place;
    int axis = (int)op_int(op, ATTR_axis);
    Coord c = coord_plus(e, in.at[axis], -op_int(op, ATTR_start));
    int64_t n = op->args[0]->type.dims[axis].size;
    *inside = lo_ult(&e->lo, coord_value(e, &c, lo_i64), lo_i64_of(&e->lo, n));
    in.at[axis] = c;
    in.valid = val_and(e, in.valid, *inside);
    return in;
}

static Place shape_transpose(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    Place in = *place;
    const Attr *perm = op_attr(op, ATTR_perm);
    for (int i = 0; i < perm->n; i++)
        in.at[perm->ints[i]] = place->at[i];
    return in;
}

static Place shape_broadcast(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    return place_aligned(&op->args[0]->type, place);
}

/* c / divisor, or its remainder, of a coordinate that is not negative. */
static Coord coord_divide(Emit *e, const Coord *c, int64_t divisor, bool remainder)
{
    Lo *lo = &e->lo;
    /* vectors have no wide quotient */
    LoType narrow = c->varies && e->vector > 1 ? lo_i32 : lo_i64;
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

static Place shape_reshape(Emit *e, const Op *op, const Place *place, LoValue *inside)
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
    return in;
}

/* Concatenations are kernels of their own (index.c). */
static Place shape_concat(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    assert(!"concat is no part of a body");
    return *place;
}

typedef Place (*ShapeRule)(Emit *e, const Op *op, const Place *place, LoValue *inside);
static const ShapeRule rules[OP_COUNT] = {
#define SHAPE(name, ...) [OP_##name] = shape_##name,
#include "ir/ops.def"
};

Place place_of_operand(Emit *e, const Op *op, const Place *place, LoValue *inside)
{
    *inside = NULL;
    return rules[op->kind](e, op, place, inside);
}
