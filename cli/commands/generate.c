/* tfc generate: a language model goes on with a text. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "base/json_write.h"
#include "cli/commands/commands.h"
#include "cli/options/decoding.h"
#include "cli/stream.h"
#include "driver/run/continuation.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Generate {
    Common common;
    TextList input;
    const char *prompt, *output, *long_prompt;
    TextList stops;
    bool json;
    Decoding decoding;
} Generate;

static DecodeSettings settings_of(const Generate *o, RunFolder *run)
{
    DecodeSettings settings = continuation_settings(&run->inference);
    decoding_set_draw(&o->decoding, &settings);
    settings.n_stuck = &run->inference.n_stuck;
    return settings;
}

/* Warns that the model sees only the end of a prompt longer than its context. False, with an error,
 * where --long-prompt refuses it. `line`: of --input, from 1; 0: the prompt is --prompt. */
static bool check_length(Job *job, const Generate *o, RunFolder *run, const Continuation *text,
                         int64_t line)
{
    DecodeSettings settings = settings_of(o, run);
    int64_t seen;
    if (text->left <= 0 || continuation_fits(&run->inference, &settings, text, &seen))
        return true;
    const char *place =
        line ? arena_printf(job->arena, "line %lld", (long long)line) : "the prompt";
    long long longest = (long long)inference_max_length(&run->inference);
    if (o->long_prompt && !strcmp(o->long_prompt, "refuse"))
        return job_error(
            job,
            "%s has %lld tokens, and the model takes %lld: shorten it, or --long-prompt cut has the "
            "model see its end",
            place, (long long)text->ids.count, longest);
    diag_warning(&job->diags, (Loc){0},
                 "%s has %lld tokens, and the model takes %lld: it sees the last %lld", place,
                 (long long)text->ids.count, longest, (long long)seen);
    cli_flush(job);
    return true;
}

/* ---- an answer ---- */

/* line, prompt (as it was given), text (what is behind it), ids (of that), end: "stop" or
 * "length". */
static void put_json(const Continuation *text, int64_t line, const char *prompt, const char *behind,
                     Text *out)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_integer(&json, "line", line);
    json_put_text(&json, "prompt", prompt);
    json_put_text(&json, "text", behind);
    json_open(&json, "ids", '[');
    for (size_t i = text->prompt; i < text->ids.count; i++)
        json_put_integer(&json, NULL, text->ids.data[i]);
    json_close(&json, ']');
    json_put_text(&json, "end", text->ended ? "stop" : "length");
    json_close(&json, '}');
    text_string(out, "\n");
}

/* ---- one prompt ---- */

static void tell_unknown(Job *job, const RunFolder *run, const char *prompt)
{
    const char *unknown = vocab_unknown(run->vocab, job->arena, prompt, strlen(prompt));
    if (unknown)
        diag_warning(&job->diags, (Loc){0}, "--prompt: the model has no token for %s", unknown);
    cli_flush(job);
}

/* A prompt that is written with the token which begins each text has it twice, as no text of the
 * training had. */
static void tell_doubled(Job *job, const RunFolder *run, const Ids *ids)
{
    const int32_t begin = vocab_rules(run->vocab)->text.begin;
    if (begin >= 0 && ids->count && ids->data[0] == begin)
        diag_warning(&job->diags, (Loc){0},
                     "the prompt begins with %s, which stands before every text: the model sees it "
                     "twice; leave it out",
                     vocab_token(run->vocab, begin));
}

/* To standard output, as it comes. */
static void show(void *context, const char *text, size_t length)
{
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

static bool generate_one(Job *job, const Generate *o, RunFolder *run)
{
    Continuation growing = {.left = o->decoding.tokens};
    DecodeSettings settings = settings_of(o, run);
    bool streams = !o->json && !(o->output && strcmp(o->output, "-"));
    const ContinuationWatch watch = {.stops = &o->stops, .grown = streams ? show : NULL};
    Text whole = {0}, out = {0};
    tell_unknown(job, run, o->prompt);
    if (!continuation_encode(run->vocab, o->prompt, &growing.ids))
        return job_error(job, "--prompt: %s", tokenizer_problem());
    growing.prompt = growing.ids.count;
    tell_doubled(job, run, &growing.ids);
    bool ok = check_length(job, o, run, &growing, 0) &&
              continuation_run(&run->inference, &settings, &watch, &growing, 1);
    size_t behind = continuation_text(run->vocab, &growing, &o->stops, &whole);
    if (o->json)
        put_json(&growing, 0, o->prompt, whole.data ? whole.data + behind : "", &out);
    else if (!streams)
        text_put(&out, whole.data ? whole.data : "", whole.length);
    if (!o->json)
        text_string(&out, "\n");
    ok = ok && cli_write(job, o->output, &out);
    if (ok) /* the answer is one, of however many lines */
        tell_replaced(
            job, count_replaced(whole.data ? whole.data + behind : "", whole.length - behind) > 0);
    text_free(&whole);
    text_free(&out);
    ids_free(&growing.ids);
    return ok;
}

/* ---- a prompt a line ---- */

static void put_answer(const Generate *o, const RunFolder *run, const Continuation *text,
                       const char *prompt, TextStream *stream)
{
    Text whole = {0}, out = {0};
    size_t behind = continuation_text(run->vocab, text, &o->stops, &whole);
    if (o->json)
        put_json(text, text->number, prompt, whole.data ? whole.data + behind : "", &out);
    else {
        put_one_line(&out, whole.data ? whole.data : "");
        text_string(&out, "\n");
    }
    stream_put(stream, out.data, out.length);
    text_free(&whole);
    text_free(&out);
}

static void begin_text(const TextStream *stream, int64_t i, int64_t tokens, Continuation *text)
{
    const Rows *rows = &stream->corpus->target;
    int64_t row = stream->row[i];
    *text = (Continuation){.number = stream->first + i, .left = row < 0 ? 0 : tokens};
    for (int64_t k = row < 0 ? 0 : rows->start[row]; row >= 0 && k < rows->start[row + 1]; k++)
        ids_push(&text->ids, rows->ids.data[k]);
    text->prompt = text->ids.count;
}

/* A prompt that is refused ends it, after the answers to those before. */
static bool generate_window(Job *job, const Generate *o, RunFolder *run, TextStream *stream)
{
    Arena *arena = arena_new();
    Continuation *texts = ARENA_ARRAY(arena, Continuation, stream->n);
    DecodeSettings settings = settings_of(o, run);
    const ContinuationWatch watch = {.stops = &o->stops};
    int n = 0;
    bool fits = true;
    for (; fits && n < stream->n; n++) {
        begin_text(stream, n, o->decoding.tokens, &texts[n]);
        tell_doubled(job, run, &texts[n].ids);
        fits = check_length(job, o, run, &texts[n], stream->first + n + 1);
    }
    int answered = fits ? n : n - 1;
    bool ok = continuation_run(&run->inference, &settings, &watch, texts, answered);
    for (int i = 0; i < n; i++) {
        if (ok && i < answered)
            put_answer(o, run, &texts[i], o->json ? stream_line(stream, i) : NULL, stream);
        ids_free(&texts[i].ids);
    }
    arena_free(arena);
    return ok && stream_flush(stream) && fits;
}

static bool generate_lines(Job *job, const Generate *o, RunFolder *run, TextStream *stream, bool ok)
{
    while (ok && stream_next(stream))
        ok = generate_window(job, o, run, stream);
    return stream_close(stream, ok);
}

/* Whether a file or a pipe with something in it is standard input. */
static bool has_input(void)
{
    struct stat info;
    struct pollfd at = {.fd = STDIN_FILENO, .events = POLLIN};
    return file_stat_open(STDIN_FILENO, "standard input", &info) &&
           ((S_ISREG(info.st_mode) && info.st_size) ||
            (S_ISFIFO(info.st_mode) && poll(&at, 1, 0) == 1 && (at.revents & POLLIN)));
}

static bool check_prompt(Job *job, const Generate *o)
{
    if (o->input.count && *o->prompt)
        return job_error(job, "--prompt is one text, --input has one a line: give one of them");
    for (size_t i = 0; i < o->stops.count; i++)
        if (!*o->stops.data[i])
            return job_error(job, "--stop: expected a text that is not empty");
    for (const char *at = o->prompt; *at; at += utf8_length(at, strlen(at)))
        if (!utf8_length(at, strlen(at)))
            return job_error(job, "--prompt is not valid UTF-8");
    return true;
}

/* Whether the logits of all models follow from the text alone, after inference_prepare_decode: the
 * loss may read columns. */
static bool check_text_alone(Job *job, const RunFolder *run)
{
    for (int i = -1; i < run->n_with; i++) {
        const RunFolder *one = i < 0 ? run : &run->with[i];
        const Inference *inference = &one->inference;
        bool reads = false; /* what stands before any text is computed once, too */
        for (int c = 0; c < inference->ports.n_columns && inference->encode; c++)
            reads = reads || function_reads(inference->encode,
                                            op_string(inference->ports.columns[c], ATTR_name));
        if (reads)
            return job_error(job,
                             "%s reads columns beside the text: tfc translate --input TABLE "
                             "decodes from them",
                             one->path);
    }
    return true;
}

static bool generate(Job *job, const void *record, RunFolder *run)
{
    const Generate *o = record;
    if (!run->inference.ports.next)
        return job_error(
            job, "%s: the loss of its model reads no next(…), so it predicts no token%s", run->path,
            predicts(run->session.model->module) ? "; tfc predict gives what it predicts" : "");
    if (run->inference.ports.source || !run->inference.ports.target)
        return job_error(job, "%s: not a language model; tfc translate is for models with a source",
                         run->path);
    const int64_t workers = o->common.workers ? o->common.workers : exec_threads();
    StreamOptions options = {.source = o->input,
                             .output = o->output,
                             .vocab = run->vocab,
                             .kind = CORPUS_LINES,
                             .window_lines = CONTINUE_ROWS * workers,
                             .line_limit = o->common.line_limit,
                             .keep_going = o->common.keep_going,
                             .keeps_lines = o->json,
                             .tell_unknown = true};
    TextStream stream;
    if (!check_prompt(job, o))
        return false;
    bool ok = (!o->input.count || stream_open(&stream, job, &options)) &&
              inference_prepare_decode(&run->inference) && check_text_alone(job, run) &&
              run_folder_load(job, run, o->common.checkpoint);
    if (ok && !o->input.count && !*o->prompt && has_input())
        diag_warning(&job->diags, (Loc){0},
                     "standard input is not read, so the text begins with nothing: --input - reads "
                     "a prompt a line from it, and --prompt TEXT is one");
    cli_flush(job);
    ok =
        o->input.count ? generate_lines(job, o, run, &stream, ok) : ok && generate_one(job, o, run);
    decoding_tell_stuck(job, run->inference.n_stuck);
    return ok;
}

static int run_generate(Job *job, void *record, const Arguments *arguments)
{
    Generate *o = record;
    decoding_note_given(&o->decoding, arguments);
    return common_run(job, &o->common, arguments->words[0], generate, o);
}

static const Option options[] = {
    {"prompt", "TEXT", FIELD(Generate, prompt), 0, "", "text to continue"},
    {"input", "FILE", FIELD(Generate, input), 0, NULL,
     "texts to continue, one a line; -: standard input"},
    {"output", "FILE", OUTPUT(Generate, output), 0, NULL, "where to write (standard output)"},
    OPTION_KEEP_GOING(Generate),
    OPTION_LINE_LIMIT(Generate),
    {"json", NULL, FIELD(Generate, json), 0, NULL,
     "print a JSON object for each prompt: line, prompt, text (generated), ids (generated, those "
     "of --stop included), end (stop or length)"},
#define RECORD Generate
#define CONTINUE DECODING_OPTION
#include "runtime/decode/settings.def"
    {"stop", "TEXT", FIELD(Generate, stops), 0, NULL,
     "end a text before this string, if it is generated"},
    {"long-prompt", "cut|refuse", FIELD(Generate, long_prompt), 0, "cut",
     "of a prompt longer than the model's context, show the model only the end, as long as half "
     "the context; or refuse the prompt"},
#define ANY DECODING_OPTION
#include "runtime/decode/settings.def"
    OPTION_CHECKPOINT(Generate),
    OPTION_WEIGHTS(Generate),
    OPTION_VOCAB(Generate),
    OPTION_TOKEN(Generate, common.vocab.tokens),
    OPTION_SPECIAL(Generate),
    OPTION_SET(Generate),
    OPTION_WITH(Generate),
    OPTION_PRODUCTS(Generate),
    OPTION_THREADS(Generate),
    OPTION_WORKERS(Generate),
    OPTION_GEMM(Generate),
    OPTION_CPU(Generate),
    OPTION_PASSES(Generate),
    OPTION_ALLOW_OUTSIDE(Generate),
};

const Command command_generate = {
    .name = "generate",
    .summary = "continue a text with a language model",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Prints a prompt and its continuation by a language model, token by token. Prompts of "
        "--input are answered while they are read, each in one line, in which \\n stands for a "
        "line break of the text; --json keeps line breaks. Which tokens stand before a text and "
        "which end it is the run's rule (docs/tokenizers.md). --token stop=TOKEN names other "
        "tokens that end a text; with stop=none a text ends at --tokens.",
    COMMAND_OPTIONS(Generate, options),
    .run = run_generate,
};
