/* tfc generate: a language model goes on with a text. */
#include "cli/run_folder.h"

#include <stdio.h>
#include <string.h>

typedef struct Generate {
    const char *prompt, *checkpoint;
    int64_t tokens, top_k, seed, threads;
    double temperature, top_p;
} Generate;

/* The token between lines of a stream, which also comes before its first. */
static int32_t line_end(const Vocabulary *vocab)
{
    int32_t newline = vocab_is_characters(vocab) ? vocab_find(vocab, "\n") : -1;
    return newline >= 0 ? newline : vocab_eos(vocab);
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

static void print_ids(const RunFolder *run, const int32_t *ids, size_t n)
{
    int32_t end = line_end(run->vocab);
    Text text = {0};
    for (size_t i = 0; i < n;) {
        size_t stop = i;
        while (stop < n && ids[stop] != end)
            stop++;
        vocab_decode(run->vocab, ids + i, stop - i, &text);
        if (stop < n)
            text_add(&text, "\n");
        i = stop + 1;
    }
    fwrite(text.data ? text.data : "", 1, text.length, stdout);
    putchar('\n');
    text_free(&text);
}

/* Goes on in pieces that fit the model's length: each sees the last half of what
 * is there. */
static bool continue_text(Cli *cli, const Generate *o, RunFolder *run, Ids *ids)
{
    DecodeSettings s = inference_decode_settings(&run->inference);
    bool stream = run->kind == CORPUS_STREAM;
    s.sample = true;
    s.temperature = o->temperature;
    s.top_k = (int32_t)o->top_k;
    s.top_p = o->top_p;
    s.seed = (uint64_t)o->seed;
    s.length_factor = 0;
    if (stream) {
        s.bos = line_end(run->vocab);
        s.until_eos = false;
        s.forbidden[1] = vocab_bos(run->vocab) == s.bos ? -1 : vocab_bos(run->vocab);
        s.forbidden[3] = vocab_eos(run->vocab) == s.bos ? -1 : vocab_eos(run->vocab);
    }
    int32_t window = (int32_t)inference_max_length(&run->inference) - 1;
    int64_t left = o->tokens;
    bool ended = false;
    for (int64_t piece = 0; left > 0 && !ended; piece++) {
        size_t seen = ids->count <= (size_t)window / 2 ? ids->count : (size_t)window / 2;
        Tokens prompt = {ids->data + ids->count - seen, (int32_t)seen};
        s.length_extra = s.length_limit =
            (int32_t)(left < window - (int32_t)seen ? left : window - (int32_t)seen);
        if (s.length_limit < 1)
            return cli_error(cli, "%s: the model is too short-sighted to go on", run->path);
        Decoded decoded;
        if (!decode_batch(&run->inference.stepper, &s, NULL, &prompt, &piece, 1, cli->arena,
                          &decoded) ||
            !decoded.n)
            return cli_error(cli, "decoding failed: out of memory, or the model gives no numbers");
        for (int32_t i = 0; i < decoded.best[0].n; i++)
            ids_push(ids, decoded.best[0].ids[i]);
        left -= decoded.best[0].n;
        ended = s.until_eos;
    }
    return true;
}

static bool generate(Cli *cli, const Generate *o, RunFolder *run)
{
    if (run->inference.ports.source || !run->inference.ports.target)
        return cli_error(cli, "%s: not a language model; tfc translate is for models with a source",
                         run->path);
    if (!inference_prepare_decode(&run->inference) || !run_folder_load(cli, run, o->checkpoint))
        return false;
    cli_flush(cli);
    for (const char *at = o->prompt; *at; at += utf8_length(at, strlen(at)))
        if (!utf8_length(at, strlen(at)))
            return cli_error(cli, "--prompt is not valid UTF-8");
    Ids ids = {0};
    encode_prompt(run, o->prompt, &ids);
    bool ok = continue_text(cli, o, run, &ids);
    if (ok)
        print_ids(run, ids.data, ids.count);
    ids_free(&ids);
    return ok;
}

int command_generate(Cli *cli, int argc, char **argv)
{
    Generate o = {.prompt = "", .tokens = 200, .temperature = 1, .top_p = 1, .seed = 1};
    const Option options[] = {
        {"prompt", "TEXT", OPTION_TEXT, &o.prompt, 0, "what to go on with"},
        {"tokens", "N", OPTION_INT, &o.tokens, 1, "how many tokens (200)"},
        {"temperature", "X", OPTION_NUMBER, &o.temperature, 0, "0 takes the most probable (1)"},
        {"top-k", "K", OPTION_INT, &o.top_k, 0, "draw among the K most probable tokens; 0: all"},
        {"top-p", "P", OPTION_NUMBER, &o.top_p, 0, "draw among the smallest set of mass P (1)"},
        {"seed", "S", OPTION_INT, &o.seed, 0, "of the draw (1)"},
        {"checkpoint", "FILE", OPTION_TEXT, &o.checkpoint, 0,
         "params from here (RUN's average, else best, else last)"},
        {"threads", "N", OPTION_INT, &o.threads, 1, "threads (all processors)"},
        OPTION_GEMM(cli),
        OPTION_CPU(cli),
        OPTION_PASSES(cli),
    };
    const Usage usage = {"generate", "RUN",
                         "Prints a prompt and what a language model goes on with.", 1, 1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (o.threads)
        exec_set_threads((int)o.threads);
    RunFolder run;
    bool ok = run_folder_open(cli, arguments.words[0], &run) && generate(cli, &o, &run);
    run_folder_close(&run);
    return cli_finish(cli, ok);
}
