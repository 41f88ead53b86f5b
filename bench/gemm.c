/* bench_gemm: products of one thread, ours against OpenBLAS's and against the rate of
 * multiply-adds that never leave registers, per shape; of f32, and of bf16, which OpenBLAS
 * has not. Beside them, of f32, multiply-adds that read their operands from the first-level
 * cache as a tile does, which lowers the clock of some processors. They run in turn, and the
 * ratios are of their medians, since clocks and neighbours change meanwhile.
 *
 * bench/compare --gemm-only runs it; it prints tables in Markdown.
 *
 *   build/release/bench_gemm [rounds] */
#include "base/bf16.h"
#include "base/cpu.h"
#include "codegen/codegen.h"
#include "ir/text.h"
#include "runtime/exec/gemm.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct Shape {
    const char *use;
    int64_t m, n, k;
    int transposed; /* 1: a, 2: b */
    int64_t batch;
} Shape;

/* The first N_LARGE are products of models as large as the paper's. */
enum { N_LARGE = 12 };
static const Shape shapes[] = {
    {"forward", 2048, 512, 512, 0, 1},    {"d weights", 512, 512, 2048, 1, 1},
    {"d input", 2048, 512, 512, 2, 1},    {"forward", 2048, 2048, 512, 0, 1},
    {"d weights", 512, 2048, 2048, 1, 1}, {"d input", 2048, 512, 2048, 2, 1},
    {"forward", 2048, 512, 2048, 0, 1},   {"d weights", 2048, 512, 2048, 1, 1},
    {"d input", 2048, 2048, 512, 2, 1},   {"forward", 1024, 256, 256, 0, 1},
    {"d weights", 256, 256, 1024, 1, 1},  {"d input", 1024, 256, 256, 2, 1},
    {"forward", 1500, 128, 128, 0, 1},    {"d weights", 128, 128, 1500, 1, 1},
    {"d input", 1500, 128, 128, 2, 1},    {"logits", 1500, 8000, 128, 0, 1},
    {"d weights", 128, 8000, 1500, 1, 1}, {"d input", 1500, 128, 8000, 2, 1},
    {"scores", 14, 14, 32, 2, 400},       {"values", 14, 32, 14, 0, 400},
    {"d values", 14, 32, 14, 1, 400},     {"small", 8, 8, 8, 0, 400},
    {"small", 32, 32, 32, 0, 400},        {"small", 64, 64, 64, 0, 400},
    {"one row", 1, 128, 128, 0, 1},       {"one row", 1, 128, 128, 2, 1},
    {"one row", 1, 512, 512, 0, 1},       {"one row", 1, 512, 2048, 0, 1},
    {"one row", 1, 2048, 512, 0, 1},      {"two rows", 2, 512, 512, 0, 1},
    {"four rows", 4, 512, 512, 0, 1},     {"four rows", 4, 2048, 512, 0, 1},
    {"logits", 1, 8000, 256, 2, 1},       {"logits", 4, 8000, 256, 2, 1},
};

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of an operand; such values draw more power than zeros. */
static float element(int64_t i) { return (float)(i * 7919 % 1001) / 1001 - 0.5f; }

/* ---- the ceilings ---- */

/* Runs so many FLOPs. */
typedef void Ceiling(double flops);

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

static void multiply_add(double flops) { run_chains((int64_t)(flops / CHAIN_FLOPS)); }

/* A tile of 6 × 4 vectors over so many terms, again and again: 10 loads for 24 products. */
enum { TILE_ROWS = 6, TILE_VECTORS = 4, TILE_LANES = 16, TILE_TERMS = 128 };
enum { TILE_FLOPS = 2 * TILE_ROWS * TILE_VECTORS * TILE_LANES * TILE_TERMS };

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2,fma", "default"), optimize("O3", "fp-contract=fast")))
#endif
static void
run_tiles(int64_t rounds, const float *a, const Wide *b, Wide *c)
{
    for (int64_t r = 0; r < rounds; r++) {
        Wide sums[TILE_ROWS][TILE_VECTORS] = {0};
        for (int l = 0; l < TILE_TERMS; l++)
#pragma GCC unroll 6
            for (int i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
                for (int v = 0; v < TILE_VECTORS; v++)
                    sums[i][v] += a[l * TILE_ROWS + i] * b[l * TILE_VECTORS + v];
        memcpy(c, sums, sizeof sums);
        __asm__ volatile("" : : : "memory");
    }
}

static void read_multiply_add(double flops)
{
    static float a[TILE_TERMS * TILE_ROWS];
    static Wide b[TILE_TERMS * TILE_VECTORS], c[TILE_ROWS * TILE_VECTORS];
    for (int i = 0; a[1] == 0 && i < TILE_TERMS * TILE_VECTORS * TILE_LANES; i++) {
        a[i % (TILE_TERMS * TILE_ROWS)] = element(i);
        b[i / TILE_LANES][i % TILE_LANES] = element(i);
    }
    run_tiles((int64_t)(flops / TILE_FLOPS), a, b, c);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bf16"))) static void dot_pairs(double flops)
{
    __m512 sums[CHAINS] = {0};
    __m512bh x = {0}, y = {0};
    __asm__ volatile("" : "+m"(x), "+m"(y));
    for (int64_t r = 0; r < (int64_t)(flops / (2 * CHAIN_FLOPS)); r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = _mm512_dpbf16_ps(sums[i], x, y);
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "m"(sums[i]));
}

__attribute__((target("amx-tile,amx-bf16"))) static void dot_tiles(double flops)
{
    enum { REGISTER_FLOPS = 2 * 16 * 16 * 32 };
    static const struct {
        uint8_t palette, row, zeros[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } registers = {1, 0, {0}, {64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16}};
    _tile_loadconfig(&registers);
    _tile_zero(4);
    _tile_zero(5);
    for (int64_t r = 0; r < (int64_t)(flops / (4 * REGISTER_FLOPS)); r++) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_release();
}
#endif

/* Without an instruction for them, pairs are multiplied as f32. */
static Ceiling *pairs_ceiling(void)
{
#if defined(__x86_64__)
    if (cpu_allows_amx())
        return dot_tiles;
    if (__builtin_cpu_supports("avx512bf16"))
        return dot_pairs;
#endif
    return multiply_add;
}

/* ---- products ---- */

typedef struct Contest {
    const char *type;
    size_t bytes; /* of an element of a and b */
    TfcGemm *native, *blas;
    Ceiling *ceiling, *reading; /* registers alone; with operands from the cache, or NULL */
} Contest;

/* The kernel of a program that multiplies matrices of this type. */
static TfcGemm *native_product(Jit *jit, Arena *arena, TfcType type, const char *name)
{
    char text[512];
    snprintf(text, sizeof text,
             "module \"bench\"\n"
             "func f {\n"
             "  %%0 = input {name = \"a\"} : %s[2, 3]\n"
             "  %%1 = input {name = \"b\"} : %s[3, 4]\n"
             "  %%2 = dot %%0, %%1 {dtype = f32, contract_a = [1], contract_b = [0], batch_a = [], "
             "batch_b = []} : f32[2, 4]\n"
             "  output %%2 {name = \"c\"}\n"
             "}\n",
             name, name);
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = ir_parse(arena, &diags, diag_source(arena, "bench.tir", text, strlen(text)));
    const TfcProgram *program =
        module ? jit_compile(jit, module->functions.data[0], NULL, &diags) : NULL;
    return program ? program->products.native[type] : NULL;
}

static void *matrices(size_t bytes, int64_t count)
{
    void *data = memory_new(count * (int64_t)bytes);
    for (int64_t i = 0; data && i < count; i++) {
        float x = element(i);
        if (bytes == sizeof x)
            ((float *)data)[i] = x;
        else
            ((uint16_t *)data)[i] = bf16_from_float(x);
    }
    return data;
}

static void run_batch(TfcGemm *product, const Shape *s, size_t bytes, const char *a, const char *b,
                      float *c)
{
    int64_t a_row = s->transposed & 1 ? 1 : s->k, a_column = s->transposed & 1 ? s->m : 1;
    int64_t b_row = s->transposed & 2 ? 1 : s->n, b_column = s->transposed & 2 ? s->k : 1;
    for (int64_t i = 0; i < s->batch; i++)
        product(s->m, s->n, s->k, a + i * s->m * s->k * (int64_t)bytes, a_row, a_column,
                b + i * s->k * s->n * (int64_t)bytes, b_row, b_column, c + i * s->m * s->n, s->n,
                TFC_PUT_OVER, NULL, workspace_here());
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

enum { NATIVE, BLAS, CEILING, READING, KINDS, MAX_ROUNDS = 1000 };

static void run_kind(const Contest *contest, int kind, const Shape *s, int repeat, double flops,
                     const void *a, const void *b, float *c)
{
    TfcGemm *product = kind == NATIVE ? contest->native : kind == BLAS ? contest->blas : NULL;
    Ceiling *ceiling = kind == CEILING   ? contest->ceiling
                       : kind == READING ? contest->reading
                                         : NULL;
    if (ceiling)
        ceiling(flops * repeat);
    for (int i = 0; product && i < repeat; i++)
        run_batch(product, s, contest->bytes, a, b, c);
}

static void print_row(const Contest *contest, const Shape *s, const double rate[KINDS])
{
    static const char *const forms[] = {"ab", "a'b", "ab'"};
    printf("| %s | %d x %d x %d, %s | %d | %.1f | ", s->use, (int)s->m, (int)s->n, (int)s->k,
           forms[s->transposed], (int)s->batch, rate[NATIVE]);
    if (contest->blas)
        printf("%.1f | ", rate[BLAS]);
    printf("%.1f | ", rate[CEILING]);
    if (contest->blas)
        printf("%.2f | ", rate[NATIVE] / rate[BLAS]);
    printf("%.0f %% |", 100 * rate[NATIVE] / rate[CEILING]);
    if (contest->reading)
        printf(" %.1f | %.0f %% |", rate[READING], 100 * rate[NATIVE] / rate[READING]);
    puts("");
    fflush(stdout);
}

static void measure(const Contest *contest, const Shape *s, int rounds)
{
    static double seconds[KINDS][MAX_ROUNDS];
    void *a = matrices(contest->bytes, s->batch * s->m * s->k);
    void *b = matrices(contest->bytes, s->batch * s->k * s->n);
    float *c = matrices(sizeof *c, s->batch * s->m * s->n);
    double flops = 2.0 * (double)(s->m * s->n) * (double)(s->k * s->batch), rate[KINDS];
    int repeat = (int)(2e7 / flops) + 1;
    for (int round = -1; round < rounds; round++) /* the first does not count */
        for (int kind = 0; kind < KINDS; kind++) {
            double start = seconds_now();
            run_kind(contest, kind, s, repeat, flops, a, b, c);
            seconds[kind][round < 0 ? 0 : round] = seconds_now() - start;
        }
    for (int kind = 0; kind < KINDS; kind++)
        rate[kind] = flops * repeat / median(seconds[kind], rounds) / 1e9;
    print_row(contest, s, rate);
    free(a);
    free(b);
    free(c);
}

static void hold(const Contest *contest, size_t n_shapes, int rounds)
{
    bool blas = contest->blas, reading = contest->reading;
    printf("| %s | m x n x k | times | native GFLOP/s | %sceiling | %sof the ceiling |%s\n",
           contest->type, blas ? "OpenBLAS | " : "", blas ? "of OpenBLAS | " : "",
           reading ? " reading | of that |" : "");
    printf("| --- | --- | --: | --: | --: | --: |%s%s\n", blas ? " --: | --: |" : "",
           reading ? " --: | --: |" : "");
    for (size_t i = 0; i < n_shapes; i++)
        measure(contest, &shapes[i], rounds);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    Jit *jit = jit_new(&(TargetOptions){.opt_level = 2, .gemm = GEMM_NATIVE}, &diags);
    Contest f32 = {"f32", sizeof(float), NULL, tfc_blas_f32, multiply_add, read_multiply_add};
    Contest bf16 = {"bf16", sizeof(uint16_t), NULL, NULL, pairs_ceiling(), NULL};
    if (jit) {
        f32.native = native_product(jit, arena, TFC_F32, "f32");
        bf16.native = native_product(jit, arena, TFC_BF16, "bf16");
    }
    bool compiled = f32.native && bf16.native;
    if (rounds < 1 || rounds > MAX_ROUNDS || !compiled) {
        fprintf(stderr, "bench_gemm: %s\n",
                compiled ? "rounds are 1 … 1000" : "the product cannot be compiled");
        return 1;
    }
    gemm_setup();
    hold(&f32, sizeof shapes / sizeof shapes[0], rounds);
    puts("");
    hold(&bf16, N_LARGE, rounds);
    jit_free(jit);
    arena_free(arena);
    return 0;
}
