/* tfc check: does the compiler compute what the model says? */
#include "base/json_write.h"
#include "check/check.h"
#include "cli/commands/commands.h"

#include <stdio.h>

typedef struct CheckOptions {
    Common common;
    int64_t samples, seed;
    bool full, json;
} CheckOptions;

static void print_json(const Check *check)
{
    static const char *const words[] = {"ok", "failed", "skipped"};
    Text out = {0};
    JsonWriter json = {.out = &out};
    json_open(&json, NULL, '[');
    for (size_t i = 0; i < check->rows.count; i++) {
        const CheckRow *row = &check->rows.data[i];
        if (i)
            json_line(&json, " ");
        json_open(&json, NULL, '{');
        json_put_text(&json, "check", row->name);
        json_put_text(&json, "result", words[row->result]);
        json_put_text(&json, "detail", row->detail);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    puts(out.data);
    text_free(&out);
}

static void print_rows(const Check *check)
{
    static const char *const words[] = {"ok", "FAILED", "skipped"};
    for (size_t i = 0; i < check->rows.count; i++) {
        const CheckRow *row = &check->rows.data[i];
        printf("%-8s %-40s %s\n", words[row->result], row->name, row->detail);
    }
}

static int count_failed(const Check *check)
{
    int failed = 0;
    for (size_t i = 0; i < check->rows.count; i++)
        failed += check->rows.data[i].result == CHECK_FAILED;
    return failed;
}

/* Whether the model is one at its own sizes, too: reduced ones may fit where these do not. */
static bool loads_whole(Job *job, const SessionOptions *options)
{
    Session session;
    bool ok = session_open(&session, job, options);
    if (ok)
        session_close(&session);
    return ok;
}

static int run_check(Job *job, void *record, const Arguments *arguments)
{
    const CheckOptions *o = record;
    ModelArgument model;
    if (!common_model(job, &o->common, arguments->words[0], &model))
        return cli_finish(job, false);
    if (!loads_whole(job, &model.options))
        return cli_finish(job, false);
    Check check = {.job = job,
                   .path = model.options.path,
                   .library = model.options.library,
                   .reach = model.options.reach,
                   .settings = model.options.settings,
                   .samples = o->samples,
                   .seed = (uint64_t)o->seed};
    if (!o->full)
        check_reduce(&check);
    bool ok = check_model(&check);
    (o->json ? print_json : print_rows)(&check);
    return cli_finish(job, ok && !count_failed(&check));
}

static const Option options[] = {
    {"full", NULL, FIELD(CheckOptions, full), 0, NULL,
     "check at the model's own sizes (smaller ones, if the model has consts for them)"},
    {"samples", "N", FIELD(CheckOptions, samples), 1, "6",
     "elements of each param whose gradient is checked"},
    {"seed", "S", FIELD(CheckOptions, seed), 0, "1", "seed of params, inputs and dropout"},
    OPTION_SET(CheckOptions),
    OPTION_GEMM(CheckOptions),
    OPTION_CPU(CheckOptions),
    {"json", NULL, FIELD(CheckOptions, json), 0, NULL,
     "print a JSON list of objects: check, result, detail"},
    OPTION_ALLOW_OUTSIDE(CheckOptions),
};

const Command command_check = {
    .name = "check",
    .summary = "check gradients, fusion, kernels and threads of a model",
    .arguments = "MODEL.tfg|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Checks a model on made-up batches: gradients in f64 against central differences, "
        "for which states and what stop() gives are held; compiled code, fused and not, in f64 "
        "and f32, against an interpreter that shares nothing with the compiler, within what "
        "rounding allows, on batches of mixed, equal and no lengths; vector kernels against the "
        "scalar reference, one thread against two, decoding token by token against all at once. "
        "Prints a table; exit status 1 if any check fails.",
    COMMAND_OPTIONS(CheckOptions, options),
    .run = run_check,
};
