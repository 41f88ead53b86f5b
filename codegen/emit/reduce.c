/* Reductions: identities, steps, and the fold of a vector's lanes.
 *
 * Order of a sum: lane i adds the elements i, i + lanes, … in order; at the end
 * the upper half of the lanes is added to the lower half until one is left. It
 * depends on the vector width alone, never on threads or on how rows are split. */
#include "codegen/emit/emit.h"

#include <assert.h>
#include <math.h>

LlValue reduce_identity(Emit *e, const Op *op, LlType type)
{
    bool real = LLVMGetTypeKind(ll_element(type)) != LLVMIntegerTypeKind;
    if (op->kind == OP_reduce_sum)
        return LLVMConstNull(type);
    return real ? ll_real(type, -INFINITY) : ll_int(type, INT32_MIN);
}

LlValue reduce_combine(Emit *e, const Op *op, LlValue a, LlValue b)
{
    Ll *ll = &e->ll;
    bool real = LLVMGetTypeKind(ll_element(LLVMTypeOf(a))) != LLVMIntegerTypeKind;
    if (op->kind == OP_reduce_sum)
        return real ? ll_fadd(ll, a, b) : LLVMBuildAdd(ll->builder, a, b, "");
    assert(op->kind == OP_reduce_max);
    /* A NaN in b is kept, as maxps keeps its second operand. */
    LlValue greater = real ? LLVMBuildFCmp(ll->builder, LLVMRealOGT, a, b, "")
                           : LLVMBuildICmp(ll->builder, LLVMIntSGT, a, b, "");
    return LLVMBuildSelect(ll->builder, greater, a, b, "");
}

LlValue reduce_lanes(Emit *e, const Op *op, LlValue vector)
{
    Ll *ll = &e->ll;
    LlValue order[64];
    for (int lanes = ll_lanes(LLVMTypeOf(vector)); lanes > 1; lanes /= 2) {
        LlValue halves[2];
        for (int h = 0; h < 2; h++) {
            for (int i = 0; i < lanes / 2; i++)
                order[i] = ll_int(ll->i32, h * lanes / 2 + i);
            halves[h] =
                lanes == 2
                    ? LLVMBuildExtractElement(ll->builder, vector, order[0], "")
                    : LLVMBuildShuffleVector(ll->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                             LLVMConstVector(order, (unsigned)lanes / 2), "");
        }
        vector = reduce_combine(e, op, halves[0], halves[1]);
    }
    return vector;
}

void reduce_into(Emit *e, const Op *op, LlValue slot, LlValue x, LlValue mask)
{
    Ll *ll = &e->ll;
    LlType type = LLVMTypeOf(x);
    unsigned align = (unsigned)dtype_bytes(op->results[0].type.dtype);
    if (mask)
        x = LLVMBuildSelect(ll->builder, mask, x, reduce_identity(e, op, type), "");
    ll_store(ll, reduce_combine(e, op, ll_load(ll, type, slot, align), x), slot, align);
}
