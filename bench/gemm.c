/* bench_gemm: products of one thread, ours against OpenBLAS's and against ceilings.h's rates, per
 * shape: of f32, and of bf16, which OpenBLAS has not; and products of few rows whose b comes
 * from memory, against the rate at which that is read. They run in turn, and the ratios are of
 * their medians, since clocks and neighbours change meanwhile.
 *
 * With --cpu our code and the ceilings are those of that processor, and OpenBLAS's of one like
 * it, unless OPENBLAS_CORETYPE says otherwise.
 *
 *   build/release/bench_gemm [--cpu NAME] [--few-rows] [--only USE] [rounds]
 *
 * bench/compare --gemm-only runs it; it prints tables in Markdown. */
#define _GNU_SOURCE
#include "base/bf16.h"
#include "base/clock.h"
#include "bench/ceilings.h"
#include "codegen/codegen.h"
#include "ir/text.h"
#include "runtime/blas/openblas.h"
#include "runtime/exec/gemm.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/per_thread.h"
#include "runtime/product/product_pack.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Shape {
    const char *use;
    int64_t m, n, k;
    int transposed; /* 1: a, 2: b */
    int64_t batch;
} Shape;

/* The first N_LARGE are products of models as large as the paper's. */
enum { N_LARGE = 12 };
static const Shape shapes[] = {
    /* clang-format off */
    {"forward",   2048, 512,  512,  0, 1},
    {"d weights", 512,  512,  2048, 1, 1},
    {"d input",   2048, 512,  512,  2, 1},
    {"forward",   2048, 2048, 512,  0, 1},
    {"d weights", 512,  2048, 2048, 1, 1},
    {"d input",   2048, 512,  2048, 2, 1},
    {"forward",   2048, 512,  2048, 0, 1},
    {"d weights", 2048, 512,  2048, 1, 1},
    {"d input",   2048, 2048, 512,  2, 1},
    {"forward",   1024, 256,  256,  0, 1},
    {"d weights", 256,  256,  1024, 1, 1},
    {"d input",   1024, 256,  256,  2, 1},
    {"forward",   1500, 128,  128,  0, 1},
    {"d weights", 128,  128,  1500, 1, 1},
    {"d input",   1500, 128,  128,  2, 1},
    {"logits",    1500, 8000, 128,  0, 1},
    {"d weights", 128,  8000, 1500, 1, 1},
    {"d input",   1500, 128,  8000, 2, 1},
    {"scores",    14,   14,   32,   2, 400},
    {"values",    14,   32,   14,   0, 400},
    {"d values",  14,   32,   14,   1, 400},
    {"small",     8,    8,    8,    0, 400},
    {"small",     32,   32,   32,   0, 400},
    {"small",     64,   64,   64,   0, 400},
    {"one row",   1,    128,  128,  0, 1},
    {"one row",   1,    128,  128,  2, 1},
    {"one row",   1,    512,  512,  0, 1},
    {"one row",   1,    512,  2048, 0, 1},
    {"one row",   1,    2048, 512,  0, 1},
    {"two rows",  2,    512,  512,  0, 1},
    {"four rows", 4,    512,  512,  0, 1},
    {"four rows", 4,    2048, 512,  0, 1},
    {"logits",    1,    8000, 256,  2, 1},
    {"logits",    4,    8000, 256,  2, 1},
    /* clang-format on */
};

/* Several products, each with a b of its own, which together no cache holds. */
static const Shape few_rows[] = {
    /* clang-format off */
    {"1",  1,  2048, 512,  0, 64},
    {"1",  1,  512,  2048, 0, 64},
    {"1",  1,  2048, 512,  2, 64},
    {"2",  2,  2048, 512,  0, 64},
    {"4",  4,  2048, 512,  0, 64},
    {"4",  4,  2048, 512,  2, 64},
    {"8",  8,  2048, 512,  0, 64},
    {"16", 16, 2048, 512,  0, 64},
    {"36", 36, 2048, 512,  0, 64},
    {"36", 36, 2048, 512,  2, 64},
    /* clang-format on */
};

/* Of an operand; such values draw more power than zeros. */
static float element(int64_t i) { return (float)(i * 7919 % 1001) / 1001 - 0.5f; }

/* ---- products ---- */

typedef struct Contest {
    const char *type;
    size_t bytes; /* of an element of a and b */
    const TfcForm *native;
    bool blas;
    Ceiling *ceiling, *reading; /* registers alone; with operands from the cache, or NULL */
    bool memory;                /* beside reading b */
} Contest;

/* The form of a program that multiplies matrices of this type. */
static const TfcForm *native_product(Jit *jit, Arena *arena, TfcType type, const char *name)
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

/* By the form, or by OpenBLAS. */
static void run_batch(const TfcForm *form, const Shape *s, size_t bytes, const char *a,
                      const char *b, float *c, const char *panels)
{
    int64_t a_row = s->transposed & 1 ? 1 : s->k, a_column = s->transposed & 1 ? s->m : 1;
    int64_t b_row = s->transposed & 2 ? 1 : s->n, b_column = s->transposed & 2 ? s->k : 1;
    for (int64_t i = 0; i < s->batch; i++) {
        /* clang-format off */
        TfcProduct p = {.m = s->m, .n = s->n, .k = s->k,
                        .a = a + i * s->m * s->k * (int64_t)bytes, .a_row = a_row,
                        .a_column = a_column,
                        .b = b + i * s->k * s->n * (int64_t)bytes, .b_row = b_row,
                        .b_column = b_column, .c = c + i * s->m * s->n, .c_row = s->n};
        /* clang-format on */
        if (panels)
            p.panels = panels + i * s->k * s->n * (int64_t)sizeof(float);
        if (form)
            product_run(form, &p, workspace_here());
        else
            tfc_blas_f32(&p);
    }
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

enum { NATIVE, BLAS, CEILING, READING, MEMORY, PANELS, KINDS, MAX_ROUNDS = 1000 };

static void run_kind(const Contest *contest, int kind, const Shape *s, int repeat, double flops,
                     const void *a, const void *b, float *c, const char *panels)
{
    bool multiplies =
        kind == NATIVE || (kind == PANELS && contest->memory) || (kind == BLAS && contest->blas);
    Ceiling *ceiling = kind == CEILING   ? contest->ceiling
                       : kind == READING ? contest->reading
                                         : NULL;
    if (ceiling)
        ceiling(flops * repeat);
    if (kind == MEMORY && contest->memory)
        for (int i = 0; i < repeat; i++)
            read_memory(b, (size_t)(s->batch * s->k * s->n) * contest->bytes);
    for (int i = 0; multiplies && i < repeat; i++)
        run_batch(kind == NATIVE || kind == PANELS ? contest->native : NULL, s, contest->bytes, a,
                  b, c, kind == PANELS ? panels : NULL);
}

static void print_row(const Contest *contest, const Shape *s, const double rate[KINDS])
{
    static const char *const forms[] = {"ab", "a'b", "ab'"};
    printf("| %s | %d x %d x %d, %s | %d | %.1f | ", s->use, (int)s->m, (int)s->n, (int)s->k,
           forms[s->transposed], (int)s->batch, rate[NATIVE]);
    if (contest->blas)
        printf("%.1f | ", rate[BLAS]);
    if (contest->ceiling)
        printf("%.1f | ", rate[CEILING]);
    if (contest->blas)
        printf("%.2f | ", rate[NATIVE] / rate[BLAS]);
    if (contest->ceiling)
        printf("%.0f %% |", 100 * rate[NATIVE] / rate[CEILING]);
    if (contest->reading)
        printf(" %.1f | %.0f %% |", rate[READING], 100 * rate[NATIVE] / rate[READING]);
    if (contest->memory)
        printf(" %.1f | %.0f %% |", rate[MEMORY] * (double)contest->bytes / (2 * (double)s->m),
               100 * rate[NATIVE] / rate[MEMORY]);
    if (contest->memory)
        printf(" %.1f | %.0f %% |", rate[PANELS], 100 * rate[PANELS] / rate[MEMORY]);
    puts("");
    fflush(stdout);
}

static void measure(const Contest *contest, const Shape *s, int rounds)
{
    static double seconds[KINDS][MAX_ROUNDS];
    void *a = matrices(contest->bytes, s->batch * s->m * s->k);
    void *b = matrices(contest->bytes, s->batch * s->k * s->n);
    float *c = matrices(sizeof *c, s->batch * s->m * s->n);
    char *panels = contest->memory ? matrices(contest->bytes, s->batch * s->k * s->n) : NULL;
    for (int64_t i = 0; panels && i < s->batch; i++)
        product_pack(contest->native, s->k, 0, s->n,
                     (char *)b + i * s->k * s->n * (int64_t)contest->bytes,
                     s->transposed & 2 ? 1 : s->n, s->transposed & 2 ? s->k : 1,
                     panels + i * s->k * s->n * (int64_t)contest->bytes);
    double flops = 2.0 * (double)(s->m * s->n) * (double)(s->k * s->batch), rate[KINDS];
    int repeat = (int)(2e7 / flops) + 1;
    for (int round = -1; round < rounds; round++) /* the first does not count */
        for (int kind = 0; kind < KINDS; kind++) {
            double start = clock_seconds();
            run_kind(contest, kind, s, repeat, flops, a, b, c, panels);
            seconds[kind][round < 0 ? 0 : round] = clock_seconds() - start;
        }
    for (int kind = 0; kind < KINDS; kind++)
        rate[kind] = flops * repeat / median(seconds[kind], rounds) / 1e9;
    print_row(contest, s, rate);
    free(panels);
    free(a);
    free(b);
    free(c);
}

typedef struct Options {
    const char *cpu, *only; /* shapes of this use; NULL: all */
    bool few_rows;
    int rounds;
} Options;

static void hold(const Contest *contest, const Shape *of, size_t n_shapes, const Options *o)
{
    const struct {
        bool shown;
        const char *head;
        /* clang-format off */
    } columns[] = {{true, contest->type},          {true, "m x n x k"},
                   {true, "times"},                {true, "native GFLOP/s"},
                   {contest->blas, "OpenBLAS"},    {contest->ceiling, "ceiling"},
                   {contest->blas, "of OpenBLAS"}, {contest->ceiling, "of the ceiling"},
                   {contest->reading, "reading"},  {contest->reading, "of that"},
                   {contest->memory, "GB/s read"}, {contest->memory, "of that"},
                   {contest->memory, "b packed"},  {contest->memory, "of memory"}};
    /* clang-format on */
    enum { COLUMNS = sizeof columns / sizeof columns[0], TEXTS = 2 };
    for (int i = 0; i < COLUMNS; i++)
        if (columns[i].shown)
            printf("| %s ", columns[i].head);
    puts("|");
    for (int i = 0; i < COLUMNS; i++)
        if (columns[i].shown)
            printf(i < TEXTS ? "| --- " : "| --: ");
    puts("|");
    for (size_t i = 0; i < n_shapes; i++)
        if (!o->only || !strcmp(o->only, of[i].use))
            measure(contest, &of[i], o->rounds);
    puts("");
}

static bool read_options(int argc, char **argv, Options *o)
{
    *o = (Options){.rounds = 21};
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--cpu") && i + 1 < argc)
            o->cpu = argv[++i];
        else if (!strcmp(argv[i], "--few-rows"))
            o->few_rows = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            o->only = argv[++i];
        else
            o->rounds = atoi(argv[i]);
    return o->rounds >= 1 && o->rounds <= MAX_ROUNDS;
}

/* OpenBLAS chooses its kernels when it is loaded: this program begins again. */
static void choose_blas(const Options *o, char **argv)
{
    static const struct {
        const char *cpu, *core;
    } cores[] = {
        /* clang-format off */
        {"x86-64-v4", "SkylakeX"},
        {"x86-64-v3", "Haswell"},
        {"x86-64-v2", "Nehalem"},
        {"x86-64",    "Nehalem"},
        /* clang-format on */
    };
    for (size_t i = 0; o->cpu && i < sizeof cores / sizeof cores[0]; i++)
        if (!strcmp(o->cpu, cores[i].cpu) && !getenv("OPENBLAS_CORETYPE")) {
            setenv("OPENBLAS_CORETYPE", cores[i].core, 1);
            execv("/proc/self/exe", argv);
        }
}

static void hold_all(const Options *o, const TfcForm *f32, const TfcForm *bf16)
{
    Ceilings c = ceilings_of(o->cpu);
    Contest of_f32 = {"f32", sizeof(float), f32, true, c.multiply_add, c.read_multiply_add, false};
    Contest of_bf16 = {"bf16", sizeof(uint16_t), bf16, false, c.pairs, NULL, false};
    Contest of_rows = {"rows", sizeof(float), f32, true, NULL, NULL, true};
    printf("Code for %s; OpenBLAS's for %s.\n\n", o->cpu ? o->cpu : "this machine",
           openblas_get_corename());
    if (!o->few_rows) {
        hold(&of_f32, shapes, sizeof shapes / sizeof shapes[0], o);
        hold(&of_bf16, shapes, N_LARGE, o);
    }
    hold(&of_rows, few_rows, sizeof few_rows / sizeof few_rows[0], o);
}

int main(int argc, char **argv)
{
    Options o;
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr,
                "usage: bench_gemm [--cpu NAME] [--few-rows] [--only USE] [rounds, 1 to %d]\n",
                MAX_ROUNDS);
        return 1;
    }
    choose_blas(&o, argv);
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    TargetOptions target = {.cpu = o.cpu, .opt_level = 2, .gemm = GEMM_NATIVE};
    Jit *jit = openblas_load(&diags) ? jit_new(&target, &diags) : NULL;
    const TfcForm *f32 = jit ? native_product(jit, arena, TFC_F32, "f32") : NULL;
    const TfcForm *bf16 = f32 ? native_product(jit, arena, TFC_BF16, "bf16") : NULL;
    if (bf16)
        hold_all(&o, f32, bf16);
    else
        fprintf(stderr, "bench_gemm: the products cannot be compiled%s%s\n", o.cpu ? " for " : "",
                o.cpu ? o.cpu : "");
    jit_free(jit);
    arena_free(arena);
    return bf16 ? 0 : 1;
}
