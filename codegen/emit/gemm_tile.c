/* Tiles: height × vectors sums, held in registers over all terms. */
#include "codegen/emit/gemm.h"

#include <assert.h>
#include <stdio.h>

/* Every third row has a pointer of its own; the two after it are reached by adding the row
 * stride once and twice, which an address does for nothing. */
enum { ROWS_A_POINTER = 3, MAX_POINTERS = (GEMM_MAX_ROWS + 2) / 3 };
static_assert(2 + MAX_POINTERS + GEMM_MAX_ROWS * GEMM_MAX_VECTORS <= LL_MAX_CARRIED,
              "the loop carries b, a's pointers, all sums, and the terms left");

typedef struct Tile {
    int height, vectors, pointers;
    TfcLie lie;
    LlValue x[ARGS];
    LlValue twice;            /* 2 × a_row */
    LlValue ahead;            /* bytes from b to what is brought near; NULL: nothing is */
    LlValue at[MAX_POINTERS]; /* into a, at the next term */
    LlValue sums[GEMM_MAX_ROWS][GEMM_MAX_VECTORS];
} Tile;

/* ---- terms ---- */

/* Zero sums, and pointers at the first term. Strides that follow from the lie are constants. */
static void start_sums(GemmEmit *g, Tile *t)
{
    Ll *ll = &g->ll;
    if (t->lie != TFC_LIE_STRIDED)
        t->x[ARG_B_K] = ll_i64(ll, (int64_t)gemm_columns(g) * gemm_bytes(g));
    if (t->lie == TFC_LIE_PANELS || t->lie == TFC_LIE_ROWS)
        t->x[ARG_A_K] = ll_i64(ll, gemm_bytes(g) * (t->lie == TFC_LIE_PANELS ? g->form.rows : 1));
    t->twice = LLVMBuildShl(ll->builder, t->x[ARG_A_ROW], ll_i64(ll, 1), "");
    LlValue step = gemm_add(g, t->x[ARG_A_ROW], t->twice);
    t->at[0] = t->x[ARG_A];
    for (int p = 1; p < t->pointers; p++)
        t->at[p] = gemm_byte(g, t->at[p - 1], step);
    for (int r = 0; r < t->height; r++)
        for (int v = 0; v < t->vectors; v++)
            t->sums[r][v] = LLVMConstNull(ll_vector(g->sum, g->lanes));
}

static LlValue row_address(GemmEmit *g, const Tile *t, int row)
{
    if (t->lie == TFC_LIE_PANELS)
        return gemm_at(g, t->at[0], ll_i64(&g->ll, row));
    int offset = row % ROWS_A_POINTER;
    LlValue pointer = t->at[row / ROWS_A_POINTER];
    return offset == 0 ? pointer : gemm_byte(g, pointer, offset == 1 ? t->x[ARG_A_ROW] : t->twice);
}

/* sum + the products of the pairs that lie in the elements of a and b. */
static LlValue add_pairs(GemmEmit *g, LlValue a, LlValue b, LlValue sum)
{
    Ll *ll = &g->ll;
    LlType pairs = LLVMVectorType(LLVMBFloatTypeInContext(ll->context), (unsigned)g->lanes * 2);
    a = LLVMBuildBitCast(ll->builder, a, pairs, "");
    b = LLVMBuildBitCast(ll->builder, b, pairs, "");
    return ll_intrinsic(ll, "llvm.x86.avx512bf16.dpbf16ps.512", 0, NULL, 3, (LlValue[]){sum, a, b});
}

/* The terms of pairs that are odd, or even, as f32. */
static LlValue half_of_pairs(GemmEmit *g, LlValue pairs, bool odd)
{
    Ll *ll = &g->ll;
    LlType words = ll_of_value(pairs);
    LlValue bits = odd ? LLVMBuildAnd(ll->builder, pairs, ll_int(words, -0x10000), "")
                       : LLVMBuildShl(ll->builder, pairs, ll_int(words, 16), "");
    return LLVMBuildBitCast(ll->builder, bits, ll_like(words, ll->f32), "");
}

/* One row of b's vectors: a term of every sum; of pairs that are kept its odd or even half. */
static LlValue load_right(GemmEmit *g, const Tile *t, int v, bool odd)
{
    Ll *ll = &g->ll;
    bool kept = t->lie == TFC_LIE_KEPT;
    LlValue x = ll_load(ll, ll_vector(kept ? ll->i32 : g->element, g->lanes),
                        gemm_at(g, t->x[ARG_B], ll_i64(ll, v * g->lanes)), (unsigned)g->form.source);
    return kept ? half_of_pairs(g, x, odd) : x;
}

/* One term of every sum; `odd`: of a pair. */
static void add_term(GemmEmit *g, Tile *t, bool odd)
{
    Ll *ll = &g->ll;
    unsigned align = (unsigned)g->form.source;
    LlValue right[GEMM_MAX_VECTORS];
    for (int v = 0; v < t->vectors; v++)
        right[v] = load_right(g, t, v, odd);
    for (int r = 0; r < t->height; r++) {
        LlValue left = ll_splat(ll, ll_load(ll, g->element, row_address(g, t, r), align), g->lanes);
        for (int v = 0; v < t->vectors; v++)
            t->sums[r][v] = gemm_joined(g) ? add_pairs(g, left, right[v], t->sums[r][v])
                                           : ll_muladd(ll, left, right[v], t->sums[r][v]);
    }
}

/* ---- the loop over terms ---- */

/* How far from a row of b the one is that is brought near: as many rows as take `ahead` bytes, where
 * rows lie one after the other, as in panels, which come from memory when rows of a are few. Rows
 * further apart are pages of their own: to find these costs more than is won. */
static LlValue distance_ahead(GemmEmit *g, const Tile *t)
{
    Ll *ll = &g->ll;
    int64_t row = gemm_columns(g) * gemm_bytes(g);
    LlValue dense = LLVMBuildICmp(ll->builder, LLVMIntSLE, t->x[ARG_B_K], ll_i64(ll, row), "");
    return LLVMBuildSelect(ll->builder, dense, ll_i64(ll, g->ahead / row * row), ll_i64(ll, 0), "");
}

/* Of long rows hardware brings every other line. */
static void prefetch_b(GemmEmit *g, const Tile *t)
{
    int row = t->vectors * g->lanes * gemm_bytes(g), line = (int)g->form.line;
    int step = row > 2 * line ? 2 * line : line;
    LlValue at = gemm_byte(g, t->x[ARG_B], t->ahead);
    for (int i = 0; i < row; i += step)
        ll_prefetch(&g->ll, gemm_byte(g, at, ll_i64(&g->ll, i)));
}

/* While `steps` terms are left of *left: those. */
static void sum_terms(GemmEmit *g, Tile *t, int steps, LlValue *left)
{
    bool kept = t->lie == TFC_LIE_KEPT;
    LlValue step = ll_i64(&g->ll, steps);
    LlWhile loop = {.values = {&t->x[ARG_B]}, .n = 1};
    for (int p = 0; p < t->pointers; p++)
        loop.values[loop.n++] = &t->at[p];
    for (int r = 0; r < t->height; r++)
        for (int v = 0; v < t->vectors; v++)
            loop.values[loop.n++] = &t->sums[r][v];
    ll_while_open(&g->ll, &loop, left, step);
    for (int i = 0; i < steps; i++) {
        bool odd = kept && i % 2 == 0, whole = !odd; /* whole: b's row has given all */
        add_term(g, t, odd);
        if (t->ahead && whole)
            prefetch_b(g, t);
        if (whole)
            t->x[ARG_B] = gemm_byte(g, t->x[ARG_B], t->x[ARG_B_K]);
        for (int p = 0; p < t->pointers; p++)
            t->at[p] = gemm_byte(g, t->at[p], t->x[ARG_A_K]);
    }
    *left = gemm_sub(g, *left, step);
    ll_while_close(&g->ll, &loop);
}

/* ---- sums into c ---- */

/* Brings the tile of c near while its sums are formed. */
static void prefetch_c(GemmEmit *g, const Tile *t)
{
    Ll *ll = &g->ll;
    LlValue row = t->x[ARG_C];
    LlValue how[] = {NULL, ll_int(ll->i32, 1), ll_int(ll->i32, 3), ll_int(ll->i32, 1)};
    for (int r = 0; r < t->height; r++, row = gemm_byte(g, row, t->x[ARG_C_ROW]))
        for (int v = 0; v < t->vectors; v++) {
            how[0] = gemm_at(g, row, ll_i64(ll, v * g->lanes));
            ll_intrinsic(ll, "llvm.prefetch", 1, &ll->ptr, 4, how);
        }
}

void gemm_store(GemmEmit *g, LlValue sum, LlValue at, TfcStore store, LlValue stored,
                LlValue loaded)
{
    Ll *ll = &g->ll;
    unsigned align = (unsigned)gemm_bytes(g);
    LlType vector = ll_of_value(sum);
    if (store == TFC_STORE_ROUNDED) {
        sum = ll_bf16_bits(ll, ll_bf16_round(ll, sum));
        align = sizeof(uint16_t);
    } else if (store == TFC_STORE_ADD) {
        LlValue before =
            loaded ? ll_masked_load(ll, vector, at, loaded, align) : ll_load(ll, vector, at, align);
        sum = ll_fadd(ll, before, sum);
    }
    if (stored)
        ll_masked_store(ll, sum, at, stored, align);
    else
        ll_store(ll, sum, at, align);
}

/* Whole rows, or ones that c ends in. */
static void store_sums(GemmEmit *g, const Tile *t, TfcStore store, bool whole)
{
    Ll *ll = &g->ll;
    LlValue stored[GEMM_MAX_VECTORS] = {0}, loaded[GEMM_MAX_VECTORS] = {0}, row = t->x[ARG_C];
    LlType unit = store == TFC_STORE_ROUNDED ? ll->i16 : g->sum;
    LlValue adds =
        LLVMBuildICmp(ll->builder, LLVMIntEQ, t->x[ARG_STORE], ll_i64(ll, TFC_STORE_ADD), "");
    for (int v = 0; !whole && v < t->vectors; v++) {
        stored[v] = ll_lanes_below(ll, t->x[ARG_COLUMNS], v * g->lanes, g->lanes);
        loaded[v] = LLVMBuildAnd(ll->builder, stored[v], ll_splat(ll, adds, g->lanes), "");
    }
    for (int r = 0; r < t->height; r++, row = gemm_byte(g, row, t->x[ARG_C_ROW]))
        for (int v = 0; v < t->vectors; v++)
            gemm_store(g, t->sums[r][v], ll_gep(ll, unit, row, ll_i64(ll, v * g->lanes)), store,
                       stored[v], loaded[v]);
    gemm_return(g);
}

/* The sums stored so where that is asked for. */
static void store_if(GemmEmit *g, const Tile *t, TfcStore store, bool whole)
{
    Ll *ll = &g->ll;
    LlValue asked = LLVMBuildICmp(ll->builder, LLVMIntEQ, t->x[ARG_STORE], ll_i64(ll, store), "");
    LlIf here = ll_if_open(ll, asked);
    store_sums(g, t, store, whole);
    ll_at_block(ll, here.done);
}

LlValue gemm_tile(GemmEmit *g, int height, int vectors, TfcLie lie)
{
    static const char *const lies[TFC_LIES] = {"", ".panels", ".rows", ".kept"};
    int least = lie == TFC_LIE_KEPT ? 2 : 1;
    Ll *ll = &g->ll;
    char part[32];
    snprintf(part, sizeof part, "tile%dx%d%s", height, vectors, lies[lie]);
    Tile t = {.height = height, .vectors = vectors, .lie = lie, .pointers = 1};
    if (lie != TFC_LIE_PANELS)
        t.pointers = (height + ROWS_A_POINTER - 1) / ROWS_A_POINTER;
    LlValue function = gemm_open(g, part, ARGS, ARG_POINTERS, t.x), left = t.x[ARG_K];
    start_sums(g, &t);
    t.ahead = g->ahead && lie != TFC_LIE_PANELS ? distance_ahead(g, &t) : NULL;
    prefetch_c(g, &t);
    if (lie != TFC_LIE_STRIDED && g->unrolled > 1)
        sum_terms(g, &t, g->unrolled, &left);
    sum_terms(g, &t, least, &left);
    LlValue whole = LLVMBuildICmp(ll->builder, LLVMIntSGE, t.x[ARG_COLUMNS],
                                  ll_i64(ll, vectors * g->lanes), "");
    LlIf full = ll_if_open(ll, whole);
    store_if(g, &t, TFC_STORE_ADD, true);
    if (g->pairs)
        store_if(g, &t, TFC_STORE_ROUNDED, true);
    store_sums(g, &t, TFC_STORE_OVER, true);
    ll_at_block(ll, full.done);
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
