/* Products of bf16 by AMX. A tile register holds 16 rows of 64 bytes:
 *
 *   of a   16 rows, 16 pairs along k each, as they lie where rows lie along k
 *   of b   16 rows of pairs, 16 columns each: a quarter of a panel's width
 *   of c   16 × 16 sums in f32
 *
 * tdpbf16ps adds a·b to c, 8,192 multiplications. Four registers of c are held over the whole
 * sum, two of a and two of b read for four products. Rows of a stay in the first-level cache,
 * which b passes by (tileloaddt1). The sums go straight to c if it has them all and takes them as
 * they are, else by way of memory, vector by vector as other tiles store theirs. */
#include "codegen/emit/gemm.h"

#include <assert.h>
#include <stdio.h>

/* SPAN: registers of a, and of b, that are multiplied together. */
enum { SPAN = 2 };

/* ---- registers ---- */

static void use_register(GemmEmit *g, const char *name, int n_args, LlValue *args)
{
    ll_intrinsic(&g->ll, name, 0, NULL, n_args, args);
}

static LlValue number(GemmEmit *g, int n) { return ll_int(g->ll.i8, n); }
static LlValue c_register(GemmEmit *g, int row, int column)
{
    return number(g, row * SPAN + column);
}
static LlValue a_register(GemmEmit *g, int row) { return number(g, SPAN * SPAN + row); }
static LlValue b_register(GemmEmit *g, int column)
{
    return number(g, SPAN * SPAN + SPAN + column);
}

/* ---- tiles ---- */

typedef struct Tile {
    int rows, columns; /* registers of a, of b */
    LlValue x[ARGS];
    LlValue sums; /* where the registers of c are stored */
} Tile;

/* The sums of 16 pairs of terms more, from pair `pair` on. */
static void add_pairs(GemmEmit *g, const Tile *t, LlValue pair)
{
    Ll *ll = &g->ll;
    LlValue a = gemm_at(g, t->x[ARG_A], pair);
    LlValue b = gemm_at(g, t->x[ARG_B], gemm_times(g, pair, gemm_columns(g)));
    LlValue pitch = ll_i64(ll, (int64_t)gemm_columns(g) * gemm_bytes(g));
    for (int c = 0; c < t->columns; c++)
        use_register(
            g, "llvm.x86.tileloaddt164", 3,
            (LlValue[]){b_register(g, c), gemm_at(g, b, ll_i64(ll, c * AMX_LANES)), pitch});
    for (int r = 0; r < t->rows; r++) {
        LlValue at = gemm_byte(g, a, gemm_times(g, t->x[ARG_A_ROW], r * AMX_LINES));
        use_register(g, "llvm.x86.tileloadd64", 3,
                     (LlValue[]){a_register(g, r), at, t->x[ARG_A_ROW]});
        for (int c = 0; c < t->columns; c++)
            use_register(g, "llvm.x86.tdpbf16ps", 3,
                         (LlValue[]){c_register(g, r, c), a_register(g, r), b_register(g, c)});
    }
}

/* The registers of c, rows of `pitch` bytes from `at` on. */
static void store_registers(GemmEmit *g, const Tile *t, LlValue at, LlValue pitch)
{
    Ll *ll = &g->ll;
    for (int r = 0; r < t->rows; r++)
        for (int c = 0; c < t->columns; c++) {
            LlValue to = gemm_byte(g, at, gemm_times(g, pitch, r * AMX_LINES));
            use_register(g, "llvm.x86.tilestored64", 3,
                         (LlValue[]){c_register(g, r, c),
                                     gemm_byte(g, to, ll_i64(ll, c * AMX_BYTES)), pitch});
        }
}

/* Straight into c, if that is stored over and has all rows and columns of the registers. */
static void store_whole(GemmEmit *g, const Tile *t)
{
    Ll *ll = &g->ll;
    LlValue over =
        LLVMBuildICmp(ll->builder, LLVMIntEQ, t->x[ARG_STORE], ll_i64(ll, TFC_STORE_OVER), "");
    LlValue high =
        LLVMBuildICmp(ll->builder, LLVMIntSGE, t->x[ARG_ROWS], ll_i64(ll, t->rows * AMX_LINES), "");
    LlValue broad = LLVMBuildICmp(ll->builder, LLVMIntSGE, t->x[ARG_COLUMNS],
                                  ll_i64(ll, t->columns * AMX_LANES), "");
    LlValue whole = LLVMBuildAnd(ll->builder, over, LLVMBuildAnd(ll->builder, high, broad, ""), "");
    LlIf here = ll_if_open(ll, whole);
    store_registers(g, t, t->x[ARG_C], t->x[ARG_C_ROW]);
    gemm_return(g);
    ll_at_block(ll, here.done);
}

static void store_rows(GemmEmit *g, const Tile *t, TfcStore store)
{
    Ll *ll = &g->ll;
    LlType vector = ll_vector(g->sum, AMX_LANES);
    LlType unit = store == TFC_STORE_ROUNDED ? ll->i16 : g->sum;
    LlValue masks[SPAN];
    for (int c = 0; c < t->columns; c++)
        masks[c] = ll_lanes_below(ll, t->x[ARG_COLUMNS], c * AMX_LANES, AMX_LANES);
    LlValue end = ll_min(ll, t->x[ARG_ROWS], ll_i64(ll, t->rows * AMX_LINES));
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), end, 1, "store");
    LlValue to = gemm_byte(g, t->x[ARG_C], gemm_mul(g, rows.index, t->x[ARG_C_ROW]));
    LlValue from = gemm_byte(g, t->sums, gemm_times(g, rows.index, SPAN * AMX_BYTES));
    for (int c = 0; c < t->columns; c++) {
        LlValue sum = ll_load(ll, vector, gemm_byte(g, from, ll_i64(ll, c * AMX_BYTES)), AMX_BYTES);
        gemm_store(g, sum, ll_gep(ll, unit, to, ll_i64(ll, c * AMX_LANES)), store, masks[c],
                   masks[c]);
    }
    ll_loop_close(ll, &rows);
}

static void store_if(GemmEmit *g, const Tile *t, TfcStore store)
{
    Ll *ll = &g->ll;
    LlValue asked = LLVMBuildICmp(ll->builder, LLVMIntEQ, t->x[ARG_STORE], ll_i64(ll, store), "");
    LlIf here = ll_if_open(ll, asked);
    store_rows(g, t, store);
    ll_if_close(ll, &here);
}

/* A TfcTile of rows and columns that so many registers hold, or fewer. */
static LlValue amx_tile(GemmEmit *g, int rows, int columns)
{
    Ll *ll = &g->ll;
    char part[32];
    snprintf(part, sizeof part, "tile_amx%dx%d", rows, columns);
    Tile t = {.rows = rows, .columns = columns};
    LlValue function = gemm_open(g, part, ARGS, ARG_POINTERS, t.x);
    t.sums = ll_alloca(ll, ll_vector(g->sum, SPAN * AMX_LINES * SPAN * AMX_LANES), "sums");
    LLVMSetAlignment(t.sums, AMX_BYTES);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            use_register(g, "llvm.x86.tilezero", 1, (LlValue[]){c_register(g, r, c)});
    LlLoop pairs = ll_loop_open(ll, ll_i64(ll, 0), t.x[ARG_K], AMX_LINES, "pairs");
    add_pairs(g, &t, pairs.index);
    ll_loop_close(ll, &pairs);
    store_whole(g, &t);
    store_registers(g, &t, t.sums, ll_i64(ll, SPAN * AMX_BYTES));
    for (TfcStore store = TFC_STORE_OVER; store <= TFC_STORE_ROUNDED; store++)
        store_if(g, &t, store);
    gemm_return(g);
    return function;
}

void gemm_amx_tiles(GemmEmit *g, GemmTiles tiles)
{
    assert(g->lanes == AMX_LANES && g->form.rows == SPAN * AMX_LINES);
    for (int h = 0; h < SPAN; h++)
        for (int w = 0; w < SPAN; w++)
            tiles[h][w] = amx_tile(g, (int)g->form.heights[h] / AMX_LINES, w + 1);
}

/* ---- rows of a that lie beside each other: squares of pairs are transposed ---- */

/* The parameters of a TfcTransposeRows. */
enum { P_K, P_X, P_X_K, P_ROWS, P_OUT, P_PITCH, P_PARAMS };

/* Term `term` of 16 rows that lie beside each other, as i32; zeros past the last. */
static LlValue load_term(GemmEmit *g, const LlValue *x, LlValue from, LlValue term, LlValue mask)
{
    Ll *ll = &g->ll;
    LlValue there = LLVMBuildICmp(ll->builder, LLVMIntSLT, term, x[P_K], "");
    mask = LLVMBuildAnd(ll->builder, mask, ll_splat(ll, there, AMX_LANES), "");
    LlValue at = gemm_source(g, from, gemm_mul(g, term, x[P_X_K]));
    LlValue halves = ll_masked_load(ll, ll_vector(ll->i16, AMX_LANES), at, mask, 2);
    return LLVMBuildZExt(ll->builder, halves, ll_vector(ll->i32, AMX_LANES), "");
}

/* 16 pairs of 16 rows from `row` on; rows that x has not are written, too. */
static void transpose_square(GemmEmit *g, const LlValue *x, LlValue row, LlValue term)
{
    Ll *ll = &g->ll;
    LlValue pairs[GEMM_MAX_LANES], from = gemm_source(g, x[P_X], row);
    LlValue mask = ll_lanes_below(ll, gemm_sub(g, x[P_ROWS], row), 0, AMX_LANES);
    for (int i = 0; i < AMX_LANES; i++) {
        LlValue high = load_term(g, x, from, gemm_plus(g, term, 2 * i + 1), mask);
        high = LLVMBuildShl(ll->builder, high, ll_int(LLVMTypeOf(high), 16), "");
        LlValue low = load_term(g, x, from, gemm_plus(g, term, 2 * i), mask);
        pairs[i] = LLVMBuildOr(ll->builder, low, high, "");
    }
    gemm_transpose(g, pairs);
    for (int i = 0; i < AMX_LANES; i++) {
        LlValue to = gemm_byte(g, x[P_OUT], gemm_mul(g, gemm_plus(g, row, i), x[P_PITCH]));
        ll_store(ll, pairs[i], gemm_source(g, to, term), 2);
    }
}

LlValue gemm_amx_transpose_rows(GemmEmit *g)
{
    Ll *ll = &g->ll;
    LlValue x[P_PARAMS];
    LlValue function = gemm_open(g, "transpose_rows", P_PARAMS, 1 << P_X | 1 << P_OUT, x);
    LlLoop terms = ll_loop_open(ll, ll_i64(ll, 0), x[P_K], TFC_PAIRS_K, "terms");
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), x[P_ROWS], AMX_LINES, "transpose");
    transpose_square(g, x, rows.index, terms.index);
    ll_loop_close(ll, &rows);
    ll_loop_close(ll, &terms);
    gemm_return(g);
    return function;
}
