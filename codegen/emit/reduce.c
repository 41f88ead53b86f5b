/* Reductions: identities, steps, and the fold of a vector's lanes.
 *
 * Order of a sum: lane i adds the elements i, i + lanes, … in order; at the end
 * the upper half of the lanes is added to the lower half until one is left. It
 * depends on the vector width alone, never on threads or on how rows are split. */
#include "codegen/emit/emit.h"

#include <assert.h>
#include <math.h>

LoJoin reduce_join(const Op *op) { return op->kind == OP_reduce_sum ? LO_JOIN_ADD : LO_JOIN_MAX; }

LoValue reduce_identity(Emit *e, const Op *op, LoType type)
{
    return lo_identity(&e->lo, reduce_join(op), type);
}

LoValue reduce_combine(Emit *e, const Op *op, LoValue a, LoValue b)
{
    return lo_join(&e->lo, reduce_join(op), a, b);
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
