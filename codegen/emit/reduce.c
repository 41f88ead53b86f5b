/* Reductions: identities, steps, and the fold of a vector's lanes.
 *
 * Order of a sum: lane i adds the elements i, i + lanes, … in order; at the end
 * the upper half of the lanes is added to the lower half until one is left. It
 * depends on the vector width alone, never on threads or on how rows are split. */
#include "codegen/emit/emit.h"

#include <assert.h>
#include <math.h>

LoValue reduce_identity(Emit *e, const Op *op, LoType type)
{
    Lo *lo = &e->lo;
    if (op->kind == OP_reduce_sum)
        return lo_zero(lo, type);
    return lo_is_float(type) ? lo_real(lo, type, -INFINITY) : lo_int(lo, type, INT32_MIN);
}

LoValue reduce_combine(Emit *e, const Op *op, LoValue a, LoValue b)
{
    Lo *lo = &e->lo;
    if (op->kind == OP_reduce_sum)
        return lo_add(lo, a, b);
    assert(op->kind == OP_reduce_max);
    /* A NaN in b is kept, as maxps keeps its second operand. */
    return lo_select(lo, lo_gt(lo, a, b), a, b);
}

LoValue reduce_lanes(Emit *e, const Op *op, LoValue vector)
{
    Lo *lo = &e->lo;
    int order[LO_MAX_LANES];
    for (int lanes = lo_lanes(lo_type(vector)); lanes > 1; lanes /= 2) {
        LoValue halves[2];
        for (int h = 0; h < 2; h++) {
            for (int i = 0; i < lanes / 2; i++)
                order[i] = h * lanes / 2 + i;
            halves[h] = lanes == 2 ? lo_extract(lo, vector, order[0])
                                   : lo_shuffle(lo, vector, vector, order, lanes / 2);
        }
        vector = reduce_combine(e, op, halves[0], halves[1]);
    }
    return vector;
}

void reduce_into(Emit *e, const Op *op, LoValue slot, LoValue x, LoValue mask)
{
    Lo *lo = &e->lo;
    LoType type = lo_type(x);
    unsigned align = (unsigned)dtype_bytes(op->results[0].type.dtype);
    if (mask)
        x = lo_select(lo, mask, x, reduce_identity(e, op, type));
    lo_store(lo, reduce_combine(e, op, lo_load(lo, type, slot, align), x), slot, align);
}
