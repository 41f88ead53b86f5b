/* tfc quantize: another run, with matrices in integers of 8 or 4 bits. */
#include "base/json_write.h"
#include "cli/commands/commands.h"
#include "cli/progress.h"
#include "driver/run/evaluation.h"
#include "driver/run/quantise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Quantize {
    Common common;
    const char *out, *dtype, *languages;
    TextFiles texts;
    TextList columns; /* "INPUT=FIELD" */
    TextList keep;
    bool json;
} Quantize;

enum { COMPARED = TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT };

/* Of the run, and of what is made of it. */
enum { BEFORE, AFTER, SIDES };

static int by_error(const void *a, const void *b)
{
    const QuantisedParam *x = a, *y = b;
    return x->error != y->error ? (x->error > y->error ? -1 : 1)
                                : (x->name > y->name) - (x->name < y->name);
}

static int by_small_error(const void *a, const void *b)
{
    const QuantisedParam *x = a, *y = b;
    if (!x->small != !y->small)
        return x->small ? -1 : 1;
    return x->small_error != y->small_error ? (x->small_error > y->small_error ? -1 : 1)
                                            : strcmp(x->name, y->name);
}

/* ---- the results ---- */

static void put_sides(JsonWriter *json, const char *name, double before, double after)
{
    enum { DIGITS = 9 };
    json_open(json, name, '{');
    json_put_number(json, "before", before, DIGITS);
    json_put_number(json, "after", after, DIGITS);
    json_close(json, '}');
}

static void put_evaluations(JsonWriter *json, const Evaluation e[SIDES])
{
    put_sides(json, "loss", e[BEFORE].loss, e[AFTER].loss);
    if (!e[BEFORE].decoded)
        return;
    put_sides(json, "bleu", e[BEFORE].judgement.bleu, e[AFTER].judgement.bleu);
    put_sides(json, "accuracy", e[BEFORE].judgement.exact, e[AFTER].judgement.exact);
    put_sides(json, "symbol_error_rate", e[BEFORE].judgement.symbol_error_rate,
              e[AFTER].judgement.symbol_error_rate);
}

/* `e`: NULL: no texts were given. */
static void print_json(const QuantisedParams *params, const Evaluation *e)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    if (e)
        put_evaluations(&json, e);
    json_open(&json, "params", '[');
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
        if (!p->stays)
            json_put_text(&json, "type", p->quant);
        if (p->small) {
            json_put_integer(&json, "groups", p->groups);
            json_put_integer(&json, "small_groups", p->small);
            json_put_number(&json, "small_groups_error", p->small_error, 4);
        }
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    puts(text.data);
    text_free(&text);
}

enum { SHOWN = 5 };

/* Params with scales below f16's normal numbers, those that lose most of such groups first. */
static void print_small(Job *job, QuantisedParams *params)
{
    int64_t found = 0;
    qsort(params->data, params->count, sizeof *params->data, by_small_error);
    for (size_t i = 0; i < params->count && params->data[i].small; i++, found++) {
        const QuantisedParam *p = &params->data[i];
        if (!found)
            printf("%-48s groups, and their error\n", "scales too small for all bits of f16");
        if (found < SHOWN)
            printf("  %-46s %" PRId64 " of %" PRId64 ", %.2f %%\n",
                   text_visible_name(job->arena, p->name), p->small, p->groups,
                   100 * p->small_error);
    }
    if (found > SHOWN)
        printf("  and %" PRId64 " more (--json lists all)\n", found - SHOWN);
}

/* Params other than vectors that are left as they are. */
static void print_left(Job *job, const QuantisedParams *params)
{
    int64_t left = 0;
    for (size_t i = 0; i < params->count; i++) {
        const QuantisedParam *p = &params->data[i];
        if (!p->stays || p->is_vector || left++ >= SHOWN)
            continue;
        if (left == 1)
            printf("%-48s %s\n", "stay f32", "why");
        printf("  %-46s %s\n", cli_name(job->arena, p->name), p->stays);
    }
    if (left > SHOWN)
        printf("  and %" PRId64 " more (--json lists all)\n", left - SHOWN);
}

/* Params in another type than most. */
static void print_finer(Job *job, const char *dtype, const QuantisedParams *params)
{
    int64_t found = 0;
    for (size_t i = 0; i < params->count; i++) {
        const QuantisedParam *p = &params->data[i];
        if (p->stays || !strcmp(p->quant, dtype))
            continue;
        if (!found++)
            printf("%-48s type\n", "in their own type");
        if (found <= SHOWN)
            printf("  %-46s %s\n", text_visible_name(job->arena, p->name), p->quant);
    }
    if (found > SHOWN)
        printf("  and %" PRId64 " more (--json lists all)\n", found - SHOWN);
}

static void print_table(Job *job, const Quantize *o, QuantisedParams *params)
{
    int64_t before = 0, bytes = 0, quantised = 0;
    qsort(params->data, params->count, sizeof *params->data, by_error);
    for (size_t i = 0; i < params->count; i++) {
        before += params->data[i].before;
        bytes += params->data[i].bytes;
        quantised += !params->data[i].stays && !strcmp(params->data[i].quant, o->dtype);
    }
    printf("%-48s %s\n", "loses most", "error");
    for (size_t i = 0; i < params->count && i < SHOWN && !params->data[i].stays; i++)
        printf("  %-46s %.2f %%\n", cli_name(job->arena, params->data[i].name),
               100 * params->data[i].error);
    print_small(job, params);
    print_finer(job, o->dtype, params);
    print_left(job, params);
    printf("%" PRId64 " of %zu params in %s: ", quantised, params->count, o->dtype);
    printf("%s in place of ", bytes_text(bytes));
    printf("%s, %.2f times smaller\n", bytes_text(before), (double)before / (double)bytes);
}

static void print_sides(const char *what, double before, double after, int digits, const char *unit)
{
    printf("%-18s %.*f  %.*f (%+.*f)%s\n", what, digits, before, digits, after, digits,
           after - before, unit);
}

static void print_evaluations(const Evaluation e[SIDES])
{
    enum { PERCENT = 100 };
    const Judgement *before = &e[BEFORE].judgement, *after = &e[AFTER].judgement;
    printf("%-18s before and after, of %" PRId64 " sentence%s\n", "on the given text",
           e[BEFORE].sentences, text_plural(e[BEFORE].sentences, "", "s"));
    print_sides("loss", e[BEFORE].loss, e[AFTER].loss, 4, " nats a target token");
    if (!e[BEFORE].decoded)
        return;
    print_sides("BLEU", before->bleu, after->bleu, 2, "");
    print_sides("exactly right", PERCENT * before->exact, PERCENT * after->exact, 2, " %");
    print_sides("symbol error rate", PERCENT * before->symbol_error_rate,
                PERCENT * after->symbol_error_rate, 2, " %");
}

/* ---- the work ---- */

/* The texts, read once, and what both runs make of them. */
typedef struct Comparison {
    Lines *source, *target; /* source NULL: not read yet */
    Evaluation of[SIDES];
} Comparison;

static bool read_texts(Job *job, const Quantize *o, const RunFolder *run, Comparison *c)
{
    TextFiles texts = o->texts;
    if (!c->source && common_check_texts(job, run, &texts, COMPARED, &o->columns))
        c->source = text_files_read(job, &texts, o->languages, o->common.line_limit, &c->target);
    return c->source != NULL;
}

/* What the texts are warned of is reported once. */
static bool evaluate(Job *job, RunFolder *run, const char *checkpoint, Comparison *c, int side)
{
    Evaluation *out = &c->of[side];
    const size_t told = job->diags.list.count;
    Corpus *corpus = evaluation_corpus(job, run, c->source, c->target);
    bool ok = corpus && evaluation_prepare(job, run, checkpoint);
    if (ok && side == AFTER)
        job->diags.list.count = told;
    const DecodeSettings settings = inference_decode_settings(&run->inference);
    Evaluator e;
    evaluator_begin(&e, job, run);
    ok = ok && evaluator_count(&e, corpus) && evaluator_loss(&e, corpus) &&
         (!evaluation_decodes(run) || evaluator_answers(&e, corpus, c->target, &settings, NULL));
    ok = evaluator_end(&e, ok, out);
    corpus_free(corpus);
    return ok;
}

/* Of a run as its own record says that it computes; nothing, without texts. */
static bool compare(Job *job, const Quantize *o, const char *path, const char *checkpoint,
                    Comparison *c, int side)
{
    RunFolder run;
    if (!text_files_given(&o->texts))
        return true;
    bool ok = run_folder_open(job, &(RunSource){.path = path, .keeps = true}, &run) &&
              read_texts(job, o, &run, c) && evaluate(job, &run, checkpoint, c, side);
    run_folder_close(&run);
    return ok;
}

static int run_quantize(Job *job, void *record, const Arguments *arguments)
{
    const Quantize *o = record;
    const char *run = arguments->words[0],
               *mistake = text_files_given(&o->texts)
                              ? text_files_mistake(job->arena, &o->texts, "", COMPARED)
                              : NULL;
    QuantisedParams params = {0};
    Comparison c = {0};
    QuantiseOptions options = {.run = run,
                               .checkpoint = o->common.checkpoint,
                               .out = o->out,
                               .dtype = o->dtype,
                               .keep = o->keep};
    vec_push(job->arena, options.command, "tfc");
    for (int i = 0; i < arguments->argc; i++)
        vec_push(job->arena, options.command, arguments->argv[i]);
    if (!mistake)
        mistake = text_files_columns_mistake(
            job->arena, &(TextFiles){.data = o->texts.data, .columns = o->columns}, NULL, NULL);
    if (!o->out)
        mistake = "-o names the folder of the new run";
    if (mistake)
        return cli_usage_error("%s", mistake);
    bool ok = quantise_check(job, &options) &&
              compare(job, o, run, o->common.checkpoint, &c, BEFORE) &&
              quantise_run(job, &options, &params);
    if (ok && !o->json)
        print_table(job, o, &params);
    ok = ok && compare(job, o, o->out, NULL, &c, AFTER);
    if (ok && o->json)
        print_json(&params, text_files_given(&o->texts) ? c.of : NULL);
    else if (ok && text_files_given(&o->texts))
        print_evaluations(c.of);
    else if (ok)
        printf(
            "to compare the runs on a text, use tfc eval on both, or tfc quantize with --source and "
            "--target, or --data (of a language model --text)\n");
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"output", "FOLDER", OUTPUT(Quantize, out), 0, NULL, "the new run"},
    {"dtype", QUANT_WORDS, FIELD(Quantize, dtype), 0, "int8",
     "integers of 8 bits, or of 4; those of GGUF are q8_0, int4 (its Q4_0) and q4_1"},
    {"keep", "PATTERN", FIELD(Quantize, keep), 0, NULL,
     "leave the params whose names match PATTERN, and their products, in f32: '**.output'; or "
     "PATTERN=TYPE: make them of another type of integers: embedding=q8_0"},
    {"source", "FILE", FIELD(Quantize, texts.source), 0, NULL,
     "source text, one sentence a line: losses and answers are compared on it"},
    {"target", "FILE", FIELD(Quantize, texts.target), 0, NULL,
     "reference text, with as many lines as the source"},
    {"data", "FILE", FIELD(Quantize, texts.data), 0, NULL, "pairs " PAIRS_HELP},
    {"languages", "A,B", FIELD(Quantize, languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    OPTION_COLUMN(Quantize, columns),
    {"text", "FILE", FIELD(Quantize, texts.text), 0, NULL,
     "text of a model with one input: losses are compared on it"},
    OPTION_CHECKPOINT(Quantize),
    OPTION_LINE_LIMIT(Quantize),
    OPTION_THREADS(Quantize),
    {"json", NULL, FIELD(Quantize, json), 0, NULL,
     "print one JSON object: params, each with bytes, bytes_before, error; loss, bleu, …"},
    OPTION_ALLOW_OUTSIDE(Quantize),
};

const Command command_quantize = {
    .name = "quantize",
    .summary = "make a run with matrices in 8 or 4 bits, a quarter or a seventh as large",
    .arguments = "RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Makes another run of a run's checkpoint, whose matrices are integers: in int8 with a "
        "scale for each output channel, else with one for each 32 terms of a channel. In 4 bits "
        "the tables of tokens and the output's matrix become q8_0 if the run grows by at most 5 %. "
        "Commands compute in these types with it, unless --dtype says otherwise. Prints the params "
        "that lose most: the root mean square of the change, as a share of that of the param; and, "
        "if text is given, loss, BLEU and error rates of both runs, as tfc eval measures them.",
    COMMAND_OPTIONS(Quantize, options),
    .run = run_quantize,
};
