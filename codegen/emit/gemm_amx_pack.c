/* Operands in the form that AMX's registers read them in: whole registers, what is missing
 * of 32 terms filled up with zeros.
 *
 *   rows of a    out[r × pitch + p] = the pair x[r, 2p], x[r, 2p+1]; rows that lie along k
 *                are copied, of others squares of pairs are turned
 *   panels of b  as gemm_pairs.c makes them, and zeros below */
#include "codegen/emit/gemm.h"

#include <assert.h>

enum { BF16_BYTES = 2 };

typedef struct Rows {
    LlValue k, x, x_k, x_row, count, out, pitch;
} Rows;

static void copy_rows(GemmEmit *g, const Rows *p)
{
    Ll *ll = &g->ll;
    LlType line = ll_vector(ll->i16, TFC_PAIRS_TERMS);
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), p->count, 1, "copy");
    LlValue from = gemm_source(g, p->x, gemm_mul(g, rows.index, p->x_row));
    LlValue to = gemm_at(g, p->out, gemm_mul(g, rows.index, p->pitch));
    LlLoop terms = ll_loop_open(ll, ll_i64(ll, 0), p->k, TFC_PAIRS_TERMS, "terms");
    LlValue left = LLVMBuildNSWSub(ll->builder, p->k, terms.index, "");
    LlValue x = ll_masked_load(ll, line, gemm_source(g, from, terms.index),
                               ll_lanes_below(ll, left, 0, TFC_PAIRS_TERMS), BF16_BYTES);
    ll_store(ll, x, gemm_source(g, to, terms.index), BF16_BYTES);
    ll_loop_close(ll, &terms);
    ll_loop_close(ll, &rows);
}

/* Term `term` of 16 rows that lie beside each other, as i32; zeros past the last. */
static LlValue load_term(GemmEmit *g, const Rows *p, LlValue from, LlValue term, LlValue mask)
{
    Ll *ll = &g->ll;
    LlValue there = LLVMBuildICmp(ll->builder, LLVMIntSLT, term, p->k, "");
    mask = LLVMBuildAnd(ll->builder, mask, ll_splat(ll, there, AMX_LANES), "");
    LlValue x = ll_masked_load(ll, ll_vector(ll->i16, AMX_LANES),
                               gemm_source(g, from, gemm_mul(g, term, p->x_k)), mask, BF16_BYTES);
    return LLVMBuildZExt(ll->builder, x, ll_vector(ll->i32, AMX_LANES), "");
}

/* 16 pairs of 16 rows from `row` on; rows that x has not are written, too. */
static void turn_square(GemmEmit *g, const Rows *p, LlValue row, LlValue term)
{
    Ll *ll = &g->ll;
    LlValue pairs[GEMM_MAX_LANES], from = gemm_source(g, p->x, row);
    LlValue left = LLVMBuildNSWSub(ll->builder, p->count, row, "");
    LlValue mask = ll_lanes_below(ll, left, 0, AMX_LANES);
    for (int i = 0; i < AMX_LANES; i++) {
        LlValue even = LLVMBuildNSWAdd(ll->builder, term, ll_i64(ll, 2 * i), "");
        LlValue odd = LLVMBuildNSWAdd(ll->builder, term, ll_i64(ll, 2 * i + 1), "");
        LlValue high = load_term(g, p, from, odd, mask);
        high = LLVMBuildShl(ll->builder, high, ll_int(LLVMTypeOf(high), 16), "");
        pairs[i] = LLVMBuildOr(ll->builder, load_term(g, p, from, even, mask), high, "");
    }
    gemm_turn(g, pairs);
    for (int i = 0; i < AMX_LANES; i++) {
        LlValue to = LLVMBuildNSWAdd(ll->builder, row, ll_i64(ll, i), "");
        to = gemm_at(g, p->out, gemm_mul(g, to, p->pitch));
        ll_store(ll, pairs[i], gemm_source(g, to, term), BF16_BYTES);
    }
}

static void turn_rows(GemmEmit *g, const Rows *p)
{
    Ll *ll = &g->ll;
    LlLoop terms = ll_loop_open(ll, ll_i64(ll, 0), p->k, TFC_PAIRS_TERMS, "terms");
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), p->count, AMX_LANES, "turn");
    turn_square(g, p, rows.index, terms.index);
    ll_loop_close(ll, &rows);
    ll_loop_close(ll, &terms);
}

LlValue gemm_amx_pack_rows(GemmEmit *g)
{
    Ll *ll = &g->ll;
    assert(g->lanes == AMX_LANES);
    LlValue function = gemm_open(g, "pack_a", 7, 1 << 1 | 1 << 5, true);
    Rows p;
    LlValue *const params[] = {&p.k, &p.x, &p.x_k, &p.x_row, &p.count, &p.out, &p.pitch};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    LlValue apart = LLVMBuildICmp(ll->builder, LLVMIntNE, p.x_k, ll_i64(ll, 1), "");
    LlValue several = LLVMBuildICmp(ll->builder, LLVMIntSGT, p.k, ll_i64(ll, 1), "");
    LlIf turns = ll_if_open(ll, LLVMBuildAnd(ll->builder, apart, several, ""));
    turn_rows(g, &p);
    gemm_return(g);
    ll_at_block(ll, turns.done);
    copy_rows(g, &p);
    gemm_return(g);
    return function;
}

LlValue gemm_amx_pack_panel(GemmEmit *g)
{
    enum { K, X, X_K, X_SIDE, COUNT, OUT, PARAMS };
    Ll *ll = &g->ll;
    LlValue pairs = gemm_pack_pairs(g, "pack_pairs", gemm_columns(g)), x[PARAMS];
    LlValue function = gemm_open(g, "pack_b", PARAMS, 1 << X | 1 << OUT, true);
    for (unsigned i = 0; i < PARAMS; i++)
        x[i] = LLVMGetParam(function, i);
    gemm_call(g, pairs, PARAMS, x);
    LlValue width = ll_i64(ll, gemm_columns(g));
    LlValue written = LLVMBuildNSWAdd(ll->builder, x[K], ll_i64(ll, 1), "");
    written = gemm_mul(g, LLVMBuildLShr(ll->builder, written, ll_i64(ll, 1), ""), width);
    LlLoop rest =
        ll_loop_open(ll, written, gemm_mul(g, gemm_terms(g, x[K]), width), g->lanes, "rest");
    ll_store(ll, LLVMConstNull(ll_vector(g->element, g->lanes)), gemm_at(g, x[OUT], rest.index), 4);
    ll_loop_close(ll, &rest);
    gemm_return(g);
    return function;
}
