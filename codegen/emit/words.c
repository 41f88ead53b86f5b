/* Small words of all emitters: element types, and code at the entry. */
#include "codegen/emit/emit.h"

#include <assert.h>

void emit_at_entry(Emit *e) { lo_before(&e->lo, e->entry); }

LoValue val_and(Emit *e, LoValue a, LoValue b)
{
    return a && b ? lo_and(&e->lo, a, b) : a ? a : b;
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
