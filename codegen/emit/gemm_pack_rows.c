/* Rows of bf16 that lie along k, and stay rows:
 *
 *   joined    copied, filled up with zeros to whole pairs or registers
 *   widened   as f32, the odd term of each pair before the even one */
#include "codegen/emit/gemm.h"

#include <stdint.h>

/* The parameters of a TfcPackRows. */
enum { K, X, X_K, X_ROW, ROWS, OUT, PITCH, PARAMS };

/* `lanes` terms of a row from `at` on, none beyond `left`, as they are stored. */
static LlValue terms_at(GemmEmit *g, LlValue at, int lanes, LlValue left)
{
    Ll *ll = &g->ll;
    LlValue partners[GEMM_MAX_LANES], mask = ll_lanes_below(ll, left, 0, lanes);
    if (gemm_joined(g))
        return ll_masked_load(ll, ll_vector(ll->i16, lanes), at, mask, sizeof(uint16_t));
    LlValue x = gemm_load(g, lanes, at, mask);
    for (int i = 0; i < lanes; i++)
        partners[i] = ll_int(ll->i32, i ^ 1);
    return LLVMBuildShuffleVector(ll->builder, x, x, LLVMConstVector(partners, (unsigned)lanes),
                                  "");
}

/* Without vectors a pair is two numbers. */
static LlValue pair_at(GemmEmit *g, LlValue at, LlValue left)
{
    Ll *ll = &g->ll;
    LlValue one = ll_i64(ll, 1), exists = LLVMBuildICmp(ll->builder, LLVMIntSGT, left, one, "");
    LlValue next = LLVMBuildSelect(ll->builder, exists, one, ll_i64(ll, 0), "");
    LlValue even = gemm_load(g, 1, at, NULL), odd = gemm_load(g, 1, gemm_source(g, at, next), NULL);
    LlValue pair = LLVMGetUndef(ll_vector(ll->f32, 2));
    odd = LLVMBuildSelect(ll->builder, exists, odd, ll_real(ll->f32, 0), "");
    pair = LLVMBuildInsertElement(ll->builder, pair, odd, ll_int(ll->i32, 0), "");
    return LLVMBuildInsertElement(ll->builder, pair, even, ll_int(ll->i32, 1), "");
}

LlValue gemm_pack_along(GemmEmit *g)
{
    Ll *ll = &g->ll;
    LlValue x[PARAMS], function = gemm_open(g, "pack_along", PARAMS, 1 << X | 1 << OUT, x);
    int step = gemm_joined(g) ? TFC_PAIRS_TERMS : g->lanes > 1 ? g->lanes : 2;
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), x[ROWS], 1, "rows");
    LlValue from = gemm_source(g, x[X], gemm_mul(g, rows.index, x[X_ROW]));
    LlValue to = gemm_byte(g, x[OUT], gemm_mul(g, rows.index, x[PITCH]));
    LlLoop terms = ll_loop_open(ll, ll_i64(ll, 0), x[K], step, "terms");
    LlValue at = gemm_source(g, from, terms.index), left = gemm_sub(g, x[K], terms.index);
    LlValue bytes = gemm_times(g, terms.index, g->form.element / g->form.joined);
    LlValue some = g->lanes > 1 ? terms_at(g, at, step, left) : pair_at(g, at, left);
    ll_store(ll, some, gemm_byte(g, to, bytes), (unsigned)g->form.source);
    ll_loop_close(ll, &terms);
    ll_loop_close(ll, &rows);
    gemm_return(g);
    return function;
}
