/* tfc tune: which shapes OpenBLAS multiplies under --gemm auto, and why. */
#include "base/json_write.h"
#include "cli/commands/commands.h"
#include "driver/session/tuning.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Tune {
    Common common;
    bool renew, json;
} Tune;

/* Sizes `from` to `to` of a side; of the last bin INT64_MAX. */
typedef struct Bin {
    int64_t from, to;
} Bin;

static const int64_t row_ends[] = {
#define ROWS(to, at) to,
#include "runtime/exec/shapes.def"
};
static const int64_t column_ends[] = {
#define COLUMNS(to, at) to,
#include "runtime/exec/shapes.def"
};
static const int64_t term_ends[] = {
#define TERMS(to, at) to,
#include "runtime/exec/shapes.def"
};

static Bin bin_of(const int64_t *ends, int i) { return (Bin){i ? ends[i - 1] + 1 : 1, ends[i]}; }

/* What a row of the table tells. */
typedef struct TuningRow {
    const char *type;
    Bin rows, columns, terms;
    TuningRate rate;
    bool blas;
} TuningRow;

static TuningRow row_of(Tuning *tuning, int type, int class)
{
    static const char *const types[TFC_BLAS_TYPES] = {"f32", "f64"};
    return (TuningRow){.type = types[type],
                       .rows = bin_of(row_ends, class / SHAPE_TERMS / SHAPE_COLUMNS),
                       .columns = bin_of(column_ends, class / SHAPE_TERMS % SHAPE_COLUMNS),
                       .terms = bin_of(term_ends, class % SHAPE_TERMS),
                       .rate = tuning->rates[type][class],
                       .blas = tuning_choose(tuning->rates).blas[type] >> class & 1};
}

static const char *bin_text(Arena *arena, Bin bin)
{
    if (bin.from == bin.to)
        return arena_printf(arena, "%" PRId64, bin.from);
    if (bin.to == INT64_MAX)
        return arena_printf(arena, "%" PRId64 "+", bin.from);
    return arena_printf(arena, "%" PRId64 "-%" PRId64, bin.from, bin.to);
}

static void print_row(Arena *arena, const TuningRow *row)
{
    printf("%-5s %-7s %-8s %-8s %8.1f %9.1f  %s\n", row->type, bin_text(arena, row->rows),
           bin_text(arena, row->columns), bin_text(arena, row->terms), row->rate.native,
           row->rate.blas, row->blas ? "OpenBLAS" : "native");
}

static void print_table(Job *job, Tuning *tuning)
{
    printf("native for %s; OpenBLAS %s; GFLOP/s of one thread\n\n", tuning->processor,
           tuning->blas);
    printf("type  rows    columns  terms      native  OpenBLAS  --gemm auto\n");
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        for (int c = 0; c < SHAPE_CLASSES; c++) {
            TuningRow row = row_of(tuning, t, c);
            print_row(job->arena, &row);
        }
    if (!tuning->kept)
        printf("\nnot kept, so --gemm auto is native for every shape: %s\n",
               tuning->note ? tuning->note : "the cache cannot be read");
}

static void put_bin(JsonWriter *json, const char *key, Bin bin)
{
    json_open(json, key, '[');
    json_put_integer(json, NULL, bin.from);
    if (bin.to != INT64_MAX)
        json_put_integer(json, NULL, bin.to);
    json_close(json, ']');
}

static void put_row(JsonWriter *json, const TuningRow *row)
{
    json_line(json, "  ");
    json_open(json, NULL, '{');
    json_put_text(json, "type", row->type);
    put_bin(json, "rows", row->rows);
    put_bin(json, "columns", row->columns);
    put_bin(json, "terms", row->terms);
    json_put_number(json, "native", row->rate.native, 4);
    json_put_number(json, "openblas", row->rate.blas, 4);
    json_put_text(json, "choice", row->blas ? "blas" : "native");
    json_close(json, '}');
}

static void print_json(Tuning *tuning)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    json_put_text(&json, "processor", tuning->processor);
    json_put_text(&json, "openblas", tuning->blas);
    json_put_bool(&json, "kept", tuning->kept);
    json_open(&json, "classes", '[');
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        for (int c = 0; c < SHAPE_CLASSES; c++) {
            TuningRow row = row_of(tuning, t, c);
            put_row(&json, &row);
        }
    json_close(&json, ']');
    json_close(&json, '}');
    puts(text.data);
    text_free(&text);
}

static int run_tune(Job *job, void *record, const Arguments *arguments)
{
    const Tune *o = record;
    Tuning tuning;
    bool ok = tuning_find(job, o->renew ? TUNING_RENEWED : TUNING_SHOWN, &tuning);
    if (ok && o->json)
        print_json(&tuning);
    else if (ok)
        print_table(job, &tuning);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"renew", NULL, FIELD(Tune, renew), 0, NULL, "measure again, and keep the new rates"},
    OPTION_CPU(Tune),
    {"json", NULL, FIELD(Tune, json), 0, NULL,
     "print a JSON object: processor, openblas, kept, classes of shapes with rates and choice"},
};

const Command command_tune = {
    .name = "tune",
    .summary = "show which products --gemm auto leaves to OpenBLAS",
    .arguments = "",
    .text =
        "Shows which shapes of products OpenBLAS multiplies and which native kernels do, in "
        "training with --gemm auto, and the rates that decide: of one thread, in the layout of "
        "operands in which OpenBLAS does worst. OpenBLAS is chosen if it is faster by more than "
        "5 %. The rates are measured at first use and kept in the cache.",
    COMMAND_OPTIONS(Tune, options),
    .run = run_tune,
};
