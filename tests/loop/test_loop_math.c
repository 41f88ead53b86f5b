/* Functions of f64, and pow, as pass expand_math makes them of ops: interpreted, they have the bits
 * of the host's (base/portable_math.h). Of f32, sin, cos and pow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/portable_math.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/text/text.h"
#include "codegen/loop/verify.h"
#include "tests/loop/interpret.h"

#include <math.h>
#include <string.h>

enum { LANES = 4 };

typedef struct Row {
    const char *name;
    double (*function)(double x);
} Row;

static const Row rows[] = {
    {"exp", portable_exp},   {"expm1", portable_expm1}, {"log", portable_log},
    {"tanh", portable_tanh}, {"log1p", portable_log1p}, {"erf", portable_erf},
    {"sin", portable_sin},   {"cos", portable_cos},     {"pow", NULL},
};

static const double values[][LANES] = {
    {0, -0.0, 1, -1},
    {0.1, -0.3, 0.7, 2.5},
    {700, -708.4, 1e-310, 3},
    {INFINITY, -INFINITY, NAN, 5e-324},
    {1e300, -1e22, 12345678.9, 1647099.5},
    {0.84375, 5.9, -7, 0x1p53},
};
enum { N_VALUES = sizeof values / sizeof *values };

static LoFunction *function_of(Arena *arena, const char *name, const char *type, Diagnostics *diags)
{
    static const Processor processor = {.name = "test", .vector_bits = 256, .fused = true};
    static const CodeTarget target = {.processor = &processor};
    const bool two = !strcmp(name, "pow");
    const char *text =
        arena_printf(arena,
                     "kernel @f(ptr %%0, ptr %%1) {\n %s %%2 = load %%0 align 4\n"
                     " %s %%3 = math \"%s\" %%2%s\n store %%3, %%1 align 4\n}\n",
                     type, type, name, two ? arena_printf(arena, ", %s 0.3", type) : "");
    const Source *source = diag_source(arena, name, text, strlen(text));
    LoModule *module = lo_parse(arena, diags, source);
    if (!module || !lo_verify(module, diags) || !lo_run_pass(module, &target, "expand_math") ||
        !lo_verify(module, diags))
        fail_msg("%s: %s", name, diags->list.data[0].message);
    return module->functions.data[0];
}

static void interpret(LoFunction *f, void *in, void *out, size_t bytes, Diagnostics *diags)
{
    LoRange ranges[] = {{in, bytes, false}, {out, bytes, true}};
    LoRun run = {ranges, 2, 100000, false};
    if (!lo_interpret(f, (uint64_t[]){lo_address(in), lo_address(out)}, &run, diags))
        fail_msg("%s", diags->list.data[0].message);
}

static void test_f64(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        LoFunction *f = function_of(arena, rows[r].name, "f64x4", &diags);
        for (int i = 0; i < N_VALUES; i++) {
            double in[LANES], out[LANES];
            memcpy(in, values[i], sizeof in);
            interpret(f, in, out, sizeof in, &diags);
            for (int k = 0; k < LANES; k++) {
                double want = rows[r].function ? rows[r].function(in[k]) : portable_pow(in[k], 0.3);
                if (memcmp(&want, &out[k], sizeof want) && !(isnan(want) && isnan(out[k])))
                    fail_msg("%s(%.17g) is %.17g instead of %.17g", rows[r].name, in[k], out[k],
                             want);
            }
        }
        arena_free(arena);
    }
}

/* The same whether muladd rounds once or twice: these have none. */
static void test_f32(void **state)
{
    (void)state;
    static const char *const names[] = {"sin", "cos", "pow"};
    static double (*const functions[])(double) = {portable_sin, portable_cos, NULL};
    for (int r = 0; r < 3; r++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        LoFunction *f = function_of(arena, names[r], "f32x4", &diags);
        for (int i = 0; i < N_VALUES; i++) {
            float in[LANES], out[LANES];
            for (int k = 0; k < LANES; k++)
                in[k] = (float)values[i][k];
            interpret(f, in, out, sizeof in, &diags);
            for (int k = 0; k < LANES; k++) {
                float want =
                    (float)(functions[r] ? functions[r](in[k]) : portable_pow_f32(in[k], 0.3f));
                if (want != out[k] && !(isnan(want) && isnan(out[k])))
                    fail_msg("%s(%.9g) is %.9g instead of %.9g", names[r], in[k], out[k], want);
            }
        }
        arena_free(arena);
    }
}

/* muladd in f64 and f32, emulated: as fma of the C library. */
static void test_emulated(void **state)
{
    (void)state;
    static const Processor processor = {.name = "test", .vector_bits = 256};
    static const CodeTarget target = {.processor = &processor, .emulates_fma = true};
    for (int narrow = 0; narrow < 2; narrow++) {
        Arena *arena = arena_new();
        Diagnostics diags;
        diag_init(&diags, arena);
        const char *type = narrow ? "f32x4" : "f64x4";
        const char *text =
            arena_printf(arena,
                         "kernel @f(ptr %%0, ptr %%1) {\n %s %%2 = load %%0 align 4\n"
                         " %s %%3 = muladd %%2, %s -0.3, %%2\n store %%3, %%1 align 4\n}\n",
                         type, type, type);
        LoModule *module = lo_parse(arena, &diags, diag_source(arena, "f", text, strlen(text)));
        assert_true(module && lo_verify(module, &diags));
        assert_true(lo_run_pass(module, &target, "emulate_fma") && lo_verify(module, &diags));
        for (int i = 0; i < N_VALUES; i++) {
            double in[LANES], out[LANES];
            float f[LANES], g[LANES];
            for (int k = 0; k < LANES; k++)
                f[k] = (float)(in[k] = values[i][k]);
            interpret(module->functions.data[0], narrow ? (void *)f : in, narrow ? (void *)g : out,
                      narrow ? sizeof f : sizeof in, &diags);
            for (int k = 0; k < LANES; k++) {
                double got = narrow ? g[k] : out[k];
                double want = narrow ? fmaf(f[k], -0.3f, f[k]) : fma(in[k], -0.3, in[k]);
                if (memcmp(&got, &want, sizeof got) && !(isnan(got) && isnan(want)))
                    fail_msg("%a is %a instead of %a", in[k], got, want);
            }
        }
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_f64), cmocka_unit_test(test_f32),
                                       cmocka_unit_test(test_emulated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
