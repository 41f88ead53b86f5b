/* Products by the native form and by OpenBLAS, a shape of each class, in turn on one thread. */
#define _GNU_SOURCE
#include "driver/session/tuning.h"

#include "base/clock.h"
#include "base/median.h"
#include "codegen/codegen.h"
#include "ir/text.h"
#include "runtime/blas/openblas.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/size.h"
#include "runtime/exec/per_thread.h"

#include <stdlib.h>
#include <string.h>

/* Each sample takes SAMPLE_FLOPS or one product. A call counts as CALL_FLOPS. b is another matrix
 * each time, of those that fit into BYTES, as weights are: large ones do not stay in a core's
 * own caches. */
#define SAMPLE_FLOPS 1e6
#define CALL_FLOPS 2000.0
#define MOST_SECONDS 0.8
enum { ROUNDS = 5, BYTES = 32 << 20, MATRICES = 64 };

static const int64_t rows_at[] = {
#define ROWS(to, at) at,
#include "runtime/exec/shapes.def"
};
static const int64_t columns_at[] = {
#define COLUMNS(to, at) at,
#include "runtime/exec/shapes.def"
};
static const int64_t terms_at[] = {
#define TERMS(to, at) at,
#include "runtime/exec/shapes.def"
};

/* Which operands lie transposed: forward, gradients of weights, of inputs. */
enum { PLAIN, A_LIES_ACROSS, B_LIES_ACROSS, LIES };
enum { NATIVE, BLAS, KINDS };

typedef struct Contest {
    TfcType type;
    const TfcForm *form;
    TfcGemm *blas;
    void *a, *b, *c;
    double end; /* when there is no more time */
} Contest;

static double seconds_of(const Contest *contest, int kind, TfcProduct p, int repeat)
{
    int64_t bytes = type_bytes(contest->type), fit = BYTES / (p.n * p.k * bytes);
    int64_t matrices = fit < MATRICES ? fit : MATRICES;
    double begin = clock_seconds();
    for (int i = 0; i < repeat; i++) {
        p.b = (const char *)contest->b + i % matrices * p.n * p.k * bytes;
        if (kind == NATIVE)
            product_run(contest->form, &p, workspace_here());
        else
            contest->blas(&p);
    }
    return clock_seconds() - begin;
}

/* Both rates by their medians; false: no time is left. */
static bool measure_lie(const Contest *contest, int64_t m, int64_t n, int64_t k, int lie,
                        TuningRate *rate)
{
    bool a_across = lie == A_LIES_ACROSS, b_across = lie == B_LIES_ACROSS;
    /* clang-format off */
    TfcProduct p = {.m = m, .n = n, .k = k,
                    .a = contest->a, .a_row = a_across ? 1 : k, .a_column = a_across ? m : 1,
                    .b = contest->b, .b_row = b_across ? 1 : n, .b_column = b_across ? k : 1,
                    .c = contest->c, .c_row = n};
    /* clang-format on */
    double flops = 2 * (double)m * (double)n * (double)k, seconds[KINDS][ROUNDS];
    int repeat = (int)(SAMPLE_FLOPS / (flops + CALL_FLOPS)) + 1;
    for (int round = -1; round < ROUNDS; round++) /* the first does not count */
        for (int kind = 0; kind < KINDS; kind++) {
            if (clock_seconds() > contest->end)
                return false;
            seconds[kind][round < 0 ? 0 : round] = seconds_of(contest, kind, p, repeat);
        }
    rate->native = flops * repeat / median_sort(seconds[NATIVE], ROUNDS) / 1e9;
    rate->blas = flops * repeat / median_sort(seconds[BLAS], ROUNDS) / 1e9;
    return true;
}

static void measure_class(const Contest *contest, int64_t m, int64_t n, int64_t k,
                          TuningRate *worst)
{
    *worst = (TuningRate){0};
    for (int lie = 0; lie < LIES; lie++) {
        TuningRate rate;
        if (!measure_lie(contest, m, n, k, lie, &rate)) {
            *worst = (TuningRate){0};
            return;
        }
        if (lie == 0 || rate.blas * worst->native < worst->blas * rate.native)
            *worst = rate;
    }
}

static void measure_type(const Contest *contest, TuningRate rates[SHAPE_CLASSES])
{
    for (int r = 0; r < SHAPE_ROWS; r++)
        for (int c = 0; c < SHAPE_COLUMNS; c++)
            for (int t = 0; t < SHAPE_TERMS; t++) {
                int64_t m = rows_at[r], n = columns_at[c], k = terms_at[t];
                measure_class(contest, m, n, k, &rates[shape_class(m, n, k)]);
            }
}

/* ---- operands and forms ---- */

/* Small numbers: zeros and denormals would take another time. */
static void fill_measured(TfcType type, void *data, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double x = (double)(i * 7919 % 1001) / 1001 - 0.5;
        if (type == TFC_F32)
            ((float *)data)[i] = (float)x;
        else
            ((double *)data)[i] = x;
    }
}

/* A program with a product of each type that OpenBLAS has; NULL after errors. */
static const TfcProgram *compile(Job *job, Jit *jit)
{
    static const char text[] =
        "module \"tune\"\n"
        "func f {\n"
        "  %0 = input {name = \"a\"} : f32[2, 3]\n"
        "  %1 = input {name = \"b\"} : f32[3, 4]\n"
        "  %2 = dot %0, %1 {dtype = f32, contract_a = [1], contract_b = [0], batch_a = [], "
        "batch_b = []} : f32[2, 4]\n"
        "  %3 = input {name = \"c\"} : f64[2, 3]\n"
        "  %4 = input {name = \"d\"} : f64[3, 4]\n"
        "  %5 = dot %3, %4 {dtype = f64, contract_a = [1], contract_b = [0], batch_a = [], "
        "batch_b = []} : f64[2, 4]\n"
        "  output %2 {name = \"e\"}\n"
        "  output %5 {name = \"f\"}\n"
        "}\n";
    const Source *source = diag_source(job->arena, "tune.tir", text, sizeof text - 1);
    Module *module = ir_parse(job->arena, &job->diags, source);
    return module ? jit_compile(jit, module->functions.data[0], NULL, &job->diags) : NULL;
}

static bool measure_program(Job *job, const TfcProgram *program,
                            TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES])
{
    static TfcGemm *const blas[TFC_BLAS_TYPES] = {tfc_blas_f32, tfc_blas_f64};
    void *a = memory_new(BYTES), *b = memory_new(BYTES), *c = memory_new(BYTES);
    bool ok = (a && b && c && workspace_here()) || job_no_memory(job);
    double end = clock_seconds() + MOST_SECONDS;
    for (int t = 0; ok && t < TFC_BLAS_TYPES; t++) {
        fill_measured((TfcType)t, b, BYTES / type_bytes((TfcType)t));
        fill_measured((TfcType)t, a, rows_at[SHAPE_ROWS - 1] * terms_at[SHAPE_TERMS - 1]);
        Contest contest = {(TfcType)t, program->products.native[t], blas[t], a, b, c, end};
        measure_type(&contest, rates[t]);
    }
    free(a);
    free(b);
    free(c);
    return ok;
}

bool tuning_measure(Job *job, TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES])
{
    const TargetOptions target = {.cpu = job->cpu, .opt_level = 2, .gemm = GEMM_NATIVE};
    memset(rates, 0, sizeof(TuningRate) * TFC_BLAS_TYPES * SHAPE_CLASSES);
    Jit *jit = jit_new(&target, &job->diags);
    const TfcProgram *program = jit ? compile(job, jit) : NULL;
    bool ok = program && openblas_load(&job->diags) && measure_program(job, program, rates);
    jit_free(jit);
    return ok;
}
