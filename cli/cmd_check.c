/* tfc check: does the compiler compute what the model says? */
#include "cli/check.h"
#include "cli/model_argument.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

/* ---- which checks ---- */

typedef struct Ways {
    Variant fused64, plain64, fused32, scalar32;
} Ways;

static bool open_ways(Check *check, Ways *w, const char *function)
{
    const VariantOptions fused64 = {function, DT_F64, 2, false},
                         plain64 = {function, DT_F64, 0, false},
                         fused32 = {function, DT_F32, 2, false},
                         scalar32 = {function, DT_F32, 2, true};
    bool ok = variant_open(check, &w->fused64, &fused64);
    ok = variant_open(check, &w->plain64, &plain64) && ok;
    ok = variant_open(check, &w->fused32, &fused32) && ok;
    return variant_open(check, &w->scalar32, &scalar32) && ok;
}

static void close_ways(Ways *w)
{
    variant_close(&w->fused64);
    variant_close(&w->plain64);
    variant_close(&w->fused32);
    variant_close(&w->scalar32);
}

static bool check_ways(Check *check, Ways *w, bool has_loss)
{
    const double near64 = 1e-9, near32 = 1e-4;
    if (has_loss && !check_choose_batch(check, &w->fused64))
        return false;
    if (!check->usual) {
        check_row(check, "a loss that is a number", CHECK_FAILED,
                  check->passed_over + strlen("; "));
        return true;
    }
    bool ok =
        !has_loss || (check_gradients(check, &w->fused64) && check_slopes(check, &w->fused64));
    ok = ok && check_meaning(check, "fused = interpreted (f64)", &w->fused64, near64);
    ok = ok && check_meaning(check, "unfused = interpreted (f64)", &w->plain64, near64);
    ok = ok && check_meaning(check, "fused = interpreted (f32)", &w->fused32, near32);
    ok = ok && check_same(check, "fused = unfused (f64)", &w->fused64, &w->plain64, near64);
    ok = ok &&
         check_same(check, "kernels = scalar reference (f32)", &w->fused32, &w->scalar32, near32);
    ok = ok && (!has_loss || check_threads(check));
    return ok && check_decoding(check);
}

static bool check_model(Check *check)
{
    SessionOptions options = session_defaults(check->path);
    options.library = check->library;
    options.settings = check->settings;
    Session session;
    if (!session_open(&session, check->job, &options))
        return false;
    bool has_loss = session.model->has_loss;
    session_close(&session);
    check->usual = has_loss ? NULL : &check_batches[0];
    check->passed_over = "";
    Ways ways;
    /* NULL: the gradient in training */
    bool ok =
        open_ways(check, &ways, has_loss ? NULL : "forward") && check_ways(check, &ways, has_loss);
    close_ways(&ways);
    return ok;
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
