/* Functions of one element in f32 against the C library in double: at most 2 ulp
 * on every vector width. A row: the op, where its arguments come from, how exact. */
#include "base/portable_math.h"
#include "tests/codegen/kernels.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { N_VALUES = 1 << 16 };

typedef struct MathRow {
    OpKind op;
    double (*reference)(double);
    double from, to;
    bool logarithmic; /* from..to are exponents of two */
    double ulps;
} MathRow;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }

/* The last row of each goes over all exponents. */
/* clang-format off */
static const MathRow rows[] = {
    {OP_exp, exp, -110, 95, false, 2},       {OP_exp, exp, -1, 1, false, 2},
    {OP_exp, exp, -149, 128, true, 2},
    {OP_log, log, 0.5, 2, false, 2},         {OP_log, log, -149, 128, true, 2},
    {OP_expm1, expm1, -35, 90, false, 2},    {OP_expm1, expm1, -1, 1, false, 2},
    {OP_expm1, expm1, -149, 128, true, 2},
    {OP_log1p, log1p, -1, 2, false, 2},      {OP_log1p, log1p, -149, 128, true, 2},
    {OP_tanh, tanh, -12, 12, false, 2},      {OP_tanh, tanh, -149, 128, true, 2},
    {OP_erf, erf, -5, 5, false, 2},          {OP_erf, erf, -149, 128, true, 2},
    {OP_sigmoid, sigmoid, -87, 110, false, 2}, {OP_sigmoid, sigmoid, -4, 4, false, 2},
    {OP_sigmoid, sigmoid, -149, 128, true, 2},
    {OP_sin, sin, -20, 20, false, 1},        {OP_sin, sin, 0, 1e5, false, 1},
    {OP_sin, sin, -149, 128, true, 1},
    {OP_cos, cos, -20, 20, false, 1},        {OP_cos, cos, 0, 1e5, false, 1},
    {OP_cos, cos, -149, 128, true, 1},
    {OP_sqrt, sqrt, -149, 128, true, 0.51},  {OP_rsqrt, rsqrt, -149, 128, true, 1.51},
    {OP_floor, floor, -149, 128, true, 0},   {OP_abs, fabs, -149, 128, true, 0},
};
/* clang-format on */

/* Distance in units of the last place that the true value has in f32. */
static double ulps_off(float got, double want)
{
    if (isnan(want))
        return isnan(got) ? 0 : INFINITY;
    if (fabs(want) > 3.4028235677973366e38)
        return got == (want > 0 ? INFINITY : -INFINITY) ? 0 : isinf(got) ? INFINITY : 1;
    int exponent;
    frexp(want, &exponent);
    double unit = ldexp(1, exponent < -125 ? -149 : exponent - 24);
    return fabs((double)got - want) / unit;
}

static bool is_of_negative(OpKind op) { return op != OP_log && op != OP_sqrt && op != OP_rsqrt; }

static void check_row(const MathRow *row, const TargetOptions *options)
{
    Case c;
    case_open(&c, DT_F32);
    Value *x = case_input(&c, DT_F32, 1, (Dim[]){dim_const(N_VALUES)});
    BatchShape shape = case_batch(&c);
    Elements *values = elements_of(&shape, x);
    for (int i = 0; i < N_VALUES; i++) {
        double u = row->from + (row->to - row->from) * i / (N_VALUES - 1);
        double v = row->logarithmic ? (i % 2 && is_of_negative(row->op) ? -1 : 1) * exp2(u) : u;
        values->data[i] = (float)v;
    }
    Value *y = build_unary(&c.b, row->op, x);
    Op *op = case_region(&c, OP_row, 1, &y);
    void *result;
    case_run(&c, op, options, 1, &result);
    double worst = 0;
    int at = 0;
    for (int i = 0; i < N_VALUES; i++) {
        double off = ulps_off(((float *)result)[i], row->reference(values->data[i]));
        if (off > worst)
            worst = off, at = i;
    }
    if (worst > row->ulps)
        fail_msg("%s(%.9g) on %s is %.2f ulp off: %.9g instead of %.9g", op_info[row->op].name,
                 values->data[at], options->cpu, worst, ((float *)result)[at],
                 row->reference(values->data[at]));
    printf("%-8s %-10s [%g, %g]%s: %.2f ulp\n", op_info[row->op].name, options->cpu, row->from,
           row->to, row->logarithmic ? " (log)" : "", worst);
    case_close(&c);
}

static bool runs_here(const TargetOptions *options)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Jit *jit = jit_new(options, &diags);
    jit_free(jit);
    arena_free(arena);
    return jit != NULL;
}

static void check_target(const char *cpu)
{
    TargetOptions options = {.cpu = cpu, .opt_level = 2};
    if (!runs_here(&options))
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(&rows[i], &options);
}

static void avx512(void **state)
{
    (void)state;
    check_target("x86-64-v4");
}
static void avx2(void **state)
{
    (void)state;
    check_target("x86-64-v3");
}
static void sse2(void **state)
{
    (void)state;
    check_target("x86-64");
}

/* Infinities, zeros, NaN: the same as the C library's. */
static void special_values(void **state)
{
    (void)state;
    static const float special[] = {0,     -0.0f,  INFINITY, -INFINITY, NAN,     1,    -1,  1e-45f,
                                    3e38f, -3e38f, 88.73f,   -103.9f,   -104.1f, -200, 200, 1000};
    static const OpKind ops[] = {OP_exp,     OP_log, OP_expm1, OP_log1p, OP_tanh, OP_erf,
                                 OP_sigmoid, OP_sin, OP_cos,   OP_sqrt,  OP_relu};
    static double (*const functions[])(double) = {exp,     log, expm1, log1p, tanh, erf,
                                                  sigmoid, sin, cos,   sqrt,  NULL};
    enum { N = sizeof special / sizeof special[0] };
    for (int cpu = 0; cpu < 3; cpu++)
        for (size_t f = 0; f < sizeof ops / sizeof ops[0]; f++) {
            static const char *const cpus[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
            TargetOptions options = {.cpu = cpus[cpu], .opt_level = 2};
            if (!runs_here(&options))
                continue;
            Case c;
            case_open(&c, DT_F32);
            Value *x = case_input(&c, DT_F32, 1, (Dim[]){dim_const(N)});
            BatchShape shape = case_batch(&c);
            for (int i = 0; i < N; i++)
                elements_of(&shape, x)->data[i] = special[i];
            Value *y = build_unary(&c.b, ops[f], x);
            Op *op = case_region(&c, OP_row, 1, &y);
            void *result;
            case_run(&c, op, &options, 1, &result);
            for (int i = 0; i < N; i++) {
                float got = ((float *)result)[i];
                double want = functions[f]                          ? functions[f](special[i])
                              : isnan(special[i]) || special[i] > 0 ? special[i]
                                                                    : 0;
                if (ulps_off(got, want) > 2)
                    fail_msg("%s(%g) is %g instead of %g", op_info[ops[f]].name, special[i], got,
                             want);
            }
            case_close(&c);
        }
}

/* In f64 the bits of the host's functions, in f32 those of sin, cos and pow, on every processor:
 * they have no fused multiply-add. */
typedef struct SameRow {
    OpKind op;
    double (*function)(double);
    bool narrow; /* in f32, too */
} SameRow;

static double third_power(double x) { return portable_pow(x, (float)0.3); }

static const SameRow same_rows[] = {
    {OP_exp, portable_exp, false},     {OP_log, portable_log, false},
    {OP_expm1, portable_expm1, false}, {OP_log1p, portable_log1p, false},
    {OP_tanh, portable_tanh, false},   {OP_erf, portable_erf, false},
    {OP_sin, portable_sin, true},      {OP_cos, portable_cos, true},
    {OP_pow, third_power, true},
};

static void check_same(const SameRow *row, DType type, const TargetOptions *options)
{
    enum { N = 4096 };
    Case c;
    case_open(&c, type);
    Value *x = case_input(&c, type, 1, (Dim[]){dim_const(N)});
    BatchShape shape = case_batch(&c);
    double *values = elements_of(&shape, x)->data;
    for (int i = 0; i < N; i++) {
        double u = i % 2 ? exp2(-149 + 277.0 * i / N) : 16.0 * i / N;
        values[i] = (float)(i % 3 && row->op != OP_log && row->op != OP_pow ? -u : u);
    }
    Value *y = row->op == OP_pow
                   ? build_binary(&c.b, OP_pow, x, build_const(&c.b, type, (float)0.3))
                   : build_unary(&c.b, row->op, x);
    void *result;
    case_run(&c, case_region(&c, OP_row, 1, &y), options, 1, &result);
    for (int i = 0; i < N; i++) {
        double want = row->function(values[i]);
        double got = type == DT_F64 ? ((double *)result)[i] : ((float *)result)[i];
        if (type == DT_F32)
            want = (float)want;
        if (got != want && !(isnan(got) && isnan(want)))
            fail_msg("%s(%.17g) on %s is %.17g instead of %.17g", op_info[row->op].name, values[i],
                     options->cpu, got, want);
    }
    case_close(&c);
}

static void same_bits(void **state)
{
    (void)state;
    static const char *const cpus[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
    for (int cpu = 0; cpu < 3; cpu++) {
        TargetOptions options = {.cpu = cpus[cpu], .opt_level = 2};
        for (size_t i = 0; runs_here(&options) && i < sizeof same_rows / sizeof *same_rows; i++) {
            check_same(&same_rows[i], DT_F64, &options);
            if (same_rows[i].narrow)
                check_same(&same_rows[i], DT_F32, &options);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(avx512),         cmocka_unit_test(avx2),      cmocka_unit_test(sse2),
        cmocka_unit_test(special_values), cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
