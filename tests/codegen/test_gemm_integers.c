/* Products of integers: against the definitions in docs/ir.md, written down here (without groups
 * every bit; groups, which are summed in f32, within its rounding), on every CPU
 * level that runs here; panels that are written without the form; the values that panels give back;
 * and the code of the tiles. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "base/half.h"
#include "codegen/codegen.h"
#include "runtime/exec/panels.h"
#include "runtime/exec/per_thread.h"
#include "runtime/product/groups.h"
#include "runtime/product/product_pack.h"
#include "tests/codegen/product_case.h"
#include "tests/codegen/tile_loops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A product of this type. */
static const char *text_of(TfcProductType product)
{
    static char text[512];
    snprintf(
        text, sizeof text,
        "module \"test\"\n"
        "func f {\n"
        "  %%0 = input {name = \"a\"} : f32[2, 3]\n"
        "  %%1 = input {name = \"b\"} : f32[3, 4]\n"
        "  %%2 = dot %%0, %%1 {batch_a = [], batch_b = [], contract_a = [1], contract_b = [0], "
        "quant = \"%s\"} : f32[2, 4]\n"
        "  output %%2 {name = \"c\"}\n"
        "}\n",
        quant_info(product_quant(product))->word);
    return text;
}

/* ---- the definition ---- */

/* k terms as integers, `step` apart; returns their scale. */
static float round_terms(const float *x, int64_t k, int64_t step, int32_t *out)
{
    float g = 0;
    for (int64_t l = 0; l < k; l++)
        g = isnan(x[l * step]) || fabsf(x[l * step]) > g ? fabsf(x[l * step]) : g;
    const bool is_zero = g <= 0x1p-100f;
    const float inverse = is_zero ? 0 : 127 / g;
    for (int64_t l = 0; l < k; l++) {
        const volatile float scaled = x[l * step] * inverse;
        out[l] = isnan(scaled) ? 0 : (int32_t)rintf(scaled);
    }
    return is_zero ? 0 : g / 127;
}

/* NaN where no f16 is near it. */
static float finite_half(uint16_t bits)
{
    const float half = half_to_float(bits);
    return isinf(half) ? NAN : half;
}

/* Below f16's normal numbers the multiple of its unit that is next away from zero. */
static float as_scale(float x)
{
    return fabsf(x) < 0x1p-14f ? copysignf(ceilf(fabsf(x) * 0x1p24f) * 0x1p-24f, x)
                               : finite_half(half_from_float(x));
}

/* A group of at most 32 terms as integers, by which scale, an f16, and to which minimum. */
typedef struct Group {
    float scale, minimum;
    int32_t integers[32];
} Group;

/* The scale of 4 bits, and the minimum, are those of the search, which exec.test_groups judges. */
static Group round_group(Quant quant, const float *x, int64_t k, int64_t step)
{
    Group g = {0, 0, {0}};
    float m = 0;
    int lowest = -127, highest = 127;
    for (int64_t l = 0; l < k; l++)
        m = isnan(x[l * step]) || fabsf(x[l * step]) > fabsf(m) ? x[l * step] : m;
    g.scale = as_scale(fabsf(m) / 127);
    if (quant_info(quant)->bits == 4) {
        int8_t integers[32];
        float terms[32];
        for (int64_t l = 0; l < k; l++)
            terms[l] = x[l * step];
        const GroupScale of = groups_round(quant, k, terms, 1, integers);
        g.scale = finite_half(of.scale);
        g.minimum = finite_half(of.minimum);
        lowest = quant_info(quant)->has_minimum ? 0 : -8;
        highest = lowest + 15;
    }
    for (int64_t l = 0; l < k; l++) {
        const volatile float above = x[l * step] - g.minimum;
        const volatile float scaled = above * (g.scale == 0 ? 0 : 1 / g.scale);
        g.integers[l] = isnan(scaled) ? 0 : (int32_t)fmin(highest, fmax(lowest, rintf(scaled)));
    }
    return g;
}

/* All rows of a, or columns of b: of each `k` integers, and `runs` scales and minima. */
typedef struct Sides {
    bool whole; /* a run is a side */
    int64_t k, run, runs;
    int32_t *q;
    float *scale, *minimum;
} Sides;

/* `quant`: of a side of weights; QUANT_INT8: rows of activations, too, in runs of any length. */
static Sides round_sides(Quant quant, int64_t run, int64_t n, const float *x, int64_t step,
                         int64_t k, int64_t k_step)
{
    Sides s = {.whole = !run, .k = k, .run = run ? run : k + 1};
    s.runs = (k + s.run - 1) / s.run;
    s.q = calloc((size_t)(n * k + 1), sizeof *s.q);
    s.scale = calloc((size_t)(n * s.runs + 1), sizeof *s.scale);
    s.minimum = calloc((size_t)(n * s.runs + 1), sizeof *s.minimum);
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < s.runs; r++) {
            const int64_t first = r * s.run, left = k - first < s.run ? k - first : s.run;
            const float *from = x + i * step + first * k_step;
            int32_t *to = s.q + i * k + first;
            if (!quant_info(quant)->group) {
                s.scale[i * s.runs + r] = round_terms(from, left, k_step, to);
                continue;
            }
            const Group g = round_group(quant, from, left, k_step);
            memcpy(to, g.integers, (size_t)left * sizeof *to);
            s.scale[i * s.runs + r] = g.scale;
            s.minimum[i * s.runs + r] = g.minimum;
        }
    return s;
}

static void sides_free(Sides *s)
{
    free(s->q);
    free(s->scale);
    free(s->minimum);
}

/* What a product may be off: nothing, or what the sums of groups are rounded. */
static double bound;

static float expected(const Sides *a, int64_t i, const Sides *b, int64_t j)
{
    double total = 0;
    bound = 0;
    for (int64_t r = 0; r < a->runs; r++) {
        const float left = a->scale[i * a->runs + r], right = b->scale[j * b->runs + r];
        const int64_t first = r * a->run, end = first + a->run < a->k ? first + a->run : a->k;
        int64_t sum = 0, of_a = 0;
        for (int64_t l = first; l < end; l++) {
            sum += a->q[i * a->k + l] * b->q[j * a->k + l];
            of_a += a->q[i * a->k + l];
        }
        if (a->whole) { /* every bit is known */
            const volatile float scale = left * right;
            return (float)sum * scale;
        }
        const double scaled = (double)sum * left * right,
                     least = (double)of_a * left * b->minimum[j * b->runs + r];
        total += scaled + least;
        bound += (fabs(scaled) + fabs(least)) * (double)(a->k / 16 + 6) * 0x1p-24;
    }
    return (float)total;
}

/* ---- data ---- */

/* Kinds of data: between -1 and 1; all of one magnitude, so that every integer is 127 or -127, and
 * sums are the greatest there are; rows of zeros, and of numbers that count as zeros; on the border
 * between two integers; far from zero; scales below f16's normal numbers; above all of f16. */
typedef enum Kind { ORDINARY, GREATEST, ZEROS, TIES, FAR, SMALL, LARGE, KINDS } Kind;

static float value(Kind kind, int64_t i)
{
    const float x = (float)next() / (1 << 23) - 1;
    switch (kind) {
    case GREATEST: return (i / 7 % 3 ? 1 : -1) * 3.25f;
    case ZEROS: return i % 5 ? 0 : i % 2 ? 0x1p-101f : 0x1p-140f;
    case TIES: return i % 3 ? (float)(int)(x * 253) / 254 : 1;
    case FAR: return x + 37;
    case SMALL: return x * 0x1p-11f;
    case LARGE: return x * 0x1p26f;
    default: return x;
    }
}

static float *data_of(int64_t count, Kind kind)
{
    float *data = malloc((size_t)(count + 1) * sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = value(kind, i);
    return data;
}

static void compare(Shape s, Kind kind, const char *how, int transposed, int64_t count,
                    const float *c, const float *want, const float *bounds)
{
    for (int64_t i = 0; i < count; i++) /* what lies between the rows too */
        if (memcmp(&c[i], &want[i], sizeof c[i]) && !(!isfinite(c[i]) && isnan(want[i])) &&
            !(fabsf(c[i] - want[i]) <= bounds[i]))
            fail_msg("%lld x %lld x %lld, data %d, %s, transposed %d: element %lld is %a, not %a",
                     (long long)s.m, (long long)s.n, (long long)s.k, kind, how, transposed,
                     (long long)i, (double)c[i], (double)want[i]);
}

static Quant quant_of(const TfcForm *form) { return (Quant)form->sizes.quant; }

/* Panels that panels_write makes are those of product_pack, and give back the rounded values. */
static void *written(const TfcForm *form, Shape s, const float *b, int64_t row, int64_t column)
{
    TfcPanels panels = {.name = "b",
                        .matrices = 1,
                        .product = product_of_quant(quant_of(form), TFC_PRODUCT_F32),
                        .k = s.k,
                        .n = s.n,
                        .is_transposed = row == 1 && s.n > 1,
                        .layout = panel_layout(&form->sizes)};
    float *values = malloc((size_t)(2 * s.k * s.n + 1) * sizeof *values),
          *back = values + s.k * s.n;
    int32_t *q = malloc((size_t)(s.k + 1) * sizeof *q);
    for (int64_t l = 0; l < s.k; l++)
        for (int64_t j = 0; j < s.n; j++)
            values[panels.is_transposed ? j * s.k + l : l * s.n + j] = b[l * row + j * column];
    void *out = aligned_alloc(64, (size_t)(panels_bytes(&panels) + 127) / 64 * 64);
    panels_write(&panels, values, out);
    panels.data = out;
    panels_read(&panels, back);
    const int64_t k_step = panels.is_transposed ? 1 : s.n, n_step = panels.is_transposed ? s.k : 1;
    const bool groups = quant_info(quant_of(form))->group != 0;
    for (int64_t j = 0; j < s.n; j++)
        for (int64_t l = 0, n; l < s.k; l += n) {
            const float *x = values + j * n_step + l * k_step;
            n = !groups || s.k - l < 32 ? s.k - l : 32;
            const Group g = groups ? round_group(quant_of(form), x, n, k_step) : (Group){0};
            const float scale = groups ? g.scale : round_terms(x, n, k_step, q);
            for (int64_t i = 0; i < n; i++) {
                const volatile float scaled = scale * (float)(groups ? g.integers[i] : q[i]);
                const float want = scaled + g.minimum, found = back[(l + i) * k_step + j * n_step];
                assert_true(found == want || (isnan(want) && !isfinite(found)));
            }
        }
    free(q);
    free(values);
    return out;
}

static void check(const TfcForm *form, Shape s, int transposed, int64_t room, Kind kind)
{
    int64_t a_row = transposed & 1 ? 1 : s.k + room, a_column = transposed & 1 ? s.m + room : 1;
    int64_t b_row = transposed & 2 ? 1 : s.n + room, b_column = transposed & 2 ? s.k + room : 1;
    int64_t c_row = s.n + room, count = s.m * c_row;
    float *a = data_of((s.m + room) * (s.k + room), kind);
    float *b = data_of((s.k + room) * (s.n + room), kind == ZEROS ? ORDINARY : kind);
    float *c = data_of(count, ORDINARY), *want = malloc((size_t)(count + 1) * sizeof *want);
    float *before = malloc((size_t)(count + 1) * sizeof *before);
    float *bounds = calloc((size_t)(count + 1), sizeof *bounds);
    memcpy(before, c, (size_t)count * sizeof *c);
    memcpy(want, c, (size_t)count * sizeof *c);
    const int64_t run = quant_info(quant_of(form))->group;
    Sides rows = round_sides(QUANT_INT8, run, s.m, a, a_row, s.k, a_column),
          columns = round_sides(quant_of(form), run, s.n, b, b_column, s.k, b_row);
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            want[i * c_row + j] = expected(&rows, i, &columns, j);
            bounds[i * c_row + j] = (float)bound;
        }
    sides_free(&rows);
    sides_free(&columns);
    /* clang-format off */
    TfcProduct product = {.m = s.m, .n = s.n, .k = s.k,
                          .a = a, .a_row = a_row, .a_column = a_column,
                          .b = b, .b_row = b_row, .b_column = b_column,
                          .c = c, .c_row = c_row};
    /* clang-format on */
    product_run(form, &product, workspace_here());
    compare(s, kind, "in place", transposed, count, c, want, bounds);
    int64_t panels = (s.n + TFC_PANEL_COLUMNS - 1) / TFC_PANEL_COLUMNS * TFC_PANEL_COLUMNS;
    void *packed = malloc((size_t)(panels * pack_kept_bytes(&form->sizes, s.k) + 1));
    product_pack(form, s.k, 0, s.n, b, b_row, b_column, packed);
    void *by_hand = written(form, s, b, b_row, b_column);
    for (int i = 0; i < 2; i++) {
        memcpy(c, before, (size_t)count * sizeof *c);
        product.panels = i ? by_hand : packed;
        product_run(form, &product, workspace_here());
        compare(s, kind, i ? "written" : "packed", transposed, count, c, want, bounds);
    }
    free(by_hand);
    free(packed);
    free(before);
    free(bounds);
    free(a);
    free(b);
    free(c);
    free(want);
}

/* Around every edge: of tiles, vectors, panels, quads, groups of rows, what a row may have. */
static const Shape shapes[] = {
    {1, 1, 1},
    {3, 5, 7},
    {1, 9, 4},
    {9, 1, 4},
    {16, 16, 1},
    {13, 31, 15},
    {14, 32, 16},
    {15, 33, 17},
    {14, 14, 32},
    {45, 65, 33},
    {6, 8, 131},
    {48, 129, 16},
    {2, 70, 66},
    {64, 64, 1030},
    {100, 20, 601},
    {29, 2100, 40},
    {3, 70, TFC_INT8_PACKED_K},
    {0, 4, 4},
    {4, 0, 4},
    {4, 4, 0},
    {50, 100, 0},
};

static void check_long(const TfcForm *form)
{
    enum { M = 7, N = 3, K = TFC_INT8_K };
    float *a = data_of(M * K, GREATEST), *b = data_of(K * N, GREATEST), c[M * N];
    void *packed = malloc((size_t)(TFC_PANEL_COLUMNS * pack_kept_bytes(&form->sizes, K)));
    product_pack(form, K, 0, N, b, N, 1, packed);
    /* clang-format off */
    TfcProduct product = {.m = M, .n = N, .k = K, .a = a, .a_row = K, .a_column = 1,
                          .b_row = N, .b_column = 1, .c = c, .c_row = N, .panels = packed};
    /* clang-format on */
    product_run(form, &product, workspace_here());
    const int64_t run = quant_info(quant_of(form))->group;
    Sides rows = round_sides(QUANT_INT8, run, M, a, K, K, 1),
          columns = round_sides(quant_of(form), run, N, b, 1, K, N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            const float want = expected(&rows, i, &columns, j);
            assert_true(fabsf(c[i * N + j] - want) <= (float)bound);
        }
    sides_free(&rows);
    sides_free(&columns);
    free(packed);
    free(a);
    free(b);
}

/* Rows and columns with a NaN, or an infinity, give no number. */
static void check_not_finite(const TfcForm *form)
{
    enum { M = 3, N = 20, K = 37 };
    float *a = data_of(M * K, ORDINARY), *b = data_of(K * N, ORDINARY), c[M * N];
    a[5] = NAN;
    b[3 * N + 7] = NAN;
    b[4 * N + 8] = -INFINITY;
    a[K + 36] = INFINITY;
    /* clang-format off */
    TfcProduct product = {.m = M, .n = N, .k = K, .a = a, .a_row = K, .a_column = 1,
                          .b = b, .b_row = N, .b_column = 1, .c = c, .c_row = N};
    /* clang-format on */
    product_run(form, &product, workspace_here());
    for (int j = 0; j < M * N; j++)
        assert_int_equal(isfinite(c[j]) != 0, j >= 2 * N && j % N != 7 && j % N != 8);
    free(a);
    free(b);
}

static void check_cpu(const char *cpu, bool scalar, TfcProductType product)
{
    Case c;
    open_case(&c, text_of(product));
    TargetOptions options = {.cpu = cpu, .scalar = scalar, .opt_level = 2, .gemm = GEMM_BLAS};
    Jit *jit = jit_new(&options, &c.diags);
    if (jit) { /* else this machine cannot run code for it */
        const TfcProgram *program = jit_compile(jit, c.function, NULL, &c.diags);
        assert_non_null(program);
        const TfcForm *form = program->products.native[product];
        assert_non_null(form);
        assert_null(program->products.native[TFC_PRODUCT_F32]);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int variant = 0; variant < 8; variant++)
                check(form, shapes[s], variant & 3, variant & 4 ? 3 : 0,
                      (Kind)((s + variant) % KINDS));
        check_long(form);
        check_not_finite(form);
        jit_free(jit);
    } else if (!cpu)
        fail_msg("no code for this machine");
    arena_free(c.arena);
}

static void check_cpus(TfcProductType product)
{
    check_cpu(NULL, false, product);
    check_cpu("x86-64-v2", false, product);
    check_cpu("x86-64-v3", false, product);
    check_cpu("x86-64-v4", false, product);
    check_cpu(NULL, true, product);
}

#define QUANT(NAME, ...)                              \
    static void test_products_of_##NAME(void **state) \
    {                                                 \
        (void)state;                                  \
        check_cpus(TFC_PRODUCT_##NAME);               \
    }
#include "base/quants.def"

/* ---- the tiles' code ---- */

static void test_tiles_stay_in_registers(void **state)
{
    (void)state;
    static const struct {
        const char *cpu, *instruction;
        int least;
        const char *of_4;
        int least_in_groups;
    } cpus[] = {
        {"x86-64-v2", "pmaddwd", 6, "pmaddwd", 2},
        {"x86-64-v3", "vpmaddwd", 6, "vpmaddubsw", 4},
        {"x86-64-v4", "vpmaddwd", 8, "vpmaddubsw", 6},
        {"alderlake", "vpdpbusd", 8, "vpdpbusd", 4},
        {"icelake-server", "vpdpbusd", 8, "vpdpbusd", 6},
        {"znver4", "vpdpbusd", 8, "vpdpbusd", 6},
        {"sapphirerapids", "vpdpbusd", 8, "vpdpbusd", 6},
    };
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        for (int q = QUANT_NONE + 1; q < QUANT_COUNT; q++) {
            const QuantInfo *quant = quant_info((Quant)q);
            Case c;
            Text assembly = {0};
            open_case(&c, text_of(product_of_quant((Quant)q, TFC_PRODUCT_F32)));
            TargetOptions options = {.cpu = cpus[i].cpu, .opt_level = 2};
            assert_true(codegen_dump(c.function, &options, true, &assembly, &c.diags));
            check_tile_loops(assembly.data, cpus[i].cpu,
                             quant->bits == 4 ? cpus[i].of_4 : cpus[i].instruction,
                             quant->group ? cpus[i].least_in_groups : cpus[i].least, true);
            text_free(&assembly);
            arena_free(c.arena);
        }
}

/* What options list is the table. */
static void test_words(void **state)
{
    (void)state;
    static const char words[] =
#define QUANT(NAME, word, ...) "|" word
#include "base/quants.def"
        ;
    assert_string_equal(words + 1, QUANT_WORDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
#define QUANT(NAME, ...) cmocka_unit_test(test_products_of_##NAME),
#include "base/quants.def"
        cmocka_unit_test(test_tiles_stay_in_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
