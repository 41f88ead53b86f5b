/* Tiles: height × vectors sums, held in registers over all terms. */
#include "codegen/emit/gemm.h"

#include <assert.h>
#include <stdio.h>

/* Every third row has a pointer of its own; the two after it are reached by adding the row
 * stride once and twice, which an address does for nothing. */
enum { ROWS_A_POINTER = 3, MAX_POINTERS = (GEMM_MAX_ROWS + 2) / 3 };
static_assert(2 + MAX_POINTERS + GEMM_MAX_ROWS * GEMM_MAX_VECTORS <= LO_MAX_CARRIED,
              "the loop carries b, a's pointers, all sums, and the terms left");

typedef struct Tile {
    int height, vectors, pointers;
    TfcLie lie;
    LoValue x[ARGS];
    LoValue twice;            /* 2 × a_row */
    LoValue ahead;            /* bytes from b to what is brought near; NULL: nothing is */
    LoValue at[MAX_POINTERS]; /* into a, at the next term */
    LoValue sums[GEMM_MAX_ROWS][GEMM_MAX_VECTORS];
} Tile;

/* ---- terms ---- */

/* Zero sums, and pointers at the first term. Strides that follow from the lie are constants. */
static void start_sums(GemmEmit *g, Tile *t)
{
    Lo *lo = &g->lo;
    if (t->lie != TFC_LIE_STRIDED)
        t->x[ARG_B_K] = lo_i64_of(lo, (int64_t)gemm_columns(g) * gemm_bytes(g));
    if (t->lie == TFC_LIE_PANELS || t->lie == TFC_LIE_ROWS)
        t->x[ARG_A_K] =
            lo_i64_of(lo, gemm_bytes(g) * (t->lie == TFC_LIE_PANELS ? g->form.rows : 1));
    t->twice = lo_shl(lo, t->x[ARG_A_ROW], lo_i64_of(lo, 1));
    LoValue step = gemm_add(g, t->x[ARG_A_ROW], t->twice);
    t->at[0] = t->x[ARG_A];
    for (int p = 1; p < t->pointers; p++)
        t->at[p] = gemm_byte(g, t->at[p - 1], step);
    for (int r = 0; r < t->height; r++)
        for (int v = 0; v < t->vectors; v++)
            t->sums[r][v] = lo_zero(lo, lo_vector(g->sum, g->lanes));
}

static LoValue row_address(GemmEmit *g, const Tile *t, int row)
{
    if (t->lie == TFC_LIE_PANELS)
        return gemm_at(g, t->at[0], lo_i64_of(&g->lo, row));
    int offset = row % ROWS_A_POINTER;
    LoValue pointer = t->at[row / ROWS_A_POINTER];
    return offset == 0 ? pointer : gemm_byte(g, pointer, offset == 1 ? t->x[ARG_A_ROW] : t->twice);
}

/* The terms of pairs that are odd, or even, as f32. */
static LoValue half_of_pairs(GemmEmit *g, LoValue pairs, bool odd)
{
    Lo *lo = &g->lo;
    LoType words = lo_type(pairs);
    LoValue bits = odd ? lo_and(lo, pairs, lo_int(lo, words, -0x10000))
                       : lo_shl(lo, pairs, lo_int(lo, words, 16));
    return lo_bitcast(lo, bits, lo_like(words, lo_f32));
}

/* One row of b's vectors: a term of every sum; of pairs that are kept its odd or even half. */
static LoValue load_right(GemmEmit *g, const Tile *t, int v, bool odd)
{
    Lo *lo = &g->lo;
    bool kept = t->lie == TFC_LIE_KEPT;
    LoValue x =
        lo_load(lo, lo_vector(kept ? lo_i32 : g->element, g->lanes),
                gemm_at(g, t->x[ARG_B], lo_i64_of(lo, v * g->lanes)), (unsigned)g->form.source);
    return kept ? half_of_pairs(g, x, odd) : x;
}

/* One term of every sum; `odd`: of a pair. */
static void add_term(GemmEmit *g, Tile *t, bool odd)
{
    Lo *lo = &g->lo;
    unsigned align = (unsigned)g->form.source;
    LoValue right[GEMM_MAX_VECTORS];
    for (int v = 0; v < t->vectors; v++)
        right[v] = load_right(g, t, v, odd);
    for (int r = 0; r < t->height; r++) {
        LoValue left = lo_splat(lo, lo_load(lo, g->element, row_address(g, t, r), align), g->lanes);
        for (int v = 0; v < t->vectors; v++)
            t->sums[r][v] = gemm_joined(g) ? lo_pair_dot(lo, t->sums[r][v], left, right[v])
                                           : lo_muladd(lo, left, right[v], t->sums[r][v]);
    }
}

/* ---- the loop over terms ---- */

/* How far from a row of b the one is that is brought near: as many rows as take `ahead` bytes, where
 * rows lie one after the other, as in panels, which come from memory when rows of a are few. Rows
 * further apart are pages of their own: to find these costs more than is won. */
static LoValue distance_ahead(GemmEmit *g, const Tile *t)
{
    Lo *lo = &g->lo;
    int64_t row = gemm_columns(g) * gemm_bytes(g);
    LoValue dense = lo_le(lo, t->x[ARG_B_K], lo_i64_of(lo, row));
    return lo_select(lo, dense, lo_i64_of(lo, g->ahead / row * row), lo_i64_of(lo, 0));
}

/* Of long rows hardware brings every other line. */
static void prefetch_b(GemmEmit *g, const Tile *t)
{
    int row = t->vectors * g->lanes * gemm_bytes(g), line = (int)g->form.line;
    int step = row > 2 * line ? 2 * line : line;
    LoValue at = gemm_byte(g, t->x[ARG_B], t->ahead);
    for (int i = 0; i < row; i += step)
        lo_prefetch(&g->lo, gemm_byte(g, at, lo_i64_of(&g->lo, i)));
}

/* All terms, *left of them: a turn takes one, or of pairs that are kept two. */
static void sum_terms(GemmEmit *g, Tile *t, LoValue *left)
{
    bool kept = t->lie == TFC_LIE_KEPT;
    int steps = kept ? 2 : 1;
    LoValue step = lo_i64_of(&g->lo, steps);
    LoWhile loop = {.values = {&t->x[ARG_B]}, .n = 1};
    for (int p = 0; p < t->pointers; p++)
        loop.values[loop.n++] = &t->at[p];
    for (int r = 0; r < t->height; r++)
        for (int v = 0; v < t->vectors; v++)
            loop.values[loop.n++] = &t->sums[r][v];
    lo_while_open(&g->lo, &loop, left, step);
    if (t->lie != TFC_LIE_STRIDED && g->unrolled > steps)
        loop.op->unroll = g->unrolled / steps;
    for (int i = 0; i < steps; i++) {
        bool odd = kept && i == 0, whole = !odd; /* whole: b's row has given all */
        add_term(g, t, odd);
        if (t->ahead && whole)
            prefetch_b(g, t);
        if (whole)
            t->x[ARG_B] = gemm_byte(g, t->x[ARG_B], t->x[ARG_B_K]);
        for (int p = 0; p < t->pointers; p++)
            t->at[p] = gemm_byte(g, t->at[p], t->x[ARG_A_K]);
    }
    *left = gemm_sub(g, *left, step);
    lo_while_close(&g->lo, &loop);
}

/* ---- sums into c ---- */

/* Brings the tile of c near while its sums are formed. */
static void prefetch_c(GemmEmit *g, const Tile *t)
{
    Lo *lo = &g->lo;
    LoValue row = t->x[ARG_C];
    for (int r = 0; r < t->height; r++, row = gemm_byte(g, row, t->x[ARG_C_ROW]))
        for (int v = 0; v < t->vectors; v++)
            lo_prefetch_write(lo, gemm_at(g, row, lo_i64_of(lo, v * g->lanes)));
}

void gemm_store(GemmEmit *g, LoValue sum, LoValue at, TfcStore store, LoValue stored,
                LoValue loaded)
{
    Lo *lo = &g->lo;
    unsigned align = (unsigned)gemm_bytes(g);
    LoType vector = lo_type(sum);
    if (store == TFC_STORE_ROUNDED) {
        sum = lo_bf16_bits(lo, lo_bf16_round(lo, sum));
        align = sizeof(uint16_t);
    } else if (store == TFC_STORE_ADD) {
        LoValue before =
            loaded ? lo_masked_load(lo, vector, at, loaded, align) : lo_load(lo, vector, at, align);
        sum = lo_add(lo, before, sum);
    }
    if (stored)
        lo_masked_store(lo, sum, at, stored, align);
    else
        lo_store(lo, sum, at, align);
}

/* Whole rows, or ones that c ends in. */
static void store_sums(GemmEmit *g, const Tile *t, TfcStore store, bool whole)
{
    Lo *lo = &g->lo;
    LoValue stored[GEMM_MAX_VECTORS] = {0}, loaded[GEMM_MAX_VECTORS] = {0}, row = t->x[ARG_C];
    LoType unit = store == TFC_STORE_ROUNDED ? lo_i16 : g->sum;
    LoValue adds = lo_eq(lo, t->x[ARG_STORE], lo_i64_of(lo, TFC_STORE_ADD));
    for (int v = 0; !whole && v < t->vectors; v++) {
        stored[v] = lo_lanes_below(lo, t->x[ARG_COLUMNS], v * g->lanes, g->lanes);
        loaded[v] = lo_and(lo, stored[v], lo_splat(lo, adds, g->lanes));
    }
    for (int r = 0; r < t->height; r++, row = gemm_byte(g, row, t->x[ARG_C_ROW]))
        for (int v = 0; v < t->vectors; v++)
            gemm_store(g, t->sums[r][v], lo_at(lo, unit, row, lo_i64_of(lo, v * g->lanes)), store,
                       stored[v], loaded[v]);
    gemm_return(g);
}

/* The sums stored so where that is asked for. */
static void store_if(GemmEmit *g, const Tile *t, TfcStore store, bool whole)
{
    Lo *lo = &g->lo;
    LoValue asked = lo_eq(lo, t->x[ARG_STORE], lo_i64_of(lo, store));
    LoIf here = lo_if_open(lo, asked);
    store_sums(g, t, store, whole);
    lo_if_close(lo, &here);
}

LoFunction *gemm_tile(GemmEmit *g, int height, int vectors, TfcLie lie)
{
    static const char *const lies[TFC_LIES] = {"", ".panels", ".rows", ".kept"};
    Lo *lo = &g->lo;
    char part[32];
    snprintf(part, sizeof part, "tile%dx%d%s", height, vectors, lies[lie]);
    Tile t = {.height = height, .vectors = vectors, .lie = lie, .pointers = 1};
    if (lie != TFC_LIE_PANELS)
        t.pointers = (height + ROWS_A_POINTER - 1) / ROWS_A_POINTER;
    LoFunction *function = gemm_open(g, part, ARGS, ARG_POINTERS, t.x);
    LoValue left = t.x[ARG_K];
    start_sums(g, &t);
    t.ahead = g->ahead && lie != TFC_LIE_PANELS ? distance_ahead(g, &t) : NULL;
    prefetch_c(g, &t);
    sum_terms(g, &t, &left);
    LoValue whole = lo_ge(lo, t.x[ARG_COLUMNS], lo_i64_of(lo, vectors * g->lanes));
    LoIf full = lo_if_open(lo, whole);
    store_if(g, &t, TFC_STORE_ADD, true);
    if (g->pairs)
        store_if(g, &t, TFC_STORE_ROUNDED, true);
    store_sums(g, &t, TFC_STORE_OVER, true);
    lo_if_close(lo, &full);
    if (g->pairs)
        store_if(g, &t, TFC_STORE_ROUNDED, g->lanes == 1);
    store_sums(g, &t, TFC_STORE_ADD, g->lanes == 1); /* where lanes are loaded */
    return function;
}

/* Of all heights; of kept pairs without the greatest, since both halves of b's row take registers. */
static void write_tiles(GemmEmit *g, TfcLie lie, GemmTiles tiles)
{
    for (int h = lie == TFC_LIE_KEPT; h < TFC_HEIGHTS && g->form.heights[h]; h++)
        for (int w = 0; w < (g->form.heights[h] <= g->form.low ? TFC_WIDTHS : GEMM_WIDE); w++)
            tiles[h][w] = w > 0 && g->vectors[w] == g->vectors[w - 1] /* two widths may be one */
                              ? tiles[h][w - 1]
                              : gemm_tile(g, (int)g->form.heights[h], g->vectors[w], lie);
}

void gemm_tiles(GemmEmit *g, GemmTiles tiles) { write_tiles(g, TFC_LIE_STRIDED, tiles); }
void gemm_kept_tiles(GemmEmit *g, GemmTiles tiles) { write_tiles(g, TFC_LIE_KEPT, tiles); }
