/* Panels of bf16: row p of pairs holds the terms 2p (low half) and 2p + 1 (high half)
 * of `width` sides beside each other,
 *
 *   x[2p, i]  x[2p+1, i]      ⇒      out[p × width + i], an i32,
 *
 * as vdpbf16ps and AMX read them; for targets without them, two rows of f32:
 *
 *                             ⇒      out[2p × width + i]       = x[2p+1, i]
 *                                    out[(2p+1) × width + i]   = x[2p, i]
 *
 * AMX reads whole registers of 16 rows of pairs. A last term without a partner has zero. Where the operand lies along k, a pair is
 * read as one i32, and squares of pairs are turned in registers. */
#include "codegen/emit/gemm.h"

#include <assert.h>

enum { MAX_GROUPS = 4, BF16_BYTES = 2 };

typedef struct Pairs {
    LlValue k, x, x_k, x_side, count, out;
    LlValue n; /* whole pairs */
    int width, groups;
} Pairs;

LlValue gemm_terms(GemmEmit *g, LlValue k)
{
    Ll *ll = &g->ll;
    LlValue even = LLVMBuildNSWAdd(ll->builder, k, ll_i64(ll, 1), "");
    if (g->amx) {
        LlValue whole = LLVMBuildNSWAdd(ll->builder, k, ll_i64(ll, TFC_PAIRS_TERMS - 1), "");
        whole = LLVMBuildLShr(ll->builder, whole, ll_i64(ll, 1), "");
        return LLVMBuildAnd(ll->builder, whole, ll_i64(ll, -(TFC_PAIRS_TERMS / 2)), "");
    }
    return g->joined ? LLVMBuildLShr(ll->builder, even, ll_i64(ll, 1), "")
                     : LLVMBuildAnd(ll->builder, even, ll_i64(ll, -2), "");
}

static LlValue source_at(GemmEmit *g, const Pairs *p, LlValue term, LlValue side)
{
    return gemm_source(g, gemm_source(g, p->x, gemm_mul(g, term, p->x_k)),
                       gemm_mul(g, side, p->x_side));
}

/* Rows of the panel that hold row `pair` of pairs. */
static int parts(const GemmEmit *g) { return g->joined ? 1 : 2; }

/* One part of row `pair`, sides from `side` on; pairs is an i32 or a vector of them. */
static void put_part(GemmEmit *g, const Pairs *p, LlValue pairs, LlValue pair, int part,
                     LlValue side)
{
    Ll *ll = &g->ll;
    LlType words = LLVMTypeOf(pairs);
    LlValue row =
        LLVMBuildNSWAdd(ll->builder, gemm_mul(g, pair, ll_i64(ll, parts(g))), ll_i64(ll, part), "");
    LlValue at = gemm_at(g, gemm_at(g, p->out, gemm_mul(g, row, ll_i64(ll, p->width))), side);
    if (!g->joined) {
        pairs = part == 0 ? LLVMBuildAnd(ll->builder, pairs, ll_int(words, -0x10000), "")
                          : LLVMBuildShl(ll->builder, pairs, ll_int(words, 16), "");
        pairs = LLVMBuildBitCast(ll->builder, pairs, ll_like(words, ll->f32), "");
    }
    ll_store(ll, pairs, at, 4);
}

static void put_pairs(GemmEmit *g, const Pairs *p, LlValue pairs, LlValue pair, LlValue side)
{
    for (int part = 0; part < parts(g); part++)
        put_part(g, p, pairs, pair, part, side);
}

static LlValue pair_of(GemmEmit *g, LlValue even, LlValue odd)
{
    Ll *ll = &g->ll;
    LlType words = ll_like(LLVMTypeOf(even), ll->i32);
    LlValue low = LLVMBuildZExt(ll->builder, even, words, "");
    if (!odd)
        return low;
    LlValue high = LLVMBuildShl(ll->builder, LLVMBuildZExt(ll->builder, odd, words, ""),
                                ll_int(words, 16), "");
    return LLVMBuildOr(ll->builder, low, high, "");
}

/* ---- contiguous along the side: two rows become one ----
 *
 * The last vector of a row may reach into the next one, which is written after it. */

static LlValue load_row(GemmEmit *g, const Pairs *p, LlValue term, int group, const LlValue *masks)
{
    Ll *ll = &g->ll;
    LlType halves = ll_vector(ll->i16, g->lanes);
    LlValue from = gemm_source(g, gemm_source(g, p->x, gemm_mul(g, term, p->x_k)),
                               ll_i64(ll, group * g->lanes));
    return masks ? ll_masked_load(ll, halves, from, masks[group], BF16_BYTES)
                 : ll_load(ll, halves, from, BF16_BYTES);
}

static void join_row(GemmEmit *g, const Pairs *p, LlValue pair, bool partner, const LlValue *masks)
{
    Ll *ll = &g->ll;
    LlValue term = LLVMBuildShl(ll->builder, pair, ll_i64(ll, 1), "");
    LlValue next = LLVMBuildNSWAdd(ll->builder, term, ll_i64(ll, 1), "");
    LlValue pairs[MAX_GROUPS];
    for (int v = 0; v < p->groups; v++) {
        LlValue even = load_row(g, p, term, v, masks);
        pairs[v] = pair_of(g, even, partner ? load_row(g, p, next, v, masks) : NULL);
    }
    for (int part = 0; part < parts(g); part++)
        for (int v = 0; v < p->groups; v++)
            put_part(g, p, pairs[v], pair, part, ll_i64(ll, v * g->lanes));
}

/* Whether the last term has no partner. */
static LlValue is_odd(GemmEmit *g, const Pairs *p)
{
    Ll *ll = &g->ll;
    return LLVMBuildICmp(ll->builder, LLVMIntSLT, gemm_mul(g, p->n, ll_i64(ll, 2)), p->k, "");
}

static void join_rows(GemmEmit *g, const Pairs *p, const LlValue *masks)
{
    Ll *ll = &g->ll;
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), p->n, 1, "join");
    join_row(g, p, loop.index, true, masks);
    ll_loop_close(ll, &loop);
    LlIf odd = ll_if_open(ll, is_odd(g, p));
    join_row(g, p, p->n, false, masks);
    ll_if_close(ll, &odd);
    gemm_return(g);
}

static void pack_joined(GemmEmit *g, const Pairs *p)
{
    Ll *ll = &g->ll;
    LlValue masks[MAX_GROUPS] = {0};
    LlValue all = ll_i64(ll, p->groups * g->lanes);
    LlIf whole = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntEQ, p->count, all, ""));
    join_rows(g, p, NULL);
    ll_at_block(ll, whole.done);
    for (int v = 0; v < p->groups; v++)
        masks[v] = ll_lanes_below(ll, p->count, v * g->lanes, g->lanes);
    join_rows(g, p, masks);
}

/* ---- contiguous along k: squares of pairs are turned ---- */

/* Where the side ends its last element is read again. */
static void turn_squares(GemmEmit *g, const Pairs *p, int group, LlValue whole)
{
    Ll *ll = &g->ll;
    LlValue starts[GEMM_MAX_LANES], rows[GEMM_MAX_LANES];
    LlValue last = LLVMBuildNSWSub(ll->builder, p->count, ll_i64(ll, 1), "");
    for (int r = 0; r < g->lanes; r++) {
        LlValue side = ll_min(&g->ll, ll_i64(ll, group * g->lanes + r), last);
        starts[r] = gemm_source(g, p->x, gemm_mul(g, side, p->x_side));
    }
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), whole, g->lanes, "turn");
    for (int r = 0; r < g->lanes; r++)
        rows[r] =
            ll_load(ll, ll_vector(ll->i32, g->lanes),
                    gemm_source(g, starts[r], gemm_mul(g, loop.index, ll_i64(ll, 2))), BF16_BYTES);
    gemm_turn(g, rows);
    for (int r = 0; r < g->lanes; r++)
        put_pairs(g, p, rows[r], LLVMBuildNSWAdd(ll->builder, loop.index, ll_i64(ll, r), ""),
                  ll_i64(ll, group * g->lanes));
    ll_loop_close(ll, &loop);
}

static void put_pair(GemmEmit *g, const Pairs *p, LlValue pair, bool partner)
{
    Ll *ll = &g->ll;
    LlLoop side = ll_loop_open(ll, ll_i64(ll, 0), p->count, 1, "side");
    LlValue term = LLVMBuildShl(ll->builder, pair, ll_i64(ll, 1), "");
    LlValue next = LLVMBuildNSWAdd(ll->builder, term, ll_i64(ll, 1), "");
    LlValue even = ll_load(ll, ll->i16, source_at(g, p, term, side.index), BF16_BYTES);
    LlValue odd =
        partner ? ll_load(ll, ll->i16, source_at(g, p, next, side.index), BF16_BYTES) : NULL;
    put_pairs(g, p, pair_of(g, even, odd), pair, side.index);
    ll_loop_close(ll, &side);
}

/* Pairs from `whole` on, one by one. */
static void turn_rest(GemmEmit *g, const Pairs *p, LlValue whole)
{
    Ll *ll = &g->ll;
    LlLoop loop = ll_loop_open(ll, whole, p->n, 1, "pair");
    put_pair(g, p, loop.index, true);
    ll_loop_close(ll, &loop);
    LlIf odd = ll_if_open(ll, is_odd(g, p));
    put_pair(g, p, p->n, false);
    ll_if_close(ll, &odd);
    gemm_return(g);
}

/* The last group of the side first: its vectors may reach into the next row of the
 * panel, where the first group then puts what belongs there. */
static void pack_turned(GemmEmit *g, const Pairs *p)
{
    Ll *ll = &g->ll;
    LlValue whole = LLVMBuildAnd(ll->builder, p->n, ll_i64(ll, -(int64_t)g->lanes), "");
    for (int v = p->groups - 1; v >= 0; v--) {
        LlValue some =
            LLVMBuildICmp(ll->builder, LLVMIntSGT, p->count, ll_i64(ll, v * g->lanes), "");
        LlIf used = ll_if_open(ll, some);
        turn_squares(g, p, v, whole);
        ll_if_close(ll, &used);
    }
    turn_rest(g, p, whole);
}

LlValue gemm_pack_pairs(GemmEmit *g, const char *part, int width)
{
    Ll *ll = &g->ll;
    LlValue function = gemm_open(g, part, 6, 1 << 1 | 1 << 5, true);
    Pairs p = {.width = width, .groups = (width + g->lanes - 1) / g->lanes};
    LlValue *const params[] = {&p.k, &p.x, &p.x_k, &p.x_side, &p.count, &p.out};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    p.n = LLVMBuildAShr(ll->builder, p.k, ll_i64(ll, 1), "");
    if (g->lanes == 1) {
        turn_rest(g, &p, ll_i64(ll, 0));
        return function;
    }
    assert(g->lanes <= GEMM_MAX_LANES && p.groups <= MAX_GROUPS);
    LlValue one = ll_i64(ll, 1);
    LlValue beside = LLVMBuildICmp(ll->builder, LLVMIntEQ, p.x_side, one, "");
    LlValue single = LLVMBuildICmp(ll->builder, LLVMIntEQ, p.count, one, "");
    LlIf joined = ll_if_open(ll, LLVMBuildOr(ll->builder, beside, single, ""));
    pack_joined(g, &p);
    ll_at_block(ll, joined.done);
    pack_turned(g, &p);
    return function;
}
