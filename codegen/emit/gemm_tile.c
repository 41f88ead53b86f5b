/* Tiles: height × vectors sums, held in registers over all terms. */
#include "codegen/emit/gemm.h"

#include <stdio.h>

/* Every third row has a pointer of its own; the two after it are reached by adding the row
 * stride once and twice, which an address does for nothing. */
enum { ROWS_A_POINTER = 3, MAX_POINTERS = (GEMM_MAX_ROWS + 2) / 3 };
enum { MAX_CARRIED = 3 + MAX_POINTERS + GEMM_MAX_ROWS * GEMM_MAX_VECTORS };

/* The parameters of a TfcTile; a list of them is one of pointers among integers. */
enum { K, A, A_ROW, A_K, B, B_K, C, C_ROW, COLUMNS, STORE, ROWS, PARAMS };
enum { POINTERS = 1 << A | 1 << B | 1 << C };

typedef struct Tile {
    int height, vectors, pointers;
    TfcLie lie;
    LlValue x[PARAMS];
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
        t->x[B_K] = ll_i64(ll, (int64_t)gemm_columns(g) * gemm_bytes(g));
    if (t->lie != TFC_LIE_STRIDED)
        t->x[A_K] = ll_i64(ll, gemm_bytes(g) * (t->lie == TFC_LIE_PANELS ? g->form.rows : 1));
    t->twice = LLVMBuildShl(ll->builder, t->x[A_ROW], ll_i64(ll, 1), "");
    LlValue step = gemm_add(g, t->x[A_ROW], t->twice);
    t->at[0] = t->x[A];
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
    return offset == 0 ? pointer : gemm_byte(g, pointer, offset == 1 ? t->x[A_ROW] : t->twice);
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

/* One term of every sum. */
static void add_term(GemmEmit *g, Tile *t)
{
    Ll *ll = &g->ll;
    unsigned align = (unsigned)g->form.source;
    LlValue right[GEMM_MAX_VECTORS];
    for (int v = 0; v < t->vectors; v++)
        right[v] = ll_load(ll, ll_vector(g->element, g->lanes),
                           gemm_at(g, t->x[B], ll_i64(ll, v * g->lanes)), align);
    for (int r = 0; r < t->height; r++) {
        LlValue left = ll_splat(ll, ll_load(ll, g->element, row_address(g, t, r), align), g->lanes);
        for (int v = 0; v < t->vectors; v++)
            t->sums[r][v] = gemm_joined(g) ? add_pairs(g, left, right[v], t->sums[r][v])
                                           : ll_muladd(ll, left, right[v], t->sums[r][v]);
    }
}

/* ---- loops that carry values ---- */

typedef struct Carried {
    LlValue *values[MAX_CARRIED], phis[MAX_CARRIED];
    int n;
    LlBlock head, done;
} Carried;

/* While *left >= step: each value is a phi of what it was before and what it is at the end. */
static void open_while(GemmEmit *g, Carried *c, LlValue *left, LlValue step)
{
    Ll *ll = &g->ll;
    LlBlock before = ll->block, body = ll_new_block(ll, "");
    c->head = ll_new_block(ll, "while");
    c->done = ll_new_block(ll, "");
    LLVMBuildBr(ll->builder, c->head);
    ll_at_block(ll, c->head);
    c->values[c->n++] = left;
    for (int i = 0; i < c->n; i++) {
        LlValue start = *c->values[i];
        c->phis[i] = LLVMBuildPhi(ll->builder, LLVMTypeOf(start), "");
        LLVMAddIncoming(c->phis[i], &start, &before, 1);
        *c->values[i] = c->phis[i];
    }
    LlValue more = LLVMBuildICmp(ll->builder, LLVMIntSGE, *left, step, "");
    LLVMBuildCondBr(ll->builder, more, body, c->done);
    ll_at_block(ll, body);
}

static void close_while(GemmEmit *g, Carried *c)
{
    Ll *ll = &g->ll;
    for (int i = 0; i < c->n; i++) {
        LLVMAddIncoming(c->phis[i], c->values[i], &ll->block, 1);
        *c->values[i] = c->phis[i];
    }
    LLVMBuildBr(ll->builder, c->head);
    ll_at_block(ll, c->done);
}

/* How far from a row of b the one is that is brought near: as many rows as take `ahead` bytes, where
 * rows lie one after the other, as in panels, which come from memory when rows of a are few. Rows
 * further apart are pages of their own: to find these costs more than is won. */
static LlValue distance_ahead(GemmEmit *g, const Tile *t)
{
    Ll *ll = &g->ll;
    int64_t row = gemm_columns(g) * gemm_bytes(g);
    LlValue dense = LLVMBuildICmp(ll->builder, LLVMIntSLE, t->x[B_K], ll_i64(ll, row), "");
    return LLVMBuildSelect(ll->builder, dense, ll_i64(ll, g->ahead / row * row), ll_i64(ll, 0), "");
}

/* Of long rows hardware brings every other line. */
static void prefetch_b(GemmEmit *g, const Tile *t)
{
    int row = t->vectors * g->lanes * gemm_bytes(g), line = (int)g->form.line;
    int step = row > 2 * line ? 2 * line : line;
    LlValue at = gemm_byte(g, t->x[B], t->ahead);
    for (int i = 0; i < row; i += step)
        ll_prefetch(&g->ll, gemm_byte(g, at, ll_i64(&g->ll, i)));
}

/* While `steps` terms are left of *left: those. */
static void sum_terms(GemmEmit *g, Tile *t, int steps, LlValue *left)
{
    LlValue step = ll_i64(&g->ll, steps);
    Carried carried = {.values = {&t->x[B]}, .n = 1};
    for (int p = 0; p < t->pointers; p++)
        carried.values[carried.n++] = &t->at[p];
    for (int r = 0; r < t->height; r++)
        for (int v = 0; v < t->vectors; v++)
            carried.values[carried.n++] = &t->sums[r][v];
    open_while(g, &carried, left, step);
    for (int i = 0; i < steps; i++) {
        add_term(g, t);
        if (t->ahead)
            prefetch_b(g, t);
        t->x[B] = gemm_byte(g, t->x[B], t->x[B_K]);
        for (int p = 0; p < t->pointers; p++)
            t->at[p] = gemm_byte(g, t->at[p], t->x[A_K]);
    }
    *left = gemm_sub(g, *left, step);
    close_while(g, &carried);
}

/* ---- sums into c ---- */

/* Brings the tile of c near while its sums are formed. */
static void prefetch_c(GemmEmit *g, const Tile *t)
{
    Ll *ll = &g->ll;
    LlValue row = t->x[C];
    LlValue how[] = {NULL, ll_int(ll->i32, 1), ll_int(ll->i32, 3), ll_int(ll->i32, 1)};
    for (int r = 0; r < t->height; r++, row = gemm_byte(g, row, t->x[C_ROW]))
        for (int v = 0; v < t->vectors; v++) {
            how[0] = gemm_at(g, row, ll_i64(ll, v * g->lanes));
            ll_intrinsic(ll, "llvm.prefetch", 1, &ll->ptr, 4, how);
        }
}

/* One vector of sums; of masks `stored` may be NULL, which stores all; `loaded`, which lanes are
 * added to what is there, is NULL where none is. */
static void store_vector(GemmEmit *g, LlValue sum, LlValue at, TfcStore store, LlValue stored,
                         LlValue loaded)
{
    Ll *ll = &g->ll;
    unsigned align = (unsigned)gemm_bytes(g);
    LlType vector = ll_of_value(sum);
    if (store == TFC_STORE_ROUNDED) {
        sum = ll_bf16_bits(ll, ll_bf16_round(ll, sum));
        align = sizeof(uint16_t);
    } else if (store == TFC_STORE_ADD) {
        LlValue before = loaded ? ll_masked_load(ll, vector, at, loaded, align)
                                : ll_load(ll, vector, at, align);
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
    LlValue stored[GEMM_MAX_VECTORS] = {0}, loaded[GEMM_MAX_VECTORS] = {0}, row = t->x[C];
    LlType unit = store == TFC_STORE_ROUNDED ? ll->i16 : g->sum;
    LlValue adds =
        LLVMBuildICmp(ll->builder, LLVMIntEQ, t->x[STORE], ll_i64(ll, TFC_STORE_ADD), "");
    for (int v = 0; !whole && v < t->vectors; v++) {
        stored[v] = ll_lanes_below(ll, t->x[COLUMNS], v * g->lanes, g->lanes);
        loaded[v] = LLVMBuildAnd(ll->builder, stored[v], ll_splat(ll, adds, g->lanes), "");
    }
    for (int r = 0; r < t->height; r++, row = gemm_byte(g, row, t->x[C_ROW]))
        for (int v = 0; v < t->vectors; v++)
            store_vector(g, t->sums[r][v], ll_gep(ll, unit, row, ll_i64(ll, v * g->lanes)), store,
                         stored[v], loaded[v]);
    gemm_return(g);
}

/* The sums stored so where that is asked for. */
static void store_if(GemmEmit *g, const Tile *t, TfcStore store, bool whole)
{
    Ll *ll = &g->ll;
    LlValue asked = LLVMBuildICmp(ll->builder, LLVMIntEQ, t->x[STORE], ll_i64(ll, store), "");
    LlIf here = ll_if_open(ll, asked);
    store_sums(g, t, store, whole);
    ll_at_block(ll, here.done);
}

LlValue gemm_tile(GemmEmit *g, int height, int vectors, TfcLie lie)
{
    static const char *const lies[TFC_LIES] = {"", ".panels", ".rows"};
    Ll *ll = &g->ll;
    char part[32];
    snprintf(part, sizeof part, "tile%dx%d%s", height, vectors, lies[lie]);
    Tile t = {.height = height, .vectors = vectors, .lie = lie, .pointers = 1};
    if (lie != TFC_LIE_PANELS)
        t.pointers = (height + ROWS_A_POINTER - 1) / ROWS_A_POINTER;
    LlValue function = gemm_open(g, part, PARAMS, POINTERS, t.x), left = t.x[K];
    start_sums(g, &t);
    t.ahead = g->ahead && lie == TFC_LIE_STRIDED ? distance_ahead(g, &t) : NULL;
    prefetch_c(g, &t);
    if (lie != TFC_LIE_STRIDED && g->unrolled > 1)
        sum_terms(g, &t, g->unrolled, &left);
    sum_terms(g, &t, 1, &left);
    LlValue whole =
        LLVMBuildICmp(ll->builder, LLVMIntSGE, t.x[COLUMNS], ll_i64(ll, vectors * g->lanes), "");
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

void gemm_tiles(GemmEmit *g, GemmTiles tiles)
{
    for (int h = 0; h < TFC_HEIGHTS && g->form.heights[h]; h++)
        for (int w = 0; w < (g->form.heights[h] <= g->form.low ? TFC_WIDTHS : GEMM_WIDE); w++)
            tiles[h][w] = w > 0 && g->vectors[w] == g->vectors[w - 1] /* two widths may be one */
                              ? tiles[h][w - 1]
                              : gemm_tile(g, (int)g->form.heights[h], g->vectors[w],
                                          TFC_LIE_STRIDED);
}

/* ---- any number of rows ---- */

/* The tile that fits the columns. */
static void call_tile(GemmEmit *g, const LlValue *tiles, LlValue *args)
{
    Ll *ll = &g->ll;
    LlBlock done = ll_new_block(ll, "");
    for (int width = GEMM_ONE_VECTOR; width < GEMM_PANEL; width++) {
        LlValue room = ll_i64(ll, g->lanes * g->vectors[width]);
        LlIf fits = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntSLE, args[COLUMNS], room, ""));
        gemm_call(g, tiles[width], PARAMS, args);
        LLVMBuildBr(ll->builder, done);
        ll_at_block(ll, fits.done);
    }
    gemm_call(g, tiles[GEMM_PANEL], PARAMS, args);
    LLVMBuildBr(ll->builder, done);
    ll_at_block(ll, done);
}

/* while (rows >= height) { tile; rows -= height; a, c a tile further } for each height */
LlValue gemm_tile_rows(GemmEmit *g, GemmTiles tiles)
{
    static const int strides[] = {A_ROW, A_K, B_K, C_ROW};
    LlValue x[PARAMS];
    LlValue function = gemm_open(g, "rows", PARAMS, POINTERS, x);
    for (int i = 0; i < 4; i++)
        x[strides[i]] = gemm_times(g, x[strides[i]], gemm_bytes(g));
    for (int h = 0; h < TFC_HEIGHTS && g->form.heights[h]; h++) {
        LlValue height = ll_i64(&g->ll, g->form.heights[h]);
        Carried carried = {.values = {&x[A], &x[C]}, .n = 2};
        open_while(g, &carried, &x[ROWS], height);
        call_tile(g, tiles[h], x);
        x[ROWS] = gemm_sub(g, x[ROWS], height);
        x[A] = gemm_byte(g, x[A], gemm_mul(g, x[A_ROW], height));
        x[C] = gemm_byte(g, x[C], gemm_mul(g, x[C_ROW], height));
        close_while(g, &carried);
    }
    gemm_return(g);
    return function;
}
