/* Types, constants, and the LLVM values of ops. */
#include "codegen/llvm/render_state.h"

LlType render_type(const Render *r, LoType type)
{
    LLVMContextRef c = r->context;
    LlType element;
    switch (lo_element_kind(type)) {
    case LO_I1: element = LLVMInt1TypeInContext(c); break;
    case LO_I8: element = LLVMInt8TypeInContext(c); break;
    case LO_I16: element = LLVMInt16TypeInContext(c); break;
    case LO_I32: element = LLVMInt32TypeInContext(c); break;
    case LO_I64: element = LLVMInt64TypeInContext(c); break;
    case LO_F32: element = LLVMFloatTypeInContext(c); break;
    case LO_F64: element = LLVMDoubleTypeInContext(c); break;
    case LO_PTR: element = LLVMPointerTypeInContext(c, 0); break;
    default: return LLVMVoidTypeInContext(c);
    }
    return lo_is_vector(type) ? LLVMVectorType(element, (unsigned)lo_lanes(type)) : element;
}

static LlValue lane_of(const Render *r, const LoOp *x, int lane)
{
    LlType element = render_type(r, lo_element(x->type));
    if (x->kind == LO_real)
        return LLVMConstReal(element, x->real);
    int64_t number = x->kind == LO_iota ? lane : x->number;
    return LLVMConstInt(element, (unsigned long long)number, true);
}

static LlValue constant(const Render *r, const LoOp *x)
{
    LlValue lanes[LO_MAX_LANES];
    int n = lo_lanes(x->type);
    for (int i = 0; i < n; i++)
        lanes[i] = lane_of(r, x, i);
    return n == 1 ? lanes[0] : LLVMConstVector(lanes, (unsigned)n);
}

LlValue render_value(const Render *r, const LoOp *x)
{
    return lo_is_constant(x) ? constant(r, x) : r->values[x->id];
}
