/* Products of bf16: every bit against the sum that vdpbf16ps, or tdpbf16ps where the machine
 * has AMX, is documented to form (Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 2), on every CPU level that runs here; against sums in double; and the
 * code of the tiles. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bf16.h"
#include "base/cpu.h"
#include "codegen/codegen.h"
#include "runtime/exec/per_thread.h"
#include "runtime/product/product_pack.h"
#include "tests/codegen/product_case.h"
#include "tests/codegen/tile_loops.h"
#include "tests/codegen/written_panels.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "module \"test\"\n"
    "func f {\n"
    "  %0 = input {name = \"a\"} : bf16[2, 3]\n"
    "  %1 = input {name = \"b\"} : bf16[3, 4]\n"
    "  %2 = dot %0, %1 {dtype = f32, batch_a = [], batch_b = [], contract_a = [1], contract_b = [0]} : f32[2, 4]\n"
    "  output %2 {name = \"c\"}\n"
    "}\n";

/* ---- the sum, written down ---- */

static float without_denormals(float x) { return fabsf(x) < FLT_MIN ? copysignf(0, x) : x; }

static float add_product(float sum, float a, float b)
{
    return without_denormals(
        fmaf(without_denormals(a), without_denormals(b), without_denormals(sum)));
}

/* Terms l of x; zero past the end. */
static float term(const uint16_t *x, int64_t l, int64_t k, int64_t stride)
{
    return l < k ? bf16_to_float(x[l * stride]) : 0;
}

/* Terms begin … end, each product added to the sum: by vdpbf16ps. */
static float sum_of_pairs(float sum, const uint16_t *a, int64_t a_k, const uint16_t *b, int64_t b_k,
                          int64_t begin, int64_t end)
{
    for (int64_t l = begin; l < end; l += 2) {
        sum = add_product(sum, term(a, l + 1, end, a_k), term(b, l + 1, end, b_k));
        sum = add_product(sum, term(a, l, end, a_k), term(b, l, end, b_k));
    }
    return sum;
}

/* Up to 16 pairs, even and odd terms apart: by tdpbf16ps. */
static float sum_of_tile(float sum, const uint16_t *a, int64_t a_k, const uint16_t *b, int64_t b_k,
                         int64_t begin, int64_t end)
{
    float apart[2] = {0, 0};
    for (int64_t l = begin; l < end; l++)
        apart[l % 2] = add_product(apart[l % 2], term(a, l, end, a_k), term(b, l, end, b_k));
    return without_denormals(sum + without_denormals(apart[0] + apart[1]));
}

/* The sum that the product under test forms, and how many terms it takes together. */
static struct {
    float (*sum)(float sum, const uint16_t *a, int64_t a_k, const uint16_t *b, int64_t b_k,
                 int64_t begin, int64_t end);
    int64_t terms;
} form;

/* One element: 512 terms in one go, then what c holds is added to. */
static float expected(const uint16_t *a, int64_t a_k, const uint16_t *b, int64_t b_k, int64_t k,
                      TfcStore store, float c)
{
    for (int64_t from = 0; from == 0 || from < k; from += TFC_ROUNDED_K) {
        int64_t to = from + TFC_ROUNDED_K < k ? from + TFC_ROUNDED_K : k;
        float sum = 0;
        for (int64_t l = from; l < to; l += form.terms)
            sum = form.sum(sum, a, a_k, b, b_k, l, l + form.terms < to ? l + form.terms : to);
        bool adds = from > 0 || store == TFC_STORE_ADD;
        c = adds ? without_denormals(without_denormals(c) + sum) : sum;
    }
    return c;
}

/* ---- data ---- */

typedef enum Range { ORDINARY, TINY, ROOTS } Range;

/* Between -1 and 1; or around the smallest normal numbers, denormals among them; or around their
 * square root, so that products are such numbers, and sums often zeros with a sign. */
static uint16_t *random_data(int64_t count, Range range)
{
    uint16_t *data = malloc((size_t)(count + 1) * 2);
    for (int64_t i = 0; i < count; i++) {
        double value = (double)next() / (1 << 23) - 1;
        int exponent = range == TINY    ? (int)(next() % 80) - 130
                       : range == ROOTS ? (int)(next() % 16) - 71
                                        : 0;
        data[i] = bf16_from_float((float)ldexp(value, exponent));
    }
    return data;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float get(const void *c, int64_t i, TfcStore store)
{
    return store == TFC_STORE_ROUNDED ? bf16_to_float(((const uint16_t *)c)[i])
                                      : ((const float *)c)[i];
}

static void compare(Shape s, const char *how, int transposed, int64_t count, const float *c,
                    const float *want, TfcStore store)
{
    for (int64_t i = 0; i < count; i++) /* what lies between the rows too */
        if (bits_of(get(c, i, store)) != bits_of(want[i]))
            fail_msg("%lld x %lld x %lld, %s, transposed %d, store %d: element %lld is %a, not %a",
                     (long long)s.m, (long long)s.n, (long long)s.k, how, transposed, store,
                     (long long)i, (double)get(c, i, store), (double)want[i]);
}

static float value_at(const void *b, int64_t i) { return bf16_to_float(((const uint16_t *)b)[i]); }

static void check(const TfcProducts *products, Shape s, int transposed, int64_t room,
                  TfcStore store, Range range)
{
    const TfcForm *native = products->native[TFC_BF16];
    int64_t a_row = transposed & 1 ? 1 : s.k + room, a_column = transposed & 1 ? s.m + room : 1;
    int64_t b_row = transposed & 2 ? 1 : s.n + room, b_column = transposed & 2 ? s.k + room : 1;
    int64_t c_row = s.n + room, count = s.m * c_row;
    uint16_t *a = random_data((s.m + room) * (s.k + room), range);
    uint16_t *b = random_data((s.k + room) * (s.n + room), range == ROOTS ? ROOTS : ORDINARY);
    float *c = malloc((size_t)(count + 1) * sizeof *c),
          *want = malloc((size_t)(count + 1) * sizeof *want);
    for (int64_t i = 0; i < count; i++)
        c[i] = (float)next() / (1 << 23) - 1;
    float *before = malloc((size_t)(count + 1) * sizeof *before);
    memcpy(before, c, (size_t)count * sizeof *c);
    for (int64_t i = 0; i < count; i++)
        want[i] = get(c, i, store);
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            float x = expected(a + i * a_row, a_column, b + j * b_column, b_row, s.k, store,
                               want[i * c_row + j]);
            want[i * c_row + j] =
                store == TFC_STORE_ROUNDED ? bf16_to_float(bf16_from_float(x)) : x;
        }
    /* clang-format off */
    TfcProduct product = {.m = s.m, .n = s.n, .k = s.k,
                          .a = a, .a_row = a_row, .a_column = a_column,
                          .b = b, .b_row = b_row, .b_column = b_column,
                          .c = c, .c_row = c_row, .store = store};
    /* clang-format on */
    product_run(native, &product, workspace_here());
    compare(s, "in place", transposed, count, c, want, store);
    int64_t panels = (s.n + TFC_PANEL_COLUMNS - 1) / TFC_PANEL_COLUMNS * TFC_PANEL_COLUMNS;
    int64_t terms = (s.k + TFC_PAIRS_K - 1) / TFC_PAIRS_K * TFC_PAIRS_K;
    float *packed = malloc((size_t)(panels * terms + 1) * sizeof *packed);
    product_pack(native, s.k, 0, s.n, b, b_row, b_column, packed);
    void *written =
        written_panels(native, TFC_PRODUCT_BF16, s.k, s.n, b, b_row, b_column, value_at);
    for (int i = 0; i < 2; i++) {
        memcpy(c, before, (size_t)count * sizeof *c);
        product.panels = i ? written : packed;
        product_run(native, &product, workspace_here());
        compare(s, i ? "written" : "packed", transposed, count, c, want, store);
    }
    free(written);
    free(packed);
    free(before);
    free(a);
    free(b);
    free(c);
    free(want);
}

/* Around every edge: of tiles, vectors, panels, pairs, squares that are turned, depths. */
static const Shape shapes[] = {
    {1, 1, 1},    {3, 5, 7},      {1, 9, 4},      {9, 1, 4},      {16, 16, 1},    {13, 31, 15},
    {14, 32, 16}, {15, 33, 17},   {14, 14, 32},   {45, 65, 33},   {6, 8, 131},    {48, 129, 16},
    {2, 70, 66},  {64, 64, 1030}, {100, 20, 601}, {29, 2100, 40}, {5, 4200, 512}, {0, 4, 4},
    {4, 0, 4},    {4, 4, 0},      {50, 100, 0},
};

static void check_product(const TfcProducts *product, bool fma)
{
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int variant = 0; variant < 8; variant++)
            for (int store = TFC_STORE_OVERWRITE; store <= TFC_STORE_ROUNDED; store++)
                if (store != TFC_STORE_ROUNDED || shapes[s].k <= TFC_ROUNDED_K)
                    check(product, shapes[s], variant & 3, variant & 4 ? 3 : 0, (TfcStore)store,
                          ORDINARY);
    if (fma)
        check(product, (Shape){20, 40, 100}, 0, 0, TFC_STORE_OVERWRITE, TINY);
    for (size_t s = 0; fma && s < sizeof shapes / sizeof shapes[0]; s++)
        check(product, shapes[s], 0, 0, TFC_STORE_OVERWRITE, ROOTS);
}

static void check_cpu(const char *cpu, bool scalar, bool fma)
{
    Case c;
    bool amx = !cpu && !scalar && cpu_allows_amx();
    form.sum = amx ? sum_of_tile : sum_of_pairs;
    form.terms = amx ? TFC_PAIRS_K : 2;
    open_case(&c, text);
    TargetOptions options = {.cpu = cpu, .scalar = scalar, .opt_level = 2, .gemm = GEMM_BLAS};
    Jit *jit = jit_new(&options, &c.diags);
    if (jit) { /* else this machine cannot run code for it */
        const TfcProgram *program = jit_compile(jit, c.function, NULL, &c.diags);
        assert_non_null(program);
        assert_non_null(program->products.native[TFC_BF16]);
        assert_null(program->products.native[TFC_F32]);
        check_product(&program->products, fma);
        jit_free(jit);
    } else if (!cpu)
        fail_msg("no code for this machine");
    arena_free(c.arena);
}

static void test_products(void **state)
{
    (void)state;
    check_cpu(NULL, false, false);
    check_cpu("x86-64-v2", false, false);
    check_cpu("x86-64-v3", false, true);
    check_cpu("x86-64-v4", false, true);
    check_cpu(NULL, true, false);
}

/* Sums of many terms stay as close to the true ones as f32 lets them. */
static void test_against_doubles(void **state)
{
    (void)state;
    enum { M = 33, N = 65, K = 2048 };
    Case c;
    open_case(&c, text);
    Jit *jit = jit_new(&(TargetOptions){.opt_level = 2}, &c.diags);
    const TfcProgram *program = jit_compile(jit, c.function, NULL, &c.diags);
    uint16_t *a = random_data(M * K, ORDINARY), *b = random_data(K * N, ORDINARY);
    float *out = malloc(M * N * sizeof *out);
    /* clang-format off */
    TfcProduct product = {.m = M, .n = N, .k = K, .a = a, .a_row = K, .a_column = 1,
                          .b = b, .b_row = N, .b_column = 1, .c = out, .c_row = N};
    /* clang-format on */
    product_run(program->products.native[TFC_BF16], &product, workspace_here());
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, size = 0;
            for (int l = 0; l < K; l++) {
                double x =
                    (double)bf16_to_float(a[i * K + l]) * (double)bf16_to_float(b[l * N + j]);
                sum += x;
                size += fabs(x);
            }
            assert_true(fabs((double)out[i * N + j] - sum) <= 1e-6 * size);
        }
    free(a);
    free(b);
    free(out);
    jit_free(jit);
    arena_free(c.arena);
}

/* ---- the tiles' code ---- */

static void test_tiles_stay_in_registers(void **state)
{
    (void)state;
    static const struct {
        const char *cpu, *instruction;
        int least;
    } cpus[] = {
        {"x86-64-v2", "mulps", 8},  {"x86-64-v3", "vfmadd", 8},
        {"x86-64-v4", "vfmadd", 8}, {"cooperlake", "vdpbf16ps", 8},
        {"znver4", "vdpbf16ps", 8}, {"sapphirerapids", "tdpbf16ps", 4},
    };
    for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
        Case c;
        Text assembly = {0};
        open_case(&c, text);
        TargetOptions options = {.cpu = cpus[i].cpu, .opt_level = 2};
        assert_true(codegen_dump(c.function, &options, true, &assembly, &c.diags));
        check_tile_loops(assembly.data, cpus[i].cpu, cpus[i].instruction, cpus[i].least, false);
        text_free(&assembly);
        arena_free(c.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_against_doubles),
        cmocka_unit_test(test_tiles_stay_in_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
