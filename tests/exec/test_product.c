/* The loops around tiles (runtime/product/product.c) with a form like AMX's, written in C: tiles
 * that take fewer rows than their height, panels wider than tiles, whole registers of terms, rows
 * of a read where they lie or packed as rows. So these loops are tested where no AMX is. Values are
 * small integers: sums are exact, whatever their order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bf16.h"
#include "runtime/exec/program.h"
#include "runtime/product/product.h"
#include "runtime/product/product_pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 16, COLUMNS = 64, WHOLE = 32, DEPTH = 128, GROUP = 96, BLOCK = 64 << 10 };

/* ---- the form ---- */

static float low(uint32_t pair) { return bf16_to_float((uint16_t)pair); }
static float high(uint32_t pair) { return bf16_to_float((uint16_t)(pair >> 16)); }

static uint32_t pair_at(const void *at)
{
    uint32_t pair;
    memcpy(&pair, at, sizeof pair);
    return pair;
}

static void store(void *c, int64_t column, float sum, int64_t how)
{
    if (how == TFC_STORE_ROUNDED)
        ((uint16_t *)c)[column] = bf16_from_float(sum);
    else
        ((float *)c)[column] = how == TFC_STORE_ADD ? ((float *)c)[column] + sum : sum;
}

/* k whole registers of pairs; rows and columns up to what the tile has. */
static void multiply(int64_t height, int64_t width, int64_t k, const char *a, int64_t a_row,
                     const char *b, char *c, int64_t c_row, int64_t columns, int64_t how,
                     int64_t rows)
{
    assert_int_equal(k % (WHOLE / 2), 0);
    assert_true(rows > 0 && columns > 0);
    for (int64_t i = 0; i < height && i < rows; i++)
        for (int64_t j = 0; j < width && j < columns; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++) {
                uint32_t x = pair_at(a + i * a_row + 4 * l), y = pair_at(b + 4 * (l * COLUMNS + j));
                sum += low(x) * low(y) + high(x) * high(y);
            }
            store(c + i * c_row, j, sum, how);
        }
}

#define TILE(name, height, width)                                                         \
    static void name(int64_t k, const void *a, int64_t a_row, int64_t a_k, const void *b, \
                     int64_t b_k, void *c, int64_t c_row, int64_t columns, int64_t how,   \
                     int64_t rows)                                                        \
    {                                                                                     \
        assert_int_equal(a_k, 4);                                                         \
        assert_int_equal(b_k, 4 * COLUMNS);                                               \
        multiply(height, width, k, a, a_row, b, c, c_row, columns, how, rows);            \
    }
TILE(tile_2x1, 2 * LINES, LINES)
TILE(tile_2x2, 2 * LINES, 2 * LINES)
TILE(tile_1x1, LINES, LINES)
TILE(tile_1x2, LINES, 2 * LINES)

/* Term l of a side, zero where there is none. */
static uint32_t term(const uint16_t *x, int64_t stride, int64_t l, int64_t k)
{
    return l < k ? x[l * stride] : 0;
}

static void pack_panel(int64_t k, const void *x, int64_t x_k, int64_t x_column, int64_t count,
                       void *out)
{
    for (int64_t l = 0; l < (k + WHOLE - 1) / WHOLE * WHOLE; l += 2)
        for (int64_t j = 0; j < count; j++) {
            const uint16_t *side = (const uint16_t *)x + j * x_column;
            ((uint32_t *)out)[l / 2 * COLUMNS + j] =
                term(side, x_k, l, k) | term(side, x_k, l + 1, k) << 16;
        }
}

static void transpose_rows(int64_t k, const void *x, int64_t x_k, int64_t rows, void *out,
                           int64_t pitch)
{
    assert_true(rows <= GROUP);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < (k + WHOLE - 1) / WHOLE * WHOLE; l++)
            ((uint16_t *)((char *)out + i * pitch))[l] =
                (uint16_t)term((const uint16_t *)x + i, x_k, l, k);
}

/* clang-format off */
static const TfcForm form = {
    .sizes = {.source = 2, .element = 4, .joined = 2, .kept = 2, .whole = WHOLE, .depth = DEPTH,
              .columns = COLUMNS, .rows = 2 * LINES, .together = GROUP, .in_place_rows = LINES,
              .in_place_k = WHOLE, .crowded = 2048, .beside = TFC_LAYOUT_ROWS, .any_rows = true,
              .flush = true, .block = BLOCK, .line = 64, .heights = {2 * LINES, LINES},
              .widths = {LINES, 2 * LINES}},
    .tiles = {{tile_2x1, tile_2x2}, {tile_1x1, tile_1x2}},
    .pack_panel = pack_panel,
    .pack_kept = pack_panel,
    .transpose_rows = transpose_rows,
};
/* clang-format on */

/* ---- products ---- */

static _Alignas(64) uint16_t workspace[TFC_GEMM_WORKSPACE / sizeof(uint16_t)];

static uint16_t *integers(int64_t count)
{
    uint16_t *data = malloc((size_t)(count + 1) * sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = bf16_from_float((float)(i * 7919 % 5) - 2);
    return data;
}

/* Marks: how often each element was finished, of n columns. */
typedef struct Marks {
    int *done;
    int64_t n;
} Marks;

static void mark(void *of, TfcPart part)
{
    const Marks *marks = of;
    for (int64_t i = part.row; i < part.row_end; i++)
        for (int64_t j = part.column; j < part.column_end; j++)
            marks->done[i * marks->n + j]++;
}

static double element(const void *x, int64_t at)
{
    return (double)bf16_to_float(((const uint16_t *)x)[at]);
}

static double expected(const TfcProduct *p, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++)
        sum += element(p->a, listed_row(&p->a_rows, i) * p->a_row +
                                 listed_row(&p->a_terms, l) * p->a_column) *
               element(p->b, listed_row(&p->b_terms, l) * p->b_row + j * p->b_column);
    return sum;
}

/* What is packed comes upon NaN: a term that nothing wrote would be seen. */
static void run(TfcProduct *p, float *c, int *done)
{
    for (size_t i = 0; i < sizeof workspace / sizeof *workspace; i++)
        workspace[i] = 0x7fc0;
    TfcEpilogue epilogue = {mark, &(Marks){done, p->n}};
    memset(done, 0, (size_t)(p->m * p->n) * sizeof *done);
    for (int64_t i = 0; i < p->m * p->c_row; i++)
        c[i] = 1;
    p->c = c;
    p->epilogue = &epilogue;
    product_run(&form, p, workspace);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double want = expected(p, i, j) + (p->store == TFC_STORE_ADD);
            if ((double)c[i * p->c_row + j] != want || done[i * p->n + j] != 1)
                fail_msg("%d x %d x %d, a %d, b %d: (%d, %d) is %g, not %g, and finished %d times",
                         (int)p->m, (int)p->n, (int)p->k, (int)p->a_column, (int)p->b_column,
                         (int)i, (int)j, (double)c[i * p->c_row + j], want, done[i * p->n + j]);
        }
    for (int64_t i = 0; i + 1 < p->m; i++)
        assert_true(c[i * p->c_row + p->n] == 1);
}

static void check(int64_t m, int64_t n, int64_t k, int transposed, TfcStore how)
{
    int64_t panels = (n + COLUMNS - 1) / COLUMNS * COLUMNS, whole = (k + WHOLE - 1) / WHOLE * WHOLE;
    /* clang-format off */
    TfcProduct p = {.m = m, .n = n, .k = k, .c_row = n + 3, .store = how,
                    .a_row = transposed & 1 ? 1 : k + 4, .a_column = transposed & 1 ? m + 4 : 1,
                    .b_row = transposed & 2 ? 1 : n, .b_column = transposed & 2 ? k : 1};
    /* clang-format on */
    uint16_t *a = integers((m + 4) * (k + 4)), *b = integers(n * k);
    uint32_t *packed = malloc((size_t)(panels * whole / 2 + 1) * sizeof *packed);
    float *c = malloc((size_t)(m * p.c_row + 1) * sizeof *c);
    int *done = malloc((size_t)(m * n + 1) * sizeof *done);
    p.a = a;
    p.b = b;
    run(&p, c, done);
    product_pack(&form, k, 0, n, b, p.b_row, p.b_column, packed);
    p.panels = packed;
    run(&p, c, done);
    free(a);
    free(b);
    free(packed);
    free(c);
    free(done);
}

static void test_registers(void **state)
{
    (void)state;
    static const int64_t sides[][3] = {
        {1, 1, 1},    {16, 64, 32},   {17, 65, 33},    {32, 32, 128},  {33, 100, 64},
        {96, 70, 96}, {97, 130, 31},  {200, 300, 129}, {112, 16, 300}, {5, 700, 257},
        {3, 4, 0},    {193, 33, 512}, {32, 64, 1020}};
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++)
        for (int transposed = 0; transposed < 4; transposed++) {
            check(sides[s][0], sides[s][1], sides[s][2], transposed, TFC_STORE_OVERWRITE);
            check(sides[s][0], sides[s][1], sides[s][2], transposed, TFC_STORE_ADD);
        }
}

/* ---- lists ---- */

/* Ascending, some rows twice where two go with one. */
static int32_t *some_rows(int64_t n, int64_t repeats)
{
    int32_t *rows = malloc((size_t)(n + 1) * sizeof *rows);
    for (int64_t i = 0, row = 0; i < n; i++)
        rows[i] = (int32_t)(row += 1 + (repeats == 1) * (i * 31 % 3));
    return rows;
}

/* Listed rows of a and c, or listed terms of a and b; other rows of c stay as they are. */
static void check_lists(int64_t m, int64_t n, int64_t k, bool rows, TfcStore how)
{
    const int64_t repeats = 2, side = rows ? m : k, most = 3 * (side + 2);
    int32_t *first = some_rows(side, repeats), *second = some_rows(side, 1);
    TfcProduct p = {.m = m, .n = n, .k = k, .c_row = n + 3, .store = how, .b_column = 1};
    p.a_row = rows ? k + 4 : 1;
    p.a_column = rows ? 1 : m + 4;
    p.b_row = n;
    if (rows) {
        p.a_rows = (TfcRowList){first, repeats};
        p.c_rows = (TfcRowList){second, 1};
    } else {
        p.a_terms = (TfcRowList){first, repeats};
        p.b_terms = (TfcRowList){second, 1};
    }
    uint16_t *a = integers((rows ? most : m + 4) * (rows ? k + 4 : most)),
             *b = integers((rows ? k : most) * n);
    const int64_t count = (rows ? most : m) * p.c_row;
    float *c = malloc((size_t)(count + 1) * sizeof *c);
    p.a = a;
    p.b = b;
    p.c = c;
    for (int64_t i = 0; i < count; i++)
        c[i] = 1;
    for (size_t i = 0; i < sizeof workspace / sizeof *workspace; i++)
        workspace[i] = 0x7fc0;
    product_run(&form, &p, workspace);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float *at = &c[listed_row(&p.c_rows, i) * p.c_row + j];
            const double want = expected(&p, i, j) + (how == TFC_STORE_ADD);
            if ((double)*at != want)
                fail_msg("%d x %d x %d, listed %s: (%d, %d) is %g, not %g", (int)m, (int)n, (int)k,
                         rows ? "rows" : "terms", (int)i, (int)j, (double)*at, want);
            *at = 1;
        }
    for (int64_t i = 0; i < count; i++)
        assert_true(c[i] == 1);
    free(first);
    free(second);
    free(a);
    free(b);
    free(c);
}

static void test_lists(void **state)
{
    (void)state;
    static const int64_t sides[][3] = {{3, 5, 7},      {16, 64, 32},  {17, 65, 33},   {97, 130, 31},
                                       {200, 70, 129}, {5, 700, 257}, {193, 33, 300}, {4, 4, 0}};
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++)
        for (int rows = 0; rows < 2; rows++) {
            check_lists(sides[s][0], sides[s][1], sides[s][2], rows, TFC_STORE_OVERWRITE);
            check_lists(sides[s][0], sides[s][1], sides[s][2], rows, TFC_STORE_ADD);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_registers),
                                       cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
