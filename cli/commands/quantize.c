/* tfc quantize: another run, with matrices in integers of 8 or 4 bits. */
#include "base/json_write.h"
#include "cli/commands/commands.h"
#include "cli/progress.h"
#include "driver/run/quantise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Quantize {
    Common common;
    const char *out, *dtype;
    TextList keep;
    bool json;
} Quantize;

static int by_error(const void *a, const void *b)
{
    const QuantisedParam *x = a, *y = b;
    return x->error != y->error ? (x->error > y->error ? -1 : 1)
                                : (x->name > y->name) - (x->name < y->name);
}

static void print_json(const QuantisedParams *params)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '[');
    for (size_t i = 0; i < params->count; i++) {
        const QuantisedParam *p = &params->data[i];
        json_open(&json, NULL, '{');
        json_put_text(&json, "param", p->name);
        json_put_integer(&json, "bytes", p->bytes);
        json_put_integer(&json, "bytes_before", p->before);
        if (p->stays)
            json_put_text(&json, "stays", p->stays);
        else
            json_put_number(&json, "error", p->error, 4);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    printf("%s\n", text.data ? text.data : "[]");
    text_free(&text);
}

/* The params that lose most, and large ones that are left as they are. */
static void print_table(Job *job, const Quantize *o, QuantisedParams *params)
{
    enum { SHOWN = 5, LARGE = 1 << 20 };
    int64_t before = 0, bytes = 0, quantised = 0;
    qsort(params->data, params->count, sizeof *params->data, by_error);
    for (size_t i = 0; i < params->count; i++) {
        before += params->data[i].before;
        bytes += params->data[i].bytes;
        quantised += !params->data[i].stays;
    }
    printf("%-48s %s\n", "loses most", "error");
    for (size_t i = 0; i < params->count && i < SHOWN && !params->data[i].stays; i++)
        printf("  %-46s %.2f %%\n", text_visible_name(job->arena, params->data[i].name),
               100 * params->data[i].error);
    for (size_t i = 0; i < params->count; i++)
        if (params->data[i].stays && params->data[i].bytes >= LARGE)
            printf("  %-46s stays f32: %s\n", text_visible_name(job->arena, params->data[i].name),
                   params->data[i].stays);
    printf("%" PRId64 " of %zu params in %s: ", quantised, params->count, o->dtype);
    printf("%s in place of ", bytes_text(bytes));
    printf("%s, %.2f times smaller\n", bytes_text(before), (double)before / (double)bytes);
    printf("compare: tfc eval on %s and on the run it was made of\n", o->out);
}

static int run_quantize(Job *job, void *record, const Arguments *arguments)
{
    const Quantize *o = record;
    QuantisedParams params = {0};
    QuantiseOptions options = {.run = arguments->words[0],
                               .checkpoint = o->common.checkpoint,
                               .out = o->out,
                               .dtype = o->dtype,
                               .keep = o->keep};
    vec_push(job->arena, options.command, "tfc");
    for (int i = 0; i < arguments->argc; i++)
        vec_push(job->arena, options.command, arguments->argv[i]);
    if (!o->out)
        return cli_usage_error("-o names the folder of the new run");
    const bool ok = quantise_run(job, &options, &params);
    if (ok && o->json)
        print_json(&params);
    else if (ok)
        print_table(job, o, &params);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"-o", "FOLDER", OUTPUT(Quantize, out), 0, NULL, "the new run"},
    {"dtype", "int8|int4", FIELD(Quantize, dtype), 0, "int8", "integers of 8 bits, or of 4"},
    {"keep", "PATTERN", FIELD(Quantize, keep), 0, NULL,
     "leave the params whose names match PATTERN in f32, such as '**.output'"},
    OPTION_CHECKPOINT(Quantize),
    {"json", NULL, FIELD(Quantize, json), 0, NULL,
     "print a JSON list with an object for each param: bytes, bytes before, error"},
};

const Command command_quantize = {
    .name = "quantize",
    .summary = "make a run with matrices in 8 or 4 bits, a quarter or a seventh as large",
    .arguments = "RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Makes another run of a run's checkpoint, whose matrices are integers: of 8 bits with a\n"
        "scale for each output channel, of 4 with one for each 32 terms of a channel. Commands\n"
        "compute in that type with it, unless --dtype says otherwise. Prints the params that lose\n"
        "most: the root mean square of the change, as a share of that of the param.",
    COMMAND_OPTIONS(Quantize, options),
    .run = run_quantize,
};
