/* tfc generate: a language model goes on with a text. */
#include "cli/commands.h"
#include "cli/decoding.h"
#include "cli/stream.h"
#include "driver/continuation.h"

#include <stdio.h>
#include <string.h>

typedef struct Generate {
    Common common;
    TextList input;
    const char *prompt, *output;
    int64_t tokens;
    Decoding decoding;
} Generate;

static bool continue_texts(const Generate *o, RunFolder *run, Continuation *texts, int n)
{
    DecodeSettings settings = continuation_settings(&run->inference, run->kind);
    decoding_set_draw(&o->decoding, &settings);
    settings.n_stuck = &run->inference.n_stuck;
    return continuation_run(&run->inference, &settings, texts, n);
}

/* ---- one prompt ---- */

static void tell_unknown(Job *job, const RunFolder *run, const char *prompt)
{
    const char *unknown = vocab_unknown(run->vocab, job->arena, prompt, strlen(prompt));
    if (unknown)
        diag_warning(&job->diags, (Loc){0}, "--prompt: the model has no token for %s", unknown);
    cli_flush(job);
}

static bool generate_one(Job *job, const Generate *o, RunFolder *run)
{
    Continuation growing = {.left = o->tokens};
    Text text = {0};
    tell_unknown(job, run, o->prompt);
    continuation_encode(run->vocab, o->prompt, &growing.ids);
    bool ok = continue_texts(o, run, &growing, 1);
    continuation_put(run->vocab, &growing.ids, "\n", &text);
    text_add(&text, "\n");
    ok = ok && cli_write(job, o->output, &text);
    text_free(&text);
    ids_free(&growing.ids);
    return ok;
}

/* ---- a prompt a line ---- */

static bool generate_window(Job *job, const Generate *o, RunFolder *run, Stream *stream)
{
    const Rows *rows = &stream->corpus->target;
    Continuation texts[CONTINUATION_ROWS] = {0};
    Text out = {0};
    for (int64_t i = 0; i < stream->n; i++) {
        int64_t row = stream->row[i];
        texts[i].number = stream->first + i;
        texts[i].left = row < 0 ? 0 : o->tokens;
        for (int64_t k = row < 0 ? 0 : rows->start[row]; row >= 0 && k < rows->start[row + 1]; k++)
            ids_push(&texts[i].ids, rows->ids.data[k]);
    }
    bool ok = continue_texts(o, run, texts, (int)stream->n);
    for (int64_t i = 0; i < stream->n; i++) {
        continuation_put(run->vocab, &texts[i].ids, "\\n", &out);
        text_add(&out, "\n");
        ids_free(&texts[i].ids);
    }
    if (ok)
        stream_put(stream, out.data, out.length);
    text_free(&out);
    return ok && stream_flush(stream);
}

static bool generate_lines(Job *job, const Generate *o, RunFolder *run, Stream *stream, bool ok)
{
    while (ok && stream_next(stream))
        ok = generate_window(job, o, run, stream);
    return stream_close(stream, ok);
}

static bool check_prompt(Job *job, const Generate *o)
{
    if (o->input.count && *o->prompt)
        return job_error(job, "--prompt is one text, --input has one a line: give one of them");
    for (const char *at = o->prompt; *at; at += utf8_length(at, strlen(at)))
        if (!utf8_length(at, strlen(at)))
            return job_error(job, "--prompt is not valid UTF-8");
    return true;
}

static bool generate(Job *job, const void *record, RunFolder *run)
{
    const Generate *o = record;
    if (run->inference.ports.source || !run->inference.ports.target)
        return job_error(job, "%s: not a language model; tfc translate is for models with a source",
                         run->path);
    StreamOptions options = {.source = o->input,
                             .output = o->output,
                             .vocab = run->vocab,
                             .kind = CORPUS_LINES,
                             .window_lines = CONTINUATION_ROWS,
                             .line_limit = o->common.line_limit,
                             .keep_going = o->common.keep_going,
                             .tell_unknown = true};
    Stream stream;
    if (!check_prompt(job, o))
        return false;
    bool ok = (!o->input.count || stream_open(&stream, job, &options)) &&
              inference_prepare_decode(&run->inference) && run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    ok = o->input.count ? generate_lines(job, o, run, &stream, ok) : ok && generate_one(job, o, run);
    decoding_tell_stuck(job, run->inference.n_stuck);
    return ok;
}

static int run_generate(Job *job, void *record, const Arguments *arguments)
{
    const Generate *o = record;
    return common_run(job, &o->common, arguments->words[0], generate, o);
}

static const Option options[] = {
    {"prompt", "TEXT", FIELD(Generate, prompt), 0, "", "what to go on with"},
    {"input", "FILE", FIELD(Generate, input), 0, NULL,
     "or prompts, one a line; -: standard input"},
    {"output", "FILE", FIELD(Generate, output), 0, NULL, "where to write (standard output)"},
    OPTION_KEEP_GOING(Generate),
    OPTION_LINE_LIMIT(Generate),
    {"tokens", "N", FIELD(Generate, tokens), 1, "200", "how many tokens"},
    OPTIONS_RULES(Generate),
    OPTIONS_DRAW(Generate),
    OPTION_CHECKPOINT(Generate),
    OPTION_WEIGHTS(Generate),
    OPTION_VOCAB(Generate),
    OPTION_TOKEN(Generate, common.vocab.tokens),
    OPTION_SET(Generate),
    OPTION_WITH(Generate),
    OPTION_PRODUCTS(Generate),
    OPTION_THREADS(Generate),
    OPTION_GEMM(Generate),
    OPTION_CPU(Generate),
    OPTION_PASSES(Generate),
};

const Command command_generate = {
    .name = "generate",
    .summary = "continue a text with a language model",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Prints a prompt and what a language model goes on with. Prompts of --input\n"
            "are answered as they are read, each on one line, where \\n stands for the\n"
            "breaks between the lines of a text.",
    COMMAND_OPTIONS(Generate, options),
    .run = run_generate,
};
