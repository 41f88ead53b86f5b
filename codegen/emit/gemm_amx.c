/* Products of bf16 by AMX. A tile register holds 16 rows of 64 bytes:
 *
 *   of a   16 rows, 16 pairs along k each, as they lie where rows lie along k
 *   of b   16 rows of pairs, 16 columns each: a quarter of a panel's width
 *   of c   16 × 16 sums in f32
 *
 * tdpbf16ps adds a·b to c, 8,192 multiplications. Four registers of c are held over the
 * whole sum, two of a and two of b read for four products. Rows of a stay in the first-level
 * cache, which b passes by (tileloaddt1). The sums go straight to c if it has them all and
 * takes them as they are, else by way of memory, vector by vector as other tiles put theirs. */
#include "codegen/emit/gemm.h"

#include <assert.h>
#include <stdio.h>

/* SPAN: registers of a, and of b, that are multiplied together. */
enum { SPAN = 2, REGISTERS = 8 };

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

void gemm_amx_begin(GemmEmit *g)
{
    enum { PALETTE = 0, BYTES_AT = 16, ROWS_AT = 48, SIZE = 64 };
    Ll *ll = &g->ll;
    LlValue bytes[SIZE];
    for (int i = 0; i < SIZE; i++)
        bytes[i] = ll_int(ll->i8, i == PALETTE);
    for (int r = 0; r < REGISTERS; r++) {
        bytes[BYTES_AT + 2 * r] = ll_int(ll->i8, AMX_BYTES); /* of 16 bits the lower 8 */
        bytes[ROWS_AT + r] = ll_int(ll->i8, AMX_LINES);
    }
    LlValue slot = ll_alloca(ll, ll_vector(ll->i8, SIZE), "registers");
    ll_store(ll, LLVMConstVector(bytes, SIZE), slot, 1);
    use_register(g, "llvm.x86.ldtilecfg", 1, &slot);
}

void gemm_amx_end(GemmEmit *g) { use_register(g, "llvm.x86.tilerelease", 0, NULL); }

/* ---- tiles ---- */

typedef struct Tile {
    int rows, columns; /* registers of a, of b */
    LlValue k, a, a_row, b, c, c_row, n_columns, put, n_rows;
    LlValue sums; /* where the registers of c are stored */
} Tile;

static LlValue bytes_from(GemmEmit *g, LlValue pointer, LlValue bytes)
{
    return ll_gep(&g->ll, g->ll.i8, pointer, bytes);
}

/* The sums of 16 pairs of terms more, from pair `pair` on. */
static void add_pairs(GemmEmit *g, const Tile *t, LlValue pair)
{
    Ll *ll = &g->ll;
    LlValue a = gemm_at(g, t->a, pair);
    LlValue b = gemm_at(g, t->b, gemm_mul(g, pair, ll_i64(ll, gemm_columns(g))));
    LlValue pitch = ll_i64(ll, (int64_t)gemm_columns(g) * g->bytes);
    for (int c = 0; c < t->columns; c++)
        use_register(
            g, "llvm.x86.tileloaddt164", 3,
            (LlValue[]){b_register(g, c), gemm_at(g, b, ll_i64(ll, c * AMX_LANES)), pitch});
    for (int r = 0; r < t->rows; r++) {
        LlValue at = bytes_from(g, a, gemm_mul(g, t->a_row, ll_i64(ll, r * AMX_LINES)));
        use_register(g, "llvm.x86.tileloadd64", 3, (LlValue[]){a_register(g, r), at, t->a_row});
        for (int c = 0; c < t->columns; c++)
            use_register(g, "llvm.x86.tdpbf16ps", 3,
                         (LlValue[]){c_register(g, r, c), a_register(g, r), b_register(g, c)});
    }
}

static LlValue sums_at(GemmEmit *g, const Tile *t, LlValue row, int column)
{
    Ll *ll = &g->ll;
    LlValue at = ll_gep(ll, g->sum, t->sums, gemm_mul(g, row, ll_i64(ll, SPAN * AMX_LANES)));
    return ll_gep(ll, g->sum, at, ll_i64(ll, column * AMX_LANES));
}

/* The registers of c, rows of `row` sums from `at` on. */
static void store_sums(GemmEmit *g, const Tile *t, LlValue at, LlValue row)
{
    Ll *ll = &g->ll;
    LlValue bytes = gemm_mul(g, row, ll_i64(ll, g->bytes));
    for (int r = 0; r < t->rows; r++)
        for (int c = 0; c < t->columns; c++) {
            LlValue from = ll_gep(ll, g->sum, at, gemm_mul(g, row, ll_i64(ll, r * AMX_LINES)));
            from = ll_gep(ll, g->sum, from, ll_i64(ll, c * AMX_LANES));
            use_register(g, "llvm.x86.tilestored64", 3,
                         (LlValue[]){c_register(g, r, c), from, bytes});
        }
}

/* Straight into c, if that is put over and has all rows and columns of the registers. */
static void store_whole(GemmEmit *g, const Tile *t)
{
    Ll *ll = &g->ll;
    LlValue over = LLVMBuildICmp(ll->builder, LLVMIntEQ, t->put, ll_i64(ll, TFC_PUT_OVER), "");
    LlValue high =
        LLVMBuildICmp(ll->builder, LLVMIntSGE, t->n_rows, ll_i64(ll, t->rows * AMX_LINES), "");
    LlValue broad = LLVMBuildICmp(ll->builder, LLVMIntSGE, t->n_columns,
                                  ll_i64(ll, t->columns * AMX_LANES), "");
    LlValue whole = LLVMBuildAnd(ll->builder, over, LLVMBuildAnd(ll->builder, high, broad, ""), "");
    LlIf here = ll_if_open(ll, whole);
    store_sums(g, t, t->c, LLVMBuildLShr(ll->builder, t->c_row, ll_i64(ll, 1), ""));
    gemm_return(g);
    ll_at_block(ll, here.done);
}

/* One vector of sums to c as `put` says. */
static void put_vector(GemmEmit *g, LlValue sum, LlValue row, int column, LlValue mask, TfcPut put)
{
    Ll *ll = &g->ll;
    LlValue from = ll_i64(ll, column * AMX_LANES);
    if (put == TFC_PUT_ROUNDED) {
        LlValue bits = ll_bf16_bits(ll, ll_bf16_round(ll, sum));
        ll_masked_store(ll, bits, ll_gep(ll, ll->i16, row, from), mask, 2);
        return;
    }
    LlValue at = ll_gep(ll, g->sum, row, from);
    if (put == TFC_PUT_ADD)
        sum = ll_fadd(ll, ll_masked_load(ll, ll_vector(g->sum, AMX_LANES), at, mask, 4), sum);
    ll_masked_store(ll, sum, at, mask, 4);
}

static void put_rows(GemmEmit *g, const Tile *t, TfcPut put)
{
    Ll *ll = &g->ll;
    LlType vector = ll_vector(g->sum, AMX_LANES);
    LlValue masks[SPAN];
    for (int c = 0; c < t->columns; c++)
        masks[c] = ll_lanes_below(ll, t->n_columns, c * AMX_LANES, AMX_LANES);
    LlLoop rows = ll_loop_open(ll, ll_i64(ll, 0), t->n_rows, 1, "put");
    LlValue row = gemm_unit(g, t->c, gemm_mul(g, rows.index, t->c_row));
    for (int c = 0; c < t->columns; c++) {
        LlValue sum = ll_load(ll, vector, sums_at(g, t, rows.index, c), AMX_BYTES);
        put_vector(g, sum, row, c, masks[c], put);
    }
    ll_loop_close(ll, &rows);
}

static void put_if(GemmEmit *g, const Tile *t, TfcPut put)
{
    Ll *ll = &g->ll;
    LlValue asked = LLVMBuildICmp(ll->builder, LLVMIntEQ, t->put, ll_i64(ll, put), "");
    LlIf here = ll_if_open(ll, asked);
    put_rows(g, t, put);
    ll_if_close(ll, &here);
}

/* void (k, a, a_row, b, c, c_row, columns, put, rows): as gemm_tile, of rows and columns
 * that so many registers hold; a_row in bytes. */
static LlValue amx_tile(GemmEmit *g, int rows, int columns)
{
    Ll *ll = &g->ll;
    char part[32];
    snprintf(part, sizeof part, "tile_amx%dx%d", rows, columns);
    LlValue function = gemm_open(g, part, 9, 1 << 1 | 1 << 3 | 1 << 4, true);
    Tile t = {.rows = rows, .columns = columns};
    LlValue *const params[] = {&t.k,     &t.a,         &t.a_row, &t.b,     &t.c,
                               &t.c_row, &t.n_columns, &t.put,   &t.n_rows};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        *params[i] = LLVMGetParam(function, i);
    t.sums = ll_alloca(ll, ll_vector(g->sum, SPAN * AMX_LINES * SPAN * AMX_LANES), "sums");
    LLVMSetAlignment(t.sums, AMX_BYTES);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            use_register(g, "llvm.x86.tilezero", 1, (LlValue[]){c_register(g, r, c)});
    LlLoop pairs = ll_loop_open(ll, ll_i64(ll, 0), t.k, AMX_LINES, "pairs");
    add_pairs(g, &t, pairs.index);
    ll_loop_close(ll, &pairs);
    store_whole(g, &t);
    store_sums(g, &t, t.sums, ll_i64(ll, SPAN * AMX_LANES));
    for (TfcPut put = TFC_PUT_OVER; put <= TFC_PUT_ROUNDED; put++)
        put_if(g, &t, put);
    gemm_return(g);
    return function;
}

LlValue gemm_amx_rows(GemmEmit *g)
{
    enum { K, A, A_ROW, A_K, B, B_K, C, C_ROW, COLUMNS, PUT, ROWS, LIE, PARAMS };
    Ll *ll = &g->ll;
    assert(g->lanes == AMX_LANES && gemm_rows(g) == SPAN * AMX_LINES);
    LlValue tiles[SPAN][SPAN], x[PARAMS];
    for (int r = 0; r < SPAN; r++)
        for (int c = 0; c < SPAN; c++)
            tiles[r][c] = amx_tile(g, r + 1, c + 1);
    LlValue function = gemm_open(g, "rows", PARAMS, 1 << A | 1 << B | 1 << C, true);
    for (unsigned i = 0; i < PARAMS; i++)
        x[i] = LLVMGetParam(function, i);
    LlValue high = LLVMBuildICmp(ll->builder, LLVMIntSGT, x[ROWS], ll_i64(ll, AMX_LINES), "");
    LlLoop columns = ll_loop_open(ll, ll_i64(ll, 0), x[COLUMNS], SPAN * AMX_LANES, "columns");
    LlValue left = LLVMBuildNSWSub(ll->builder, x[COLUMNS], columns.index, "");
    LlValue broad = LLVMBuildICmp(ll->builder, LLVMIntSGT, left, ll_i64(ll, AMX_LANES), "");
    LlValue few = LLVMBuildSelect(ll->builder, high, tiles[1][0], tiles[0][0], "");
    LlValue many = LLVMBuildSelect(ll->builder, high, tiles[1][1], tiles[0][1], "");
    LlValue tile = LLVMBuildSelect(ll->builder, broad, many, few, "");
    LlValue c_units =
        LLVMBuildICmp(ll->builder, LLVMIntEQ, x[PUT], ll_i64(ll, TFC_PUT_ROUNDED), "");
    c_units = LLVMBuildSelect(ll->builder, c_units, ll_i64(ll, 1), ll_i64(ll, 2), "");
    LLVMBuildCall2(ll->builder, LLVMGlobalGetValueType(tiles[0][0]), tile,
                   (LlValue[]){x[K], x[A], x[A_ROW], gemm_at(g, x[B], columns.index),
                               gemm_unit(g, x[C], gemm_mul(g, columns.index, c_units)), x[C_ROW],
                               left, x[PUT], x[ROWS]},
                   9, "");
    ll_loop_close(ll, &columns);
    gemm_return(g);
    return function;
}
