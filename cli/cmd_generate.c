/* tfc generate: a language model goes on with a text. */
#include "cli/commands.h"
#include "cli/decoding.h"
#include "cli/stream.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 16 /* prompts that are continued side by side */ };

typedef struct Generate {
    Common common;
    const char *prompt, *input, *output;
    int64_t tokens;
    Decoding decoding;
} Generate;

/* A text that grows. */
typedef struct Growing {
    int64_t number; /* of the prompt, from 0: the key of its random numbers */
    int64_t left;   /* tokens still to come */
    Ids ids;
} Growing;

/* The token between lines of a stream, which also comes before its first. */
static int32_t line_end(const Vocabulary *vocab)
{
    int32_t newline = vocab_is_characters(vocab) ? vocab_find(vocab, "\n") : -1;
    return newline >= 0 ? newline : vocab_rules(vocab)->end;
}

static void encode_prompt(const RunFolder *run, const char *prompt, Ids *ids)
{
    for (const char *at = prompt; *at;) {
        size_t length = strcspn(at, "\n");
        vocab_encode(run->vocab, at, length, ids);
        at += length;
        if (*at == '\n') {
            ids_push(ids, line_end(run->vocab));
            at++;
        }
    }
}

static void put_ids(const RunFolder *run, const Ids *ids, const char *line_break, Text *text)
{
    int32_t end = line_end(run->vocab);
    for (size_t i = 0; i < ids->count;) {
        size_t stop = i;
        while (stop < ids->count && ids->data[stop] != end)
            stop++;
        vocab_decode(run->vocab, ids->data + i, stop - i, text);
        if (stop < ids->count)
            text_add(text, "%s", line_break);
        i = stop + 1;
    }
}

static DecodeSettings decode_settings(const Generate *o, const RunFolder *run)
{
    DecodeSettings s = inference_decode_settings(&run->inference);
    s.sample = true;
    decoding_set_draw(&o->decoding, &s);
    if (run->kind == CORPUS_STREAM) {
        const TokenRules *rules = vocab_rules(run->vocab);
        s.bos = line_end(run->vocab);
        s.until_eos = false;
        s.forbidden[1] = rules->begin == s.bos ? -1 : rules->begin;
        s.forbidden[3] = rules->end == s.bos ? -1 : rules->end;
    }
    return s;
}

/* One piece more of each text that is to go on: as much as fits the model's length after
 * the last half of what is there. How many texts that were; -1 after an error. */
static int continue_once(Job *job, RunFolder *run, DecodeSettings settings, int64_t piece,
                         Growing *texts, int n)
{
    int64_t window = inference_max_length(&run->inference) - 1, numbers[ROWS];
    int32_t limits[ROWS];
    int row[ROWS], rows = 0;
    Tokens prompts[ROWS];
    Decoded decoded[ROWS];
    for (int i = 0; i < n; i++) {
        Growing *text = &texts[i];
        if (text->left <= 0)
            continue;
        int64_t seen =
            (int64_t)text->ids.count < window / 2 ? (int64_t)text->ids.count : window / 2;
        prompts[rows] = (Tokens){text->ids.data + text->ids.count - seen, (int32_t)seen};
        limits[rows] = (int32_t)(text->left < window - seen ? text->left : window - seen);
        numbers[rows] = text->number << 32 | piece;
        if (limits[rows] < 1) {
            job_error(job, "%s: the model is too short-sighted to go on", run->path);
            return -1;
        }
        row[rows++] = i;
    }
    Arena *arena = arena_new();
    settings.limits = limits;
    bool ok = decode_batch(&run->inference.stepper, &settings, NULL, prompts, numbers, rows, arena,
                           decoded);
    for (int i = 0; ok && i < rows; i++) {
        Growing *text = &texts[row[i]];
        ok = decoded[i].n > 0;
        for (int32_t k = 0; ok && k < decoded[i].best[0].n; k++)
            ids_push(&text->ids, decoded[i].best[0].ids[k]);
        text->left = !ok || settings.until_eos ? 0 : text->left - decoded[i].best[0].n;
    }
    arena_free(arena);
    if (!ok)
        job_error(job, "decoding failed: out of memory, or the model gives no numbers%s",
                  settings.no_repeat_ngram ? ", or --no-repeat-ngram leaves no token" : "");
    return ok ? rows : -1;
}

static bool continue_texts(Job *job, const Generate *o, RunFolder *run, Growing *texts, int n)
{
    DecodeSettings settings = decode_settings(o, run);
    int rows = 1;
    for (int64_t piece = 0; rows > 0; piece++)
        rows = continue_once(job, run, settings, piece, texts, n);
    return rows == 0;
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
    Growing growing = {.left = o->tokens};
    Text text = {0};
    tell_unknown(job, run, o->prompt);
    encode_prompt(run, o->prompt, &growing.ids);
    bool ok = continue_texts(job, o, run, &growing, 1);
    put_ids(run, &growing.ids, "\n", &text);
    text_add(&text, "\n");
    if (ok && o->output)
        ok = file_write_all(&job->diags, o->output, text.data, text.length);
    else if (ok)
        fwrite(text.data, 1, text.length, stdout);
    text_free(&text);
    ids_free(&growing.ids);
    return ok;
}

/* ---- a prompt a line ---- */

static bool generate_window(Job *job, const Generate *o, RunFolder *run, Stream *stream)
{
    const Rows *rows = &stream->corpus->target;
    Growing texts[ROWS] = {0};
    Text out = {0};
    for (int64_t i = 0; i < stream->n; i++) {
        int64_t row = stream->row[i];
        texts[i].number = stream->first + i;
        texts[i].left = row < 0 ? 0 : o->tokens;
        for (int64_t k = row < 0 ? 0 : rows->start[row]; row >= 0 && k < rows->start[row + 1]; k++)
            ids_push(&texts[i].ids, rows->ids.data[k]);
    }
    bool ok = continue_texts(job, o, run, texts, (int)stream->n);
    for (int64_t i = 0; i < stream->n; i++) {
        put_ids(run, &texts[i].ids, "\\n", &out);
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
    if (o->input && *o->prompt)
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
                             .window_lines = ROWS,
                             .line_limit = o->common.line_limit,
                             .keep_going = o->common.keep_going,
                             .tell_unknown = true};
    Stream stream;
    if (!check_prompt(job, o))
        return false;
    bool ok = (!o->input || stream_open(&stream, job, &options)) &&
              inference_prepare_decode(&run->inference) && run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    return o->input ? generate_lines(job, o, run, &stream, ok) : ok && generate_one(job, o, run);
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
