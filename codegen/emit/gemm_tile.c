/* Tiles: height × vectors accumulators, held in registers over the whole sum. */
#include "codegen/emit/gemm.h"

#include <stdio.h>

/* Every third row has a pointer of its own; the two after it are reached by adding
 * the row stride once and twice, which an address does for nothing. */
enum { ROWS_A_POINTER = 3, MAX_POINTERS = (GEMM_MAX_ROWS + 2) / 3 };

typedef struct Tile {
    int height, vectors, pointers;
    GemmLie lie;
    LlValue k, a, a_row, a_k, b, b_k, c, c_row, columns, put;
    LlValue twice;            /* 2 × a_row */
    LlValue at[MAX_POINTERS]; /* into a, at the next term */
    LlValue sums[GEMM_MAX_ROWS][GEMM_MAX_VECTORS];
} Tile;

static void read_params(GemmEmit *g, LlValue function, Tile *tile)
{
    LlValue *const params[] = {&tile->k,   &tile->a, &tile->a_row, &tile->a_k,     &tile->b,
                               &tile->b_k, &tile->c, &tile->c_row, &tile->columns, &tile->put};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    if (tile->lie != GEMM_STRIDED)
        tile->b_k = ll_i64(&g->ll, gemm_columns(g));
    if (tile->lie == GEMM_PACKED)
        tile->a_k = ll_i64(&g->ll, gemm_rows(g));
    if (tile->lie == GEMM_BY_ROWS)
        tile->a_k = ll_i64(&g->ll, 1);
    tile->twice = LLVMBuildShl(g->ll.builder, tile->a_row, ll_i64(&g->ll, 1), "");
}

/* Zero sums, and pointers at the first term. */
static void start_sums(GemmEmit *g, Tile *tile)
{
    LlType vector = ll_vector(g->sum, g->lanes);
    LlValue step = LLVMBuildNSWAdd(g->ll.builder, tile->a_row, tile->twice, "");
    tile->at[0] = tile->a;
    for (int p = 1; p < tile->pointers; p++)
        tile->at[p] = gemm_at(g, tile->at[p - 1], step);
    for (int r = 0; r < tile->height; r++)
        for (int v = 0; v < tile->vectors; v++)
            tile->sums[r][v] = LLVMConstNull(vector);
}

static LlValue row_address(GemmEmit *g, const Tile *tile, int row)
{
    if (tile->lie == GEMM_PACKED)
        return gemm_at(g, tile->at[0], ll_i64(&g->ll, row));
    int offset = row % ROWS_A_POINTER;
    LlValue pointer = tile->at[row / ROWS_A_POINTER];
    return offset == 0 ? pointer : gemm_at(g, pointer, offset == 1 ? tile->a_row : tile->twice);
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
static void add_term(GemmEmit *g, Tile *tile)
{
    Ll *ll = &g->ll;
    LlType vector = ll_vector(g->element, g->lanes);
    LlValue right[GEMM_MAX_VECTORS];
    for (int v = 0; v < tile->vectors; v++) {
        LlValue at = gemm_at(g, tile->b, ll_i64(ll, v * g->lanes));
        right[v] = ll_load(ll, vector, at, (unsigned)g->bytes);
    }
    for (int r = 0; r < tile->height; r++) {
        LlValue scalar = ll_load(ll, g->element, row_address(g, tile, r), (unsigned)g->bytes);
        LlValue left = ll_splat(ll, scalar, g->lanes);
        for (int v = 0; v < tile->vectors; v++)
            tile->sums[r][v] = g->joined ? add_pairs(g, left, right[v], tile->sums[r][v])
                                         : ll_muladd(ll, left, right[v], tile->sums[r][v]);
    }
}

/* What a loop carries: the pointers and the sums. */
typedef struct Carried {
    LlValue *values[3 + MAX_POINTERS + GEMM_MAX_ROWS * GEMM_MAX_VECTORS];
    LlValue phis[3 + MAX_POINTERS + GEMM_MAX_ROWS * GEMM_MAX_VECTORS];
    int n;
} Carried;

static Carried carried_by(Tile *tile)
{
    Carried carried = {.n = 0};
    carried.values[carried.n++] = &tile->b;
    for (int p = 0; p < tile->pointers; p++)
        carried.values[carried.n++] = &tile->at[p];
    for (int r = 0; r < tile->height; r++)
        for (int v = 0; v < tile->vectors; v++)
            carried.values[carried.n++] = &tile->sums[r][v];
    return carried;
}

/* Each value becomes a phi of what it is now, coming from `before`. */
static void open_phis(GemmEmit *g, Carried *carried, LlBlock before)
{
    for (int i = 0; i < carried->n; i++) {
        LlValue start = *carried->values[i];
        carried->phis[i] = LLVMBuildPhi(g->ll.builder, LLVMTypeOf(start), "");
        LLVMAddIncoming(carried->phis[i], &start, &before, 1);
        *carried->values[i] = carried->phis[i];
    }
}

/* … and of what it is now, coming from `after`. */
static void close_phis(Carried *carried, LlBlock after)
{
    for (int i = 0; i < carried->n; i++)
        LLVMAddIncoming(carried->phis[i], carried->values[i], &after, 1);
}

/* While `steps` terms are left of *left: those. */
static void sum_terms(GemmEmit *g, Tile *tile, int steps, LlValue *left)
{
    Ll *ll = &g->ll;
    LlValue step = ll_i64(ll, steps);
    LlBlock before = ll->block, head = ll_new_block(ll, "terms"), body = ll_new_block(ll, "");
    LlBlock done = ll_new_block(ll, "");
    LLVMBuildBr(ll->builder, head);
    ll_at_block(ll, head);
    Carried carried = carried_by(tile);
    carried.values[carried.n++] = left;
    open_phis(g, &carried, before);
    LlValue more = LLVMBuildICmp(ll->builder, LLVMIntSGE, *left, step, "");
    LLVMBuildCondBr(ll->builder, more, body, done);
    ll_at_block(ll, body);
    for (int i = 0; i < steps; i++) {
        add_term(g, tile);
        tile->b = gemm_at(g, tile->b, tile->b_k);
        for (int p = 0; p < tile->pointers; p++)
            tile->at[p] = gemm_at(g, tile->at[p], tile->a_k);
    }
    *left = LLVMBuildNSWSub(ll->builder, *left, step, "");
    close_phis(&carried, body);
    LLVMBuildBr(ll->builder, head);
    ll_at_block(ll, done);
    for (int i = 0; i < carried.n; i++)
        *carried.values[i] = carried.phis[i];
}

/* Brings the tile of c near while its sums are formed. */
static void prefetch_c(GemmEmit *g, const Tile *tile)
{
    Ll *ll = &g->ll;
    LlValue row = tile->c,
            how[] = {NULL, ll_int(ll->i32, 1), ll_int(ll->i32, 3), ll_int(ll->i32, 1)};
    for (int r = 0; r < tile->height; r++, row = gemm_unit(g, row, tile->c_row))
        for (int v = 0; v < tile->vectors; v++) {
            how[0] = ll_gep(ll, g->sum, row, ll_i64(ll, v * g->lanes));
            ll_intrinsic(ll, "llvm.prefetch", 1, &ll->ptr, 4, how);
        }
}

/* How whole rows are put, and ones that c ends in. */
typedef enum Put { PUT_OVER, PUT_ADD, PUT_ROUNDED, PUT_MASKED, PUT_MASKED_ROUNDED } Put;

static void put_f(GemmEmit *g, LlValue sum, LlValue row, int v, Put how, LlValue stored,
                  LlValue loaded)
{
    Ll *ll = &g->ll;
    LlType vector = ll_vector(g->sum, g->lanes);
    unsigned align = (unsigned)g->bytes;
    LlValue at = ll_gep(ll, g->sum, row, ll_i64(ll, v * g->lanes));
    if (how == PUT_ADD)
        sum = ll_fadd(ll, ll_load(ll, vector, at, align), sum);
    else if (how == PUT_MASKED)
        sum = ll_fadd(ll, ll_masked_load(ll, vector, at, loaded, align), sum);
    if (how == PUT_MASKED)
        ll_masked_store(ll, sum, at, stored, align);
    else
        ll_store(ll, sum, at, align);
}

static void put_bf16(GemmEmit *g, LlValue sum, LlValue row, int v, Put how, LlValue stored)
{
    Ll *ll = &g->ll;
    LlValue bits = ll_bf16_bits(ll, ll_bf16_round(ll, sum));
    LlValue at = ll_gep(ll, ll->i16, row, ll_i64(ll, v * g->lanes));
    if (how == PUT_MASKED_ROUNDED)
        ll_masked_store(ll, bits, at, stored, 2);
    else
        ll_store(ll, bits, at, 2);
}

static void put_sums(GemmEmit *g, const Tile *tile, Put how)
{
    Ll *ll = &g->ll;
    LlValue stored[GEMM_MAX_VECTORS] = {0}, loaded[GEMM_MAX_VECTORS] = {0}, row = tile->c;
    for (int v = 0; how >= PUT_MASKED && v < tile->vectors; v++) {
        LlValue adds =
            LLVMBuildICmp(ll->builder, LLVMIntEQ, tile->put, ll_i64(ll, TFC_PUT_ADD), "");
        stored[v] = ll_lanes_below(ll, tile->columns, v * g->lanes, g->lanes);
        loaded[v] = LLVMBuildAnd(ll->builder, stored[v], ll_splat(ll, adds, g->lanes), "");
    }
    for (int r = 0; r < tile->height; r++, row = gemm_unit(g, row, tile->c_row))
        for (int v = 0; v < tile->vectors; v++)
            if (how == PUT_ROUNDED || how == PUT_MASKED_ROUNDED)
                put_bf16(g, tile->sums[r][v], row, v, how, stored[v]);
            else
                put_f(g, tile->sums[r][v], row, v, how, stored[v], loaded[v]);
}

/* Puts the sums so where that is what is asked for, and returns. */
static void put_if(GemmEmit *g, const Tile *tile, TfcPut asked, Put how)
{
    Ll *ll = &g->ll;
    LlValue condition = LLVMBuildICmp(ll->builder, LLVMIntEQ, tile->put, ll_i64(ll, asked), "");
    LlBlock yes = ll_new_block(ll, ""), no = ll_new_block(ll, "");
    LLVMBuildCondBr(ll->builder, condition, yes, no);
    ll_at_block(ll, yes);
    put_sums(g, tile, how);
    LLVMBuildRetVoid(ll->builder);
    ll_at_block(ll, no);
}

LlValue gemm_tile(GemmEmit *g, int height, int vectors, GemmLie lie)
{
    static const char *const lies[GEMM_LIES] = {"", ".packed", ".rows"};
    Ll *ll = &g->ll;
    char part[32];
    snprintf(part, sizeof part, "tile%dx%d%s", height, vectors, lies[lie]);
    LlValue function = gemm_open(g, part, 10, 1 << 1 | 1 << 4 | 1 << 6, true);
    Tile tile = {.height = height,
                 .vectors = vectors,
                 .lie = lie,
                 .pointers =
                     lie == GEMM_PACKED ? 1 : (height + ROWS_A_POINTER - 1) / ROWS_A_POINTER};
    read_params(g, function, &tile);
    start_sums(g, &tile);
    LlValue left = tile.k;
    prefetch_c(g, &tile);
    if (lie != GEMM_STRIDED && g->unrolled > 1)
        sum_terms(g, &tile, g->unrolled, &left);
    sum_terms(g, &tile, 1, &left);
    LlValue whole =
        LLVMBuildICmp(ll->builder, LLVMIntSGE, tile.columns, ll_i64(ll, vectors * g->lanes), "");
    LlIf full = ll_if_open(ll, whole);
    put_if(g, &tile, TFC_PUT_ADD, PUT_ADD);
    if (g->pairs)
        put_if(g, &tile, TFC_PUT_ROUNDED, PUT_ROUNDED);
    put_sums(g, &tile, PUT_OVER);
    gemm_return(g);
    ll_at_block(ll, full.done);
    if (g->pairs && g->lanes > 1)
        put_if(g, &tile, TFC_PUT_ROUNDED, PUT_MASKED_ROUNDED);
    if (g->lanes > 1)
        put_sums(g, &tile, PUT_MASKED);
    gemm_return(g);
    return function;
}

/* Two widths may be one. */
void gemm_tiles(GemmEmit *g)
{
    for (int h = 0; h < g->n_heights; h++)
        for (int w = 0; w < (g->heights[h] <= g->low_rows ? GEMM_WIDTHS : GEMM_WIDE); w++)
            g->tiles[h][w] = w > 0 && g->vectors[w] == g->vectors[w - 1]
                                 ? g->tiles[h][w - 1]
                                 : gemm_tile(g, g->heights[h], g->vectors[w], GEMM_STRIDED);
}

/* ---- any number of rows ---- */

/* The tile that fits the columns; whole ones of operands known to lie so have their own. */
static void call_tile(GemmEmit *g, int height, LlValue lie, LlValue *args)
{
    Ll *ll = &g->ll;
    LlBlock done = ll_new_block(ll, "");
    for (GemmWidth width = GEMM_ONE_VECTOR; width < GEMM_PANEL; width++) {
        LlValue room = ll_i64(ll, g->lanes * g->vectors[width]);
        LlIf fits = ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntSLE, args[8], room, ""));
        gemm_call(g, g->tiles[height][width], 10, args);
        LLVMBuildBr(ll->builder, done);
        ll_at_block(ll, fits.done);
    }
    if (g->tiles[height][GEMM_WIDE]) {
        LlValue more =
            LLVMBuildICmp(ll->builder, LLVMIntSGT, args[8], ll_i64(ll, gemm_columns(g)), "");
        LlIf widest = ll_if_open(ll, more);
        gemm_call(g, g->tiles[height][GEMM_WIDE], 10, args);
        LLVMBuildBr(ll->builder, done);
        ll_at_block(ll, widest.done);
    }
    for (int l = GEMM_PACKED; height == 0 && l < GEMM_LIES; l++) {
        if (!g->largest[l])
            continue;
        LlIf special =
            ll_if_open(ll, LLVMBuildICmp(ll->builder, LLVMIntEQ, lie, ll_i64(ll, l), ""));
        gemm_call(g, g->largest[l], 10, args);
        LLVMBuildBr(ll->builder, done);
        ll_at_block(ll, special.done);
    }
    gemm_call(g, g->tiles[height][GEMM_PANEL], 10, args);
    LLVMBuildBr(ll->builder, done);
    ll_at_block(ll, done);
}

/* while (rows >= height) { tile; rows -= height; a, c a tile further } for each height */
LlValue gemm_tile_rows(GemmEmit *g)
{
    Ll *ll = &g->ll;
    LlValue function = gemm_open(g, "rows", 12, 1 << 1 | 1 << 4 | 1 << 6, true), args[10];
    for (unsigned i = 0; i < 10; i++)
        args[i] = LLVMGetParam(function, i);
    LlValue rows = LLVMGetParam(function, 10), lie = LLVMGetParam(function, 11);
    for (int h = 0; h < g->n_heights; h++) {
        LlBlock before = ll->block, head = ll_new_block(ll, ""), body = ll_new_block(ll, "");
        LlBlock done = ll_new_block(ll, "");
        LLVMBuildBr(ll->builder, head);
        ll_at_block(ll, head);
        Carried carried = {.values = {&rows, &args[1], &args[6]}, .n = 3};
        open_phis(g, &carried, before);
        LlValue height = ll_i64(ll, g->heights[h]);
        LlValue more = LLVMBuildICmp(ll->builder, LLVMIntSGE, rows, height, "");
        LLVMBuildCondBr(ll->builder, more, body, done);
        ll_at_block(ll, body);
        call_tile(g, h, lie, args);
        rows = LLVMBuildNSWSub(ll->builder, rows, height, "");
        args[1] = gemm_at(g, args[1], gemm_mul(g, args[2], height));
        args[6] = gemm_unit(g, args[6], gemm_mul(g, args[7], height));
        close_phis(&carried, ll->block);
        LLVMBuildBr(ll->builder, head);
        ll_at_block(ll, done);
        rows = carried.phis[0];
        args[1] = carried.phis[1];
        args[6] = carried.phis[2];
    }
    gemm_return(g);
    return function;
}
