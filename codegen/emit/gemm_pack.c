/* Panels: sides beside each other, term after term, so that a tile reads them in one stream.
 *
 *   f32, f64   out[l × width + i]       = x[l, i]
 *   joined     out[p × width + i]       = the pair x[2p, i], x[2p+1, i] as an i32
 *   widened    out[2p × width + i]      = x[2p+1, i],  out[(2p+1) × width + i] = x[2p, i]
 *
 * Panels that are kept are joined where others are widened.
 *
 * A term or pair is a unit: what is read together. A last term without a partner has zero. Where
 * the operand lies along k, squares of lanes × lanes units are transposed in registers. */
#include "codegen/emit/gemm.h"

#include <assert.h>

enum { MAX_GROUPS = 4, BF16_BYTES = 2 };

/* The parameters of a TfcPackPanel, and of one with a width. */
enum { K, X, X_K, X_SIDE, COUNT, OUT, WIDTH, PARAMS };

typedef struct Pack {
    LlValue k, x, x_k, x_side, count, out, width;
    int groups; /* vectors a row of a panel */
} Pack;

LlValue gemm_load(GemmEmit *g, int lanes, LlValue at, LlValue mask)
{
    Ll *ll = &g->ll;
    bool widen = g->source == ll->i16;
    LlType type = lanes > 1 ? ll_vector(g->source, lanes) : g->source;
    unsigned align = widen ? BF16_BYTES : (unsigned)gemm_bytes(g);
    LlValue x = mask ? ll_masked_load(ll, type, at, mask, align) : ll_load(ll, type, at, align);
    return widen ? ll_bf16_value(ll, x) : x;
}

/* ---- units ---- */

static int terms_of_unit(const GemmEmit *g) { return g->pairs ? 2 : 1; }
static int rows_of_unit(const GemmEmit *g) { return gemm_widens(g) && !g->keeps ? 2 : 1; }

static LlValue half_of_pair(GemmEmit *g, int lanes, LlValue at, LlValue mask, int shift)
{
    Ll *ll = &g->ll;
    LlType halves = ll_vector(ll->i16, lanes), words = ll_vector(ll->i32, lanes);
    LlValue x = mask ? ll_masked_load(ll, halves, at, mask, BF16_BYTES)
                     : ll_load(ll, halves, at, BF16_BYTES);
    x = LLVMBuildZExt(ll->builder, x, words, "");
    return shift ? LLVMBuildShl(ll->builder, x, ll_int(words, shift), "") : x;
}

/* Unit `unit` of sides that lie beside each other from `side` on. */
static LlValue load_unit(GemmEmit *g, const Pack *p, LlValue unit, LlValue side, int lanes,
                         LlValue mask, bool partner)
{
    LlValue from = gemm_mul(g, gemm_times(g, unit, terms_of_unit(g)), p->x_k);
    from = gemm_source(g, gemm_source(g, p->x, from), side);
    if (!g->pairs)
        return gemm_load(g, lanes, from, mask);
    LlValue low = half_of_pair(g, lanes, from, mask, 0);
    if (!partner)
        return low;
    LlValue high = half_of_pair(g, lanes, gemm_source(g, from, p->x_k), mask, 16);
    return LLVMBuildOr(g->ll.builder, low, high, "");
}

/* Row `row` of the unit's rows in a panel. */
static void store_unit(GemmEmit *g, const Pack *p, LlValue words, LlValue unit, int row,
                       LlValue side)
{
    Ll *ll = &g->ll;
    LlType type = ll_of_value(words);
    LlValue at = gemm_mul(g, gemm_plus(g, gemm_times(g, unit, rows_of_unit(g)), row), p->width);
    if (rows_of_unit(g) > 1) {
        words = row == 0 ? LLVMBuildAnd(ll->builder, words, ll_int(type, -0x10000), "")
                         : LLVMBuildShl(ll->builder, words, ll_int(type, 16), "");
        words = LLVMBuildBitCast(ll->builder, words, ll_like(type, ll->f32), "");
    }
    ll_store(ll, words, gemm_at(g, gemm_at(g, p->out, at), side), (unsigned)gemm_bytes(g));
}

static LlValue whole_units(GemmEmit *g, const Pack *p)
{
    return g->pairs ? LLVMBuildAShr(g->ll.builder, p->k, ll_i64(&g->ll, 1), "") : p->k;
}

/* ---- contiguous along the side: rows are copied ----
 *
 * The last vector of a row may reach into the next one, which is written after it. */

static void copy_unit(GemmEmit *g, const Pack *p, LlValue unit, const LlValue *masks, bool partner)
{
    LlValue words[MAX_GROUPS];
    for (int v = 0; v < p->groups; v++)
        words[v] = load_unit(g, p, unit, ll_i64(&g->ll, v * g->lanes), g->lanes,
                             masks ? masks[v] : NULL, partner);
    for (int row = 0; row < rows_of_unit(g); row++)
        for (int v = 0; v < p->groups; v++)
            store_unit(g, p, words[v], unit, row, ll_i64(&g->ll, v * g->lanes));
}

/* `masks`: which sides of each vector there are, or NULL: all. */
static void copy_units(GemmEmit *g, const Pack *p, const LlValue *masks)
{
    Ll *ll = &g->ll;
    LlValue n = whole_units(g, p);
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), n, 1, "copy");
    copy_unit(g, p, loop.index, masks, true);
    ll_loop_close(ll, &loop);
    if (!g->pairs)
        return;
    LlValue odd = LLVMBuildICmp(ll->builder, LLVMIntSLT, gemm_times(g, n, 2), p->k, "");
    LlIf last = ll_if_open(ll, odd);
    copy_unit(g, p, n, masks, false);
    ll_if_close(ll, &last);
}

static void pack_copied(GemmEmit *g, const Pack *p)
{
    Ll *ll = &g->ll;
    LlValue masks[MAX_GROUPS];
    LlValue all = ll_i64(ll, p->groups * g->lanes);
    LlIf whole = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntSGE, p->count, all, ""));
    copy_units(g, p, NULL);
    gemm_return(g);
    ll_at_block(ll, whole.done);
    for (int v = 0; v < p->groups; v++)
        masks[v] = ll_lanes_below(ll, p->count, v * g->lanes, g->lanes);
    copy_units(g, p, masks);
    gemm_return(g);
}

/* ---- contiguous along k: squares are transposed ---- */

/* a0 b0 a1 b1 … of the low or high halves of each `block` of elements. */
static LlValue interleave(GemmEmit *g, LlValue a, LlValue b, int block, bool high)
{
    Ll *ll = &g->ll;
    LlValue lanes[GEMM_MAX_LANES];
    for (int i = 0; i < g->lanes; i++) {
        int pair = i / block, from = pair & 1;
        int source = (pair & ~1) * block + (high ? block : 0) + i % block;
        lanes[i] = ll_int(ll->i32, source + from * g->lanes);
    }
    return LLVMBuildShuffleVector(ll->builder, a, b, LLVMConstVector(lanes, (unsigned)g->lanes),
                                  "");
}

/* By swapping, for each power of two below its size, the off-diagonal blocks of that size
 * (Eklundh 1972). */
void gemm_transpose(GemmEmit *g, LlValue *rows)
{
    for (int block = g->lanes / 2; block >= 1; block /= 2)
        for (int r = 0; r < g->lanes; r++) {
            if (r & block)
                continue;
            LlValue low = interleave(g, rows[r], rows[r + block], block, false);
            rows[r + block] = interleave(g, rows[r], rows[r + block], block, true);
            rows[r] = low;
        }
}

/* The squares of one vector of sides; what the panel after this one needs is brought near. Where
 * the sides end their last is read again. */
static void transpose_group(GemmEmit *g, const Pack *p, int group, LlValue whole)
{
    Ll *ll = &g->ll;
    LlValue starts[GEMM_MAX_LANES], rows[GEMM_MAX_LANES], last = gemm_plus(g, p->count, -1);
    for (int r = 0; r < g->lanes; r++) {
        LlValue side = ll_min(ll, ll_i64(ll, group * g->lanes + r), last);
        starts[r] = gemm_source(g, p->x, gemm_mul(g, side, p->x_side));
    }
    LlValue next = gemm_mul(g, p->x_side, p->width);
    LlLoop loop = ll_loop_open(ll, ll_i64(ll, 0), whole, g->lanes, "transpose");
    LlValue term = gemm_times(g, loop.index, terms_of_unit(g));
    for (int r = 0; r < g->lanes; r++) {
        LlValue at = gemm_source(g, starts[r], term);
        rows[r] = g->pairs ? ll_load(ll, ll_vector(ll->i32, g->lanes), at, BF16_BYTES)
                           : gemm_load(g, g->lanes, at, NULL);
        ll_prefetch(ll, gemm_source(g, at, next));
    }
    gemm_transpose(g, rows);
    for (int r = 0; r < g->lanes; r++)
        for (int row = 0; row < rows_of_unit(g); row++)
            store_unit(g, p, rows[r], gemm_plus(g, loop.index, r), row,
                       ll_i64(ll, group * g->lanes));
    ll_loop_close(ll, &loop);
}

/* Unit `unit` of every side, one by one. */
static void copy_sides(GemmEmit *g, const Pack *p, LlValue unit, bool partner)
{
    Ll *ll = &g->ll;
    LlLoop sides = ll_loop_open(ll, ll_i64(ll, 0), p->count, 1, "side");
    LlValue words = load_unit(g, p, unit, gemm_mul(g, sides.index, p->x_side), 1, NULL, partner);
    for (int row = 0; row < rows_of_unit(g); row++)
        store_unit(g, p, words, unit, row, sides.index);
    ll_loop_close(ll, &sides);
}

static void copy_rest(GemmEmit *g, const Pack *p, LlValue whole)
{
    Ll *ll = &g->ll;
    LlValue n = whole_units(g, p);
    LlLoop units = ll_loop_open(ll, whole, n, 1, "rest");
    copy_sides(g, p, units.index, true);
    ll_loop_close(ll, &units);
    if (!g->pairs)
        return;
    LlValue odd = LLVMBuildICmp(ll->builder, LLVMIntSLT, gemm_times(g, n, 2), p->k, "");
    LlIf last = ll_if_open(ll, odd);
    copy_sides(g, p, n, false);
    ll_if_close(ll, &last);
}

/* The last group of the side first: its vectors may reach into the next row of the panel, where
 * the first group then stores what belongs there. */
static void pack_transposed(GemmEmit *g, const Pack *p)
{
    Ll *ll = &g->ll;
    LlValue whole =
        LLVMBuildAnd(ll->builder, whole_units(g, p), ll_i64(ll, -(int64_t)g->lanes), "");
    for (int v = p->groups - 1; v >= 0; v--) {
        LlValue some =
            LLVMBuildICmp(ll->builder, LLVMIntSGT, p->count, ll_i64(ll, v * g->lanes), "");
        LlIf used = ll_if_open(ll, some);
        transpose_group(g, p, v, whole);
        ll_if_close(ll, &used);
    }
    copy_rest(g, p, whole);
}

/* ---- the functions ---- */

/* `pitched`: the width is a parameter too, at most `width`. `copies`: sides always lie beside each
 * other. */
static LlValue write_pack(GemmEmit *g, const char *part, int width, bool pitched, bool copies)
{
    Ll *ll = &g->ll;
    LlValue x[PARAMS];
    LlValue function = gemm_open(g, part, pitched ? PARAMS : WIDTH, 1 << X | 1 << OUT, x);
    Pack p = {.k = x[K],
              .x = x[X],
              .x_k = x[X_K],
              .x_side = x[X_SIDE],
              .count = x[COUNT],
              .out = x[OUT],
              .width = pitched ? x[WIDTH] : ll_i64(ll, width),
              .groups = (width + g->lanes - 1) / g->lanes};
    assert(g->lanes <= GEMM_MAX_LANES && (g->lanes == 1 || p.groups <= MAX_GROUPS));
    if (g->lanes == 1) {
        p.count = ll_min(ll, p.count, ll_i64(ll, width));
        copy_rest(g, &p, ll_i64(ll, 0));
    } else if (copies) {
        pack_copied(g, &p);
        return function;
    } else {
        LlValue one = ll_i64(ll, 1);
        LlValue beside = LLVMBuildICmp(ll->builder, LLVMIntEQ, p.x_side, one, "");
        LlValue single = LLVMBuildICmp(ll->builder, LLVMIntEQ, p.count, one, "");
        LlIf copied = ll_if_open(ll, LLVMBuildOr(ll->builder, beside, single, ""));
        pack_copied(g, &p);
        ll_at_block(ll, copied.done);
        pack_transposed(g, &p);
    }
    gemm_return(g);
    return function;
}

LlValue gemm_pack(GemmEmit *g, const char *part, int width, bool kept)
{
    g->keeps = kept;
    LlValue function = write_pack(g, part, width, false, false);
    g->keeps = false;
    return function;
}

LlValue gemm_pack_pitched(GemmEmit *g, const char *part, int width)
{
    return write_pack(g, part, width, true, false);
}

LlValue gemm_pack_rows(GemmEmit *g)
{
    return write_pack(g, "pack_rows", (int)g->form.rows, false, true);
}
