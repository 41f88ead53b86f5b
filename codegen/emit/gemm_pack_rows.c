/* Rows of a before they are multiplied: several panels of rows that lie beside each other,
 * and rows of bf16 that lie along k, widened. */
#include "codegen/emit/gemm.h"

/* ---- several panels whose sides lie beside each other ---- */

typedef struct Beside {
    LlValue k, x, x_k, rows, out, pitch;
    int vectors; /* of a panel's row */
} Beside;

/* One row of a panel, of `height` elements and zeros. */
static void pack_side(GemmEmit *g, const Beside *p, LlValue from, LlValue to, LlValue height)
{
    Ll *ll = &g->ll;
    for (int v = 0; v < p->vectors; v++) {
        LlValue at = ll_i64(ll, v * g->lanes), side;
        if (g->lanes > 1) {
            LlValue mask = ll_lanes_below(ll, height, v * g->lanes, g->lanes);
            side = gemm_load(g, g->lanes, gemm_source(g, from, at), mask);
        } else {
            LlValue some = LLVMBuildICmp(ll->builder, LLVMIntSGT, height, at, "");
            LlValue x = gemm_load(
                g, 1,
                gemm_source(g, from, LLVMBuildSelect(ll->builder, some, at, ll_i64(ll, 0), "")),
                NULL);
            side = LLVMBuildSelect(ll->builder, some, x, LLVMConstNull(LLVMTypeOf(x)), "");
        }
        ll_store(ll, side, gemm_at(g, to, ll_i64(ll, v * g->lanes)), (unsigned)g->bytes);
    }
}

/* Row `l` of so many panels, as their row `to_l`. */
static void pack_term(GemmEmit *g, const Beside *p, LlValue l, LlValue to_l, LlValue row,
                      int panels, LlValue height)
{
    Ll *ll = &g->ll;
    LlValue from = gemm_source(g, p->x, gemm_mul(g, l, p->x_k));
    LlValue panel = LLVMBuildUDiv(ll->builder, row, ll_i64(ll, gemm_rows(g)), "");
    LlValue to = gemm_at(g, p->out, gemm_mul(g, panel, p->pitch));
    to = gemm_at(g, to, gemm_mul(g, to_l, ll_i64(ll, gemm_rows(g))));
    from = gemm_source(g, from, row);
    for (int i = 0; i < panels; i++, to = gemm_at(g, to, p->pitch))
        pack_side(g, p, gemm_source(g, from, ll_i64(ll, i * gemm_rows(g))), to, height);
}

/* Pairs: odd before even; the last even one may have none before it, which is zeros. */
static void pack_terms(GemmEmit *g, const Beside *p, LlValue row, int panels, LlValue height)
{
    Ll *ll = &g->ll;
    LlLoop terms = ll_loop_open(ll, ll_i64(ll, 0), p->k, g->pairs ? 2 : 1, "terms");
    LlValue even = terms.index, to = even;
    if (g->pairs) {
        LlValue odd = LLVMBuildNSWAdd(ll->builder, even, ll_i64(ll, 1), "");
        LlValue exists = LLVMBuildICmp(ll->builder, LLVMIntSLT, odd, p->k, "");
        LlValue from = LLVMBuildSelect(ll->builder, exists, odd, even, "");
        pack_term(g, p, from, even, row, panels,
                  LLVMBuildSelect(ll->builder, exists, height, ll_i64(ll, 0), ""));
        to = odd;
    }
    pack_term(g, p, even, to, row, panels, height);
    ll_loop_close(ll, &terms);
}

LlValue gemm_pack_beside(GemmEmit *g)
{
    Ll *ll = &g->ll;
    LlValue function = gemm_open(g, "pack_a", 6, 1 << 1 | 1 << 4, true);
    int64_t together = gemm_together(g);
    Beside p = {.vectors = (gemm_rows(g) + g->lanes - 1) / g->lanes};
    LlValue *const params[] = {&p.k, &p.x, &p.x_k, &p.rows, &p.out, &p.pitch};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    LlValue height = ll_i64(ll, gemm_rows(g));
    LlValue whole = LLVMBuildICmp(ll->builder, LLVMIntEQ, p.rows, ll_i64(ll, together), "");
    LlIf all = ll_if_open(ll, whole);
    pack_terms(g, &p, ll_i64(ll, 0), g->panels, height);
    gemm_return(g);
    ll_at_block(ll, all.done);
    LlLoop panels = ll_loop_open(ll, ll_i64(ll, 0), p.rows, gemm_rows(g), "panels");
    LlValue left = LLVMBuildNSWSub(ll->builder, p.rows, panels.index, "");
    pack_terms(g, &p, panels.index, 1, ll_min(&g->ll, left, height));
    ll_loop_close(ll, &panels);
    gemm_return(g);
    return function;
}

/* ---- rows of bf16 that lie along k ---- */

/* `lanes` terms from `at` on, each pair turned round; none beyond `left`, if that is not NULL. */
static LlValue widened(GemmEmit *g, LlValue at, LlValue left)
{
    Ll *ll = &g->ll;
    LlValue mask = NULL, turned[GEMM_MAX_LANES];
    if (left)
        mask = ll_lanes_below(ll, left, 0, g->lanes);
    LlValue x = gemm_load(g, g->lanes, at, mask);
    for (int i = 0; i < g->lanes; i++)
        turned[i] = ll_int(ll->i32, i ^ 1);
    return LLVMBuildShuffleVector(ll->builder, x, x, LLVMConstVector(turned, (unsigned)g->lanes),
                                  "");
}

/* Without vectors: term l is read from its pair's other place. */
static void widen_terms(GemmEmit *g, LlValue k, LlValue from, LlValue to)
{
    Ll *ll = &g->ll;
    LlValue terms = LLVMBuildAnd(ll->builder, LLVMBuildNSWAdd(ll->builder, k, ll_i64(ll, 1), ""),
                                 ll_i64(ll, -2), "");
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), terms, 1, "terms");
    LlValue other = LLVMBuildXor(ll->builder, loop.index, ll_i64(ll, 1), "");
    LlValue exists = LLVMBuildICmp(ll->builder, LLVMIntSLT, other, k, "");
    LlValue x = gemm_load(
        g, 1, gemm_source(g, from, LLVMBuildSelect(ll->builder, exists, other, ll_i64(ll, 0), "")),
        NULL);
    x = LLVMBuildSelect(ll->builder, exists, x, LLVMConstNull(LLVMTypeOf(x)), "");
    ll_store(ll, x, gemm_at(g, to, loop.index), (unsigned)g->bytes);
    ll_loop_close(ll, &loop);
}

static void widen_vectors(GemmEmit *g, LlValue k, LlValue from, LlValue to)
{
    Ll *ll = &g->ll;
    LlValue whole = LLVMBuildAnd(ll->builder, k, ll_i64(ll, -(int64_t)g->lanes), "");
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), whole, g->lanes, "terms");
    ll_store(ll, widened(g, gemm_source(g, from, loop.index), NULL), gemm_at(g, to, loop.index),
             (unsigned)g->bytes);
    ll_loop_close(ll, &loop);
    LlIf rest = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntSLT, whole, k, ""));
    LlValue left = LLVMBuildNSWSub(ll->builder, k, whole, "");
    ll_store(ll, widened(g, gemm_source(g, from, whole), left), gemm_at(g, to, whole),
             (unsigned)g->bytes);
    ll_if_close(ll, &rest);
}

LlValue gemm_widen_rows(GemmEmit *g)
{
    Ll *ll = &g->ll;
    LlValue function = gemm_open(g, "widen_a", 6, 1 << 1 | 1 << 4, true);
    LlValue k = LLVMGetParam(function, 0), x = LLVMGetParam(function, 1),
            x_row = LLVMGetParam(function, 2);
    LlValue out = LLVMGetParam(function, 4), out_row = LLVMGetParam(function, 5);
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), LLVMGetParam(function, 3), 1, "rows");
    LlValue from = gemm_source(g, x, gemm_mul(g, rows.index, x_row));
    LlValue to = gemm_at(g, out, gemm_mul(g, rows.index, out_row));
    (g->lanes > 1 ? widen_vectors : widen_terms)(g, k, from, to);
    ll_loop_close(ll, &rows);
    gemm_return(g);
    return function;
}
