/* tfc check: does the compiler compute what the model says? */
#include "check/check.h"
#include "cli/options.h"
#include "driver/model_argument.h"

#include <stdio.h>

static void print_json(const Check *check)
{
    static const char *const words[] = {"ok", "failed", "skipped"};
    Text out = {0};
    for (size_t i = 0; i < check->rows.count; i++) {
        const CheckRow *row = &check->rows.data[i];
        text_add(&out, "%s{\"check\": ", i ? ",\n " : "");
        text_quote(&out, row->name);
        text_add(&out, ", \"result\": \"%s\", \"detail\": ", words[row->result]);
        text_quote(&out, row->detail);
        text_add(&out, "}");
    }
    printf("[%s]\n", out.data ? out.data : "");
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

int command_check(Job *job, int argc, char **argv)
{
    Check check = {.job = job, .samples = 6};
    bool full = false, json = false;
    int64_t seed = 1;
    const Option options[] = {
        {"full", NULL, OPTION_FLAG, &full, 0,
         "at the model's own sizes (else reduced where it has the consts)"},
        {"samples", "N", OPTION_INT, &check.samples, 1,
         "elements of each param whose gradient is checked (6)"},
        {"seed", "S", OPTION_INT, &seed, 0, "of params, inputs and dropout (1)"},
        {"set", "NAME=VALUE", OPTION_LIST, &check.settings, 0, "override a const of the model"},
        OPTION_GEMM(job),
        OPTION_CPU(job),
        {"json", NULL, OPTION_FLAG, &json, 0, "a list of objects: check, result, detail"},
    };
    const Usage usage = {
        "check", "MODEL.tfg|RUN",
        "Checks a model on made-up batches: gradients in f64 against central differences;\n"
        "compiled code, fused and not, in f64 and f32, against an interpreter that shares\n"
        "nothing with the compiler, within what rounding allows, on batches of mixed, equal\n"
        "and no lengths; vector kernels against the scalar reference, one thread against two,\n"
        "decoding token by token against all at once. Prints a table; exit status 1 if any\n"
        "check fails.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    ModelArgument model;
    if (!model_argument(job, arguments.words[0], &check.settings, &model))
        return cli_finish(job, false);
    check.path = model.options.path;
    check.library = model.options.library;
    check.settings = model.options.settings;
    check.seed = (uint64_t)seed;
    if (!full)
        check_reduce(&check);
    bool ok = check_model(&check);
    (json ? print_json : print_rows)(&check);
    return cli_finish(job, ok && !count_failed(&check));
}
