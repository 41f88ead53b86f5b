/* Products of bf16 by AMX. A tile register holds 16 rows of 64 bytes:
 *
 *   of a   16 rows, 16 pairs along k each, read in place where rows are contiguous along k
 *   of b   16 rows of pairs, 16 columns each: a quarter of a panel's width
 *   of c   16 × 16 sums in f32
 *
 * tdpbf16ps adds a·b to c, 8,192 multiplications. Four registers of c are held over the whole
 * sum; two of a and two of b are read for four products. Rows of a stay in the first-level cache,
 * which loads of b bypass (tileloaddt1). Registers are stored straight into c if c is overwritten
 * and has all their rows and columns; else into memory, from where vectors go to c as other tiles
 * store theirs. */
#include "codegen/emit/gemm/gemm.h"

#include <assert.h>
#include <stdio.h>

/* SPAN: registers of a, and of b, that are multiplied together. */
enum { SPAN = 2 };

/* ---- registers ---- */

static LoValue number(GemmEmit *g, int n) { return lo_int(&g->lo, lo_i8, n); }
static LoValue c_register(GemmEmit *g, int row, int column)
{
    return number(g, row * SPAN + column);
}
static LoValue a_register(GemmEmit *g, int row) { return number(g, SPAN * SPAN + row); }
static LoValue b_register(GemmEmit *g, int column)
{
    return number(g, SPAN * SPAN + SPAN + column);
}

/* ---- tiles ---- */

typedef struct Tile {
    int rows, columns; /* registers of a, of b */
    LoValue x[ARGS];
    LoValue sums; /* where the registers of c are stored */
} Tile;

/* The sums of 16 pairs of terms more, from pair `pair` on. */
static void add_pairs(GemmEmit *g, const Tile *t, LoValue pair)
{
    Lo *lo = &g->lo;
    LoValue a = gemm_at(g, t->x[ARG_A], pair);
    LoValue b = gemm_at(g, t->x[ARG_B], gemm_times(g, pair, gemm_columns(g)));
    LoValue pitch = lo_i64_of(lo, (int64_t)gemm_columns(g) * gemm_bytes(g));
    for (int c = 0; c < t->columns; c++)
        lo_tile(&g->lo, LO_tile_stream, 3,
                (LoValue[]){b_register(g, c), gemm_at(g, b, lo_i64_of(lo, c * AMX_LANES)), pitch});
    for (int r = 0; r < t->rows; r++) {
        LoValue at = gemm_byte(g, a, gemm_times(g, t->x[ARG_A_ROW], r * AMX_LINES));
        lo_tile(&g->lo, LO_tile_load, 3, (LoValue[]){a_register(g, r), at, t->x[ARG_A_ROW]});
        for (int c = 0; c < t->columns; c++)
            lo_tile(&g->lo, LO_tile_dot, 3,
                    (LoValue[]){c_register(g, r, c), a_register(g, r), b_register(g, c)});
    }
}

/* The registers of c, rows of `pitch` bytes from `at` on. */
static void store_registers(GemmEmit *g, const Tile *t, LoValue at, LoValue pitch)
{
    Lo *lo = &g->lo;
    for (int r = 0; r < t->rows; r++)
        for (int c = 0; c < t->columns; c++) {
            LoValue to = gemm_byte(g, at, gemm_times(g, pitch, r * AMX_LINES));
            lo_tile(&g->lo, LO_tile_store, 3,
                    (LoValue[]){c_register(g, r, c), gemm_byte(g, to, lo_i64_of(lo, c * AMX_BYTES)),
                                pitch});
        }
}

/* Straight into c, if that is stored over and has all rows and columns of the registers. */
static void store_whole(GemmEmit *g, const Tile *t)
{
    Lo *lo = &g->lo;
    LoValue over = lo_eq(lo, t->x[ARG_STORE], lo_i64_of(lo, TFC_STORE_OVERWRITE));
    LoValue high = lo_ge(lo, t->x[ARG_ROWS], lo_i64_of(lo, t->rows * AMX_LINES));
    LoValue broad = lo_ge(lo, t->x[ARG_COLUMNS], lo_i64_of(lo, t->columns * AMX_LANES));
    LoValue whole = lo_and(lo, over, lo_and(lo, high, broad));
    LoIf here = lo_if_open(lo, whole);
    store_registers(g, t, t->x[ARG_C], t->x[ARG_C_ROW]);
    gemm_return(g);
    lo_if_close(lo, &here);
}

static void store_rows(GemmEmit *g, const Tile *t, TfcStore store)
{
    Lo *lo = &g->lo;
    LoType unit = store == TFC_STORE_ROUNDED ? lo_i16 : g->sum;
    LoValue zero = lo_i64_of(lo, 0),
            end = lo_min(lo, t->x[ARG_ROWS], lo_i64_of(lo, t->rows * AMX_LINES));
    LoLoop rows = lo_for_open(lo, zero, end, 1, "store");
    LoValue to = gemm_byte(g, t->x[ARG_C], gemm_mul(g, rows.index, t->x[ARG_C_ROW]));
    LoValue from = gemm_byte(g, t->sums, gemm_times(g, rows.index, SPAN * AMX_BYTES));
    LoVector vector = {.lanes = AMX_LANES, .jam = (uint8_t)t->columns, .whole = true};
    LoLoop columns =
        lo_vector_open(lo, zero, lo_i64_of(lo, t->columns * AMX_LANES), vector, "columns");
    LoValue sum = lo_load(lo, g->sum, lo_at(lo, g->sum, from, columns.index), gemm_bytes(g));
    LoValue there = gemm_is_below(g, columns.index, t->x[ARG_COLUMNS]);
    gemm_store(g, sum, lo_at(lo, unit, to, columns.index), store, there, there);
    lo_for_close(lo, &columns);
    lo_for_close(lo, &rows);
}

static void store_if(GemmEmit *g, const Tile *t, TfcStore store)
{
    Lo *lo = &g->lo;
    LoValue asked = lo_eq(lo, t->x[ARG_STORE], lo_i64_of(lo, store));
    LoIf here = lo_if_open(lo, asked);
    store_rows(g, t, store);
    lo_if_close(lo, &here);
}

/* A TfcTile of rows and columns that so many registers hold, or fewer. */
static LoFunction *amx_tile(GemmEmit *g, int rows, int columns)
{
    Lo *lo = &g->lo;
    char part[32];
    snprintf(part, sizeof part, "tile_amx%dx%d", rows, columns);
    Tile t = {.rows = rows, .columns = columns};
    LoFunction *function = gemm_open(g, part, ARGS, ARG_POINTERS, t.x);
    t.sums = lo_scratch(lo, g->sum, SPAN * AMX_LINES * SPAN * AMX_LANES, AMX_BYTES, "sums");
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            lo_tile(&g->lo, LO_tile_zero, 1, (LoValue[]){c_register(g, r, c)});
    LoLoop pairs = lo_for_open(lo, lo_i64_of(lo, 0), t.x[ARG_K], AMX_LINES, "pairs");
    add_pairs(g, &t, pairs.index);
    lo_for_close(lo, &pairs);
    store_whole(g, &t);
    store_registers(g, &t, t.sums, lo_i64_of(lo, SPAN * AMX_BYTES));
    for (TfcStore store = TFC_STORE_OVERWRITE; store <= TFC_STORE_ROUNDED; store++)
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
static LoValue load_term(GemmEmit *g, const LoValue *x, LoValue from, LoValue term, LoValue mask)
{
    Lo *lo = &g->lo;
    LoValue there = lo_lt(lo, term, x[P_K]);
    mask = lo_and(lo, mask, lo_splat(lo, there, AMX_LANES));
    LoValue at = gemm_source(g, from, gemm_mul(g, term, x[P_X_K]));
    LoValue halves = lo_masked_load(lo, lo_vector(lo_i16, AMX_LANES), at, mask, 2);
    return lo_zext(lo, halves, lo_vector(lo_i32, AMX_LANES));
}

/* 16 pairs of 16 rows from `row` on; rows that x has not are written, too. */
static void transpose_square(GemmEmit *g, const LoValue *x, LoValue row, LoValue term)
{
    Lo *lo = &g->lo;
    LoValue pairs[GEMM_MAX_LANES], from = gemm_source(g, x[P_X], row);
    LoValue mask = lo_lanes_below(lo, gemm_sub(g, x[P_ROWS], row), 0, AMX_LANES);
    for (int i = 0; i < AMX_LANES; i++) {
        LoValue high = load_term(g, x, from, gemm_plus(g, term, 2 * i + 1), mask);
        high = lo_shl(lo, high, lo_int(lo, lo_type(high), 16));
        LoValue low = load_term(g, x, from, gemm_plus(g, term, 2 * i), mask);
        pairs[i] = lo_or(lo, low, high);
    }
    gemm_transpose(g, pairs);
    for (int i = 0; i < AMX_LANES; i++) {
        LoValue to = gemm_byte(g, x[P_OUT], gemm_mul(g, gemm_plus(g, row, i), x[P_PITCH]));
        lo_store(lo, pairs[i], gemm_source(g, to, term), 2);
    }
}

LoFunction *gemm_amx_transpose_rows(GemmEmit *g)
{
    Lo *lo = &g->lo;
    LoValue x[P_PARAMS];
    LoFunction *function = gemm_open(g, "transpose_rows", P_PARAMS, 1 << P_X | 1 << P_OUT, x);
    LoLoop terms = lo_for_open(lo, lo_i64_of(lo, 0), x[P_K], TFC_PAIRS_K, "terms");
    LoLoop rows = lo_for_open(lo, lo_i64_of(lo, 0), x[P_ROWS], AMX_LINES, "transpose");
    transpose_square(g, x, rows.index, terms.index);
    lo_for_close(lo, &rows);
    lo_for_close(lo, &terms);
    gemm_return(g);
    return function;
}
