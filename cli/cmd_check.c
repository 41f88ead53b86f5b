/* tfc check: does the compiler compute what the model says? */
#include "cli/check.h"
#include "cli/model_argument.h"

#include <stdio.h>

static bool check_model(Check *check)
{
    SessionOptions options = session_defaults(check->path);
    options.library = check->library;
    options.settings = check->settings;
    Session session;
    if (!session_open(&session, check->cli, &options))
        return false;
    bool has_loss = session.model->has_loss;
    session_close(&session);
    const char *function = has_loss ? NULL : "forward"; /* NULL: the gradient in training */
    const VariantOptions fused64 = {function, DT_F64, 2, false, 0, 0},
                         plain64 = {function, DT_F64, 0, false, 0, 0},
                         fused32 = {function, DT_F32, 2, false, 0, 0},
                         scalar32 = {function, DT_F32, 2, true, 0, 0};
    bool ok = !has_loss || check_gradients(check);
    ok = ok && check_same(check, "fused = unfused (f64)", fused64, plain64, 1e-9);
    ok = ok && check_same(check, "kernels = scalar reference (f32)", fused32, scalar32, 1e-4);
    ok = ok && (!has_loss || check_threads(check));
    return ok && check_decoding(check);
}

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

int command_check(Cli *cli, int argc, char **argv)
{
    Check check = {.cli = cli, .samples = 6};
    bool full = false, json = false;
    int64_t seed = 1;
    const Option options[] = {
        {"full", NULL, OPTION_FLAG, &full, 0,
         "at the model's own sizes (else reduced where it has the consts)"},
        {"samples", "N", OPTION_INT, &check.samples, 1,
         "elements of each param whose gradient is checked (6)"},
        {"seed", "S", OPTION_INT, &seed, 0, "of params, inputs and dropout (1)"},
        {"set", "NAME=VALUE", OPTION_LIST, &check.settings, 0, "override a const of the model"},
        OPTION_GEMM(cli),
        OPTION_CPU(cli),
        {"json", NULL, OPTION_FLAG, &json, 0, "a list of objects: check, result, detail"},
    };
    const Usage usage = {
        "check", "MODEL.tfg|RUN",
        "Checks a model on a made-up ragged batch: gradients in f64 against central\n"
        "differences, fused against unfused code, vector kernels against the scalar\n"
        "reference, one thread against two, decoding token by token against all at\n"
        "once. Prints a table; exit status 1 if any check fails.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    ModelArgument model;
    if (!model_argument(cli, arguments.words[0], &check.settings, &model))
        return cli_finish(cli, false);
    check.path = model.options.path;
    check.library = model.options.library;
    check.settings = model.options.settings;
    check.seed = (uint64_t)seed;
    if (!full)
        check_reduce(&check);
    bool ok = check_model(&check);
    (json ? print_json : print_rows)(&check);
    return cli_finish(cli, ok && !count_failed(&check));
}
