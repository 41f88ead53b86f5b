/* Panels: for each term the elements of all sides (columns of b, or rows of a), contiguous, so that
 * a tile reads them in one stream.
 *
 *   f32, f64   out[l × width + i]       = x[l, i]
 *   joined     out[p × width + i]       = the pair x[2p, i], x[2p+1, i] as an i32
 *   widened    out[2p × width + i]      = x[2p+1, i],  out[(2p+1) × width + i] = x[2p, i]
 *
 * Panels that are kept are joined where others are widened.
 *
 * A unit is what is read together: a term, or a pair of them. The partner of an odd last term is
 * zero. Where the operand is contiguous along k, squares of lanes × lanes units are transposed in
 * registers. */
#include "codegen/emit/gemm/gemm.h"

#include <assert.h>

enum { MAX_GROUPS = 16, BF16_BYTES = 2 };

/* The parameters of a TfcPackPanel, and of one with a width. */
enum { K, X, X_K, X_SIDE, COUNT, OUT, WIDTH, PARAMS };

typedef struct Pack {
    LoValue k, x, x_k, x_side, count, out, width;
    int groups; /* vectors a row of a panel */
} Pack;

LoValue gemm_load(GemmEmit *g, int lanes, LoValue at, LoValue mask)
{
    Lo *lo = &g->lo;
    bool widen = g->source == lo_i16;
    LoType type = lanes > 1 ? lo_vector(g->source, lanes) : g->source;
    unsigned align = widen ? BF16_BYTES : (unsigned)gemm_bytes(g);
    LoValue x = mask ? lo_masked_load(lo, type, at, mask, align) : lo_load(lo, type, at, align);
    return widen ? lo_bf16_value(lo, x) : x;
}

/* ---- units ---- */

static int terms_of_unit(const GemmEmit *g) { return g->pairs ? 2 : 1; }
static int rows_of_unit(const GemmEmit *g) { return gemm_widens(g) && !g->keeps ? 2 : 1; }

static LoValue half_of_pair(GemmEmit *g, int lanes, LoValue at, LoValue mask, int shift)
{
    Lo *lo = &g->lo;
    LoType halves = lo_vector(lo_i16, lanes), words = lo_vector(lo_i32, lanes);
    LoValue x = mask ? lo_masked_load(lo, halves, at, mask, BF16_BYTES)
                     : lo_load(lo, halves, at, BF16_BYTES);
    x = lo_zext(lo, x, words);
    return shift ? lo_shl(lo, x, lo_int(lo, words, shift)) : x;
}

/* Unit `unit` of sides that lie beside each other from `side` on. */
static LoValue load_unit(GemmEmit *g, const Pack *p, LoValue unit, LoValue side, int lanes,
                         LoValue mask, bool partner)
{
    LoValue from = gemm_mul(g, gemm_times(g, unit, terms_of_unit(g)), p->x_k);
    from = gemm_source(g, gemm_source(g, p->x, from), side);
    if (!g->pairs)
        return gemm_load(g, lanes, from, mask);
    LoValue low = half_of_pair(g, lanes, from, mask, 0);
    if (!partner)
        return low;
    LoValue high = half_of_pair(g, lanes, gemm_source(g, from, p->x_k), mask, 16);
    return lo_or(&g->lo, low, high);
}

/* Row `row` of the unit's rows in a panel. */
static void store_unit(GemmEmit *g, const Pack *p, LoValue words, LoValue unit, int row,
                       LoValue side)
{
    Lo *lo = &g->lo;
    LoType type = lo_type(words);
    LoValue at = gemm_mul(g, gemm_plus(g, gemm_times(g, unit, rows_of_unit(g)), row), p->width);
    if (rows_of_unit(g) > 1) {
        words = row == 0 ? lo_and(lo, words, lo_int(lo, type, -0x10000))
                         : lo_shl(lo, words, lo_int(lo, type, 16));
        words = lo_bitcast(lo, words, lo_like(type, lo_f32));
    }
    lo_store(lo, words, gemm_at(g, gemm_at(g, p->out, at), side), (unsigned)gemm_bytes(g));
}

static LoValue whole_units(GemmEmit *g, const Pack *p)
{
    return g->pairs ? lo_ashr(&g->lo, p->k, lo_i64_of(&g->lo, 1)) : p->k;
}

/* ---- contiguous along the side: rows are copied ----
 *
 * The last vector of a row may reach into the next one, which is written after it. */

static void copy_unit(GemmEmit *g, const Pack *p, LoValue unit, const LoValue *masks, bool partner)
{
    LoValue words[MAX_GROUPS];
    for (int v = 0; v < p->groups; v++)
        words[v] = load_unit(g, p, unit, lo_i64_of(&g->lo, v * g->lanes), g->lanes,
                             masks ? masks[v] : NULL, partner);
    for (int row = 0; row < rows_of_unit(g); row++)
        for (int v = 0; v < p->groups; v++)
            store_unit(g, p, words[v], unit, row, lo_i64_of(&g->lo, v * g->lanes));
}

/* `masks`: which sides of each vector there are, or NULL: all. */
static void copy_units(GemmEmit *g, const Pack *p, const LoValue *masks)
{
    Lo *lo = &g->lo;
    LoValue n = whole_units(g, p);
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), n, 1, "copy");
    copy_unit(g, p, loop.index, masks, true);
    lo_for_close(lo, &loop);
    if (!g->pairs)
        return;
    LoValue odd = lo_lt(lo, gemm_times(g, n, 2), p->k);
    LoIf last = lo_if_open(lo, odd);
    copy_unit(g, p, n, masks, false);
    lo_if_close(lo, &last);
}

static void pack_copied(GemmEmit *g, const Pack *p)
{
    Lo *lo = &g->lo;
    LoValue masks[MAX_GROUPS];
    LoValue all = lo_i64_of(lo, p->groups * g->lanes);
    LoIf whole = lo_if_open(lo, lo_ge(lo, p->count, all));
    copy_units(g, p, NULL);
    gemm_return(g);
    lo_if_close(lo, &whole);
    for (int v = 0; v < p->groups; v++)
        masks[v] = lo_lanes_below(lo, p->count, v * g->lanes, g->lanes);
    copy_units(g, p, masks);
    gemm_return(g);
}

/* ---- contiguous along k: squares are transposed ---- */

/* a0 b0 a1 b1 … of the low or high halves of each `block` of elements. */
static LoValue interleave(GemmEmit *g, LoValue a, LoValue b, int block, bool high)
{
    int lanes[GEMM_MAX_LANES];
    for (int i = 0; i < g->lanes; i++) {
        int pair = i / block, from = pair & 1;
        int source = (pair & ~1) * block + (high ? block : 0) + i % block;
        lanes[i] = source + from * g->lanes;
    }
    return lo_shuffle(&g->lo, a, b, lanes, g->lanes);
}

/* By swapping, for each power of two below its size, the off-diagonal blocks of that size
 * (Eklundh 1972). */
void gemm_transpose(GemmEmit *g, LoValue *rows)
{
    for (int block = g->lanes / 2; block >= 1; block /= 2)
        for (int r = 0; r < g->lanes; r++) {
            if (r & block)
                continue;
            LoValue low = interleave(g, rows[r], rows[r + block], block, false);
            rows[r + block] = interleave(g, rows[r], rows[r + block], block, true);
            rows[r] = low;
        }
}

/* The squares of one vector of sides; what the panel after this one needs is brought near. Where
 * the sides end their last is read again. */
static void transpose_group(GemmEmit *g, const Pack *p, int group, LoValue whole)
{
    Lo *lo = &g->lo;
    LoValue starts[GEMM_MAX_LANES], rows[GEMM_MAX_LANES], last = gemm_plus(g, p->count, -1);
    for (int r = 0; r < g->lanes; r++) {
        LoValue side = lo_min(lo, lo_i64_of(lo, group * g->lanes + r), last);
        starts[r] = gemm_source(g, p->x, gemm_mul(g, side, p->x_side));
    }
    LoValue next = gemm_mul(g, p->x_side, p->width);
    LoLoop loop = lo_for_open(lo, lo_i64_of(lo, 0), whole, g->lanes, "transpose");
    LoValue term = gemm_times(g, loop.index, terms_of_unit(g));
    for (int r = 0; r < g->lanes; r++) {
        LoValue at = gemm_source(g, starts[r], term);
        rows[r] = g->pairs ? lo_load(lo, lo_vector(lo_i32, g->lanes), at, BF16_BYTES)
                           : gemm_load(g, g->lanes, at, NULL);
        lo_prefetch(lo, gemm_source(g, at, next));
    }
    gemm_transpose(g, rows);
    for (int r = 0; r < g->lanes; r++)
        for (int row = 0; row < rows_of_unit(g); row++)
            store_unit(g, p, rows[r], gemm_plus(g, loop.index, r), row,
                       lo_i64_of(lo, group * g->lanes));
    lo_for_close(lo, &loop);
}

/* Unit `unit` of every side, one by one. */
static void copy_sides(GemmEmit *g, const Pack *p, LoValue unit, bool partner)
{
    Lo *lo = &g->lo;
    LoLoop sides = lo_for_open(lo, lo_i64_of(lo, 0), p->count, 1, "side");
    LoValue words = load_unit(g, p, unit, gemm_mul(g, sides.index, p->x_side), 1, NULL, partner);
    for (int row = 0; row < rows_of_unit(g); row++)
        store_unit(g, p, words, unit, row, sides.index);
    lo_for_close(lo, &sides);
}

static void copy_rest(GemmEmit *g, const Pack *p, LoValue whole)
{
    Lo *lo = &g->lo;
    LoValue n = whole_units(g, p);
    LoLoop units = lo_for_open(lo, whole, n, 1, "rest");
    copy_sides(g, p, units.index, true);
    lo_for_close(lo, &units);
    if (!g->pairs)
        return;
    LoValue odd = lo_lt(lo, gemm_times(g, n, 2), p->k);
    LoIf last = lo_if_open(lo, odd);
    copy_sides(g, p, n, false);
    lo_if_close(lo, &last);
}

/* The last group of the side first: its vectors may reach into the next row of the panel, where
 * the first group then stores what belongs there. */
static void pack_transposed(GemmEmit *g, const Pack *p)
{
    Lo *lo = &g->lo;
    LoValue whole = lo_and(lo, whole_units(g, p), lo_i64_of(lo, -(int64_t)g->lanes));
    for (int v = p->groups - 1; v >= 0; v--) {
        LoValue some = lo_gt(lo, p->count, lo_i64_of(lo, v * g->lanes));
        LoIf used = lo_if_open(lo, some);
        transpose_group(g, p, v, whole);
        lo_if_close(lo, &used);
    }
    copy_rest(g, p, whole);
}

/* ---- the functions ---- */

/* `pitched`: the width is a parameter too, at most `width`. `copies`: sides always lie beside each
 * other. */
static LoFunction *write_pack(GemmEmit *g, const char *part, int width, bool pitched, bool copies)
{
    Lo *lo = &g->lo;
    LoValue x[PARAMS];
    LoFunction *function = gemm_open(g, part, pitched ? PARAMS : WIDTH, 1 << X | 1 << OUT, x);
    Pack p = {.k = x[K],
              .x = x[X],
              .x_k = x[X_K],
              .x_side = x[X_SIDE],
              .count = x[COUNT],
              .out = x[OUT],
              .width = pitched ? x[WIDTH] : lo_i64_of(lo, width),
              .groups = (width + g->lanes - 1) / g->lanes};
    assert(g->lanes <= GEMM_MAX_LANES && (g->lanes == 1 || p.groups <= MAX_GROUPS));
    if (g->lanes == 1) {
        p.count = lo_min(lo, p.count, lo_i64_of(lo, width));
        copy_rest(g, &p, lo_i64_of(lo, 0));
    } else if (copies) {
        pack_copied(g, &p);
        return function;
    } else {
        LoValue one = lo_i64_of(lo, 1);
        LoValue beside = lo_eq(lo, p.x_side, one);
        LoValue single = lo_eq(lo, p.count, one);
        LoIf copied = lo_if_open(lo, lo_or(lo, beside, single));
        pack_copied(g, &p);
        lo_if_close(lo, &copied);
        pack_transposed(g, &p);
    }
    gemm_return(g);
    return function;
}

LoFunction *gemm_pack(GemmEmit *g, const char *part, int width, bool kept)
{
    g->keeps = kept;
    LoFunction *function = write_pack(g, part, width, false, false);
    g->keeps = false;
    return function;
}

LoFunction *gemm_pack_pitched(GemmEmit *g, const char *part, int width)
{
    return write_pack(g, part, width, true, false);
}

LoFunction *gemm_pack_rows(GemmEmit *g)
{
    return write_pack(g, "pack_rows", (int)g->form.rows, false, true);
}
