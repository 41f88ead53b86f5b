/* bench_gemm: products of one thread, ours against OpenBLAS's and against the rate of
 * fused multiply-adds that never leave registers, per shape. The three run in turn, and
 * the ratios are of their medians, since clocks and neighbours change meanwhile.
 *
 * bench/compare --gemm-only runs it; it prints a table in Markdown.
 *
 *   build/release/bench_gemm [rounds] */
#include "codegen/codegen.h"
#include "ir/text.h"
#include "runtime/exec/gemm.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Shape {
    const char *use;
    int64_t m, n, k;
    int transposed; /* 1: a, 2: b */
    int64_t batch;
} Shape;

static const Shape shapes[] = {
    {"forward", 2048, 512, 512, 0, 1},        {"d weights", 512, 512, 2048, 1, 1},
    {"d input", 2048, 512, 512, 2, 1},        {"forward", 2048, 2048, 512, 0, 1},
    {"d weights", 512, 2048, 2048, 1, 1},     {"d input", 2048, 512, 2048, 2, 1},
    {"forward", 2048, 512, 2048, 0, 1},       {"d weights", 2048, 512, 2048, 1, 1},
    {"d input", 2048, 2048, 512, 2, 1},       {"forward", 1024, 256, 256, 0, 1},
    {"d weights", 256, 256, 1024, 1, 1},      {"d input", 1024, 256, 256, 2, 1},
    {"forward", 1500, 128, 128, 0, 1},        {"d weights", 128, 128, 1500, 1, 1},
    {"d input", 1500, 128, 128, 2, 1},        {"logits", 1500, 8000, 128, 0, 1},
    {"d weights", 128, 8000, 1500, 1, 1},     {"d input", 1500, 128, 8000, 2, 1},
    {"scores", 14, 14, 32, 2, 400},           {"values", 14, 32, 14, 0, 400},
    {"d values", 14, 32, 14, 1, 400},         {"one row", 1, 512, 512, 0, 1},
    {"two rows", 2, 512, 512, 0, 1},          {"four rows", 4, 512, 512, 0, 1},
    {"four rows", 4, 2048, 512, 0, 1},        {"logits", 1, 8000, 256, 2, 1},
    {"logits", 4, 8000, 256, 2, 1},
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the ceiling ---- */

enum { CHAINS = 12, CHAIN_FLOPS = 2 * 16 * CHAINS };
typedef float Wide __attribute__((vector_size(64)));

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2,fma", "default"), optimize("O3", "fp-contract=fast")))
#endif
static void
run_chains(int64_t rounds)
{
    Wide sums[CHAINS] = {0}, x = {0}, y = {0};
    __asm__ volatile("" : "+m"(x), "+m"(y)); /* not known to be zeros */
    for (int64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = sums[i] * x + y;
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "m"(sums[i]));
}

/* ---- products ---- */

static TfcGemm *native_product(Jit **jit, Arena *arena)
{
    static const char text[] =
        "module \"bench\"\n"
        "func f {\n"
        "  %0 = input {name = \"a\"} : f32[2, 3]\n"
        "  %1 = input {name = \"b\"} : f32[3, 4]\n"
        "  %2 = dot %0, %1 {contract_a = [1], contract_b = [0], batch_a = [], batch_b = []} : f32[2, 4]\n"
        "  output %2 {name = \"c\"}\n"
        "}\n";
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = ir_parse(arena, &diags, diag_source(arena, "bench.tir", text, strlen(text)));
    *jit = jit_new(&(TargetOptions){.opt_level = 2, .gemm = GEMM_NATIVE}, &diags);
    const TfcProgram *program =
        module && *jit ? jit_compile(*jit, module->functions.data[0], NULL, &diags) : NULL;
    return program ? program->products.native[TFC_F32] : NULL;
}

static float *matrices(int64_t count)
{
    float *data = memory_new(count * (int64_t)sizeof *data);
    for (int64_t i = 0; data && i < count; i++)
        data[i] = (float)(i * 7919 % 1001) / 1001 - 0.5f;
    return data;
}

static void run_batch(TfcGemm *product, const Shape *s, const float *a, const float *b, float *c)
{
    int64_t a_row = s->transposed & 1 ? 1 : s->k, a_column = s->transposed & 1 ? s->m : 1;
    int64_t b_row = s->transposed & 2 ? 1 : s->n, b_column = s->transposed & 2 ? s->k : 1;
    for (int64_t i = 0; i < s->batch; i++)
        product(s->m, s->n, s->k, a + i * s->m * s->k, a_row, a_column, b + i * s->k * s->n, b_row,
                b_column, c + i * s->m * s->n, s->n, TFC_PUT_OVER, NULL,
                workspace_here());
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

enum { NATIVE, BLAS, CEILING, KINDS, MAX_ROUNDS = 1000 };

static void measure(TfcGemm *native, const Shape *s, int rounds)
{
    static double seconds[KINDS][MAX_ROUNDS];
    float *a = matrices(s->batch * s->m * s->k), *b = matrices(s->batch * s->k * s->n);
    float *c = matrices(s->batch * s->m * s->n);
    double flops = 2.0 * (double)(s->m * s->n) * (double)(s->k * s->batch), rate[KINDS];
    int repeat = (int)(2e7 / flops) + 1;
    for (int round = -1; round < rounds; round++) /* the first does not count */
        for (int kind = 0; kind < KINDS; kind++) {
            double start = seconds_now();
            if (kind == CEILING)
                run_chains((int64_t)(flops * repeat / CHAIN_FLOPS));
            for (int i = 0; kind != CEILING && i < repeat; i++)
                run_batch(kind == NATIVE ? native : tfc_blas_f32, s, a, b, c);
            seconds[kind][round < 0 ? 0 : round] = seconds_now() - start;
        }
    for (int kind = 0; kind < KINDS; kind++)
        rate[kind] = flops * repeat / median(seconds[kind], rounds) / 1e9;
    printf("| %s | %d x %d x %d, %s | %d | %.1f | %.1f | %.1f | %.2f | %.0f %% |\n", s->use, (int)s->m,
           (int)s->n, (int)s->k, s->transposed == 1 ? "a'b" : s->transposed == 2 ? "ab'" : "ab",
           (int)s->batch, rate[NATIVE], rate[BLAS], rate[CEILING], rate[NATIVE] / rate[BLAS],
           100 * rate[NATIVE] / rate[CEILING]);
    fflush(stdout);
    free(a);
    free(b);
    free(c);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    Jit *jit = NULL;
    Arena *arena = arena_new();
    TfcGemm *native = native_product(&jit, arena);
    if (rounds < 1 || rounds > MAX_ROUNDS || !native) {
        fprintf(stderr, "bench_gemm: %s\n", native ? "rounds are 1 … 1000" : "the product cannot be compiled");
        return 1;
    }
    gemm_setup();
    puts("| f32 | m x n x k | times | native GFLOP/s | OpenBLAS | ceiling | of OpenBLAS | of the ceiling |\n"
         "| --- | --- | --: | --: | --: | --: | --: | --: |");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        measure(native, &shapes[i], rounds);
    jit_free(jit);
    arena_free(arena);
    return 0;
}
