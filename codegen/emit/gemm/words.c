/* Helpers of all parts of a form: functions, addresses. */
#include "codegen/emit/gemm/gemm.h"

#include <assert.h>

LoFunction *gemm_open(GemmEmit *g, const char *part, int n_params, unsigned pointers,
                      LoValue *params)
{
    Lo *lo = &g->lo;
    LoType types[16];
    assert(n_params <= 16);
    for (int i = 0; i < n_params; i++)
        types[i] = pointers >> i & 1 ? lo_ptr : lo_i64;
    const char *name = arena_printf(g->module->arena, "%s.%s", g->name, part);
    LoFunction *function = lo_add_function(g->module, name, false, n_params, types);
    lo_begin(lo, g->module, function);
    for (int i = 0; i < n_params; i++)
        params[i] = lo_param(lo, i);
    return function;
}

void gemm_return(GemmEmit *g) { lo_return(&g->lo); }

LoValue gemm_at(GemmEmit *g, LoValue pointer, LoValue index)
{
    return lo_at(&g->lo, g->element, pointer, index);
}

LoValue gemm_source(GemmEmit *g, LoValue pointer, LoValue index)
{
    return lo_at(&g->lo, g->source, pointer, index);
}

LoValue gemm_byte(GemmEmit *g, LoValue pointer, LoValue bytes)
{
    return lo_at(&g->lo, lo_i8, pointer, bytes);
}

LoValue gemm_is_below(GemmEmit *g, LoValue index, LoValue count)
{
    return lo_lt(&g->lo, lo_trunc(&g->lo, index, lo_i32), lo_trunc(&g->lo, count, lo_i32));
}
