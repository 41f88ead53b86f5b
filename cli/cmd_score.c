/* tfc score: how probable given targets are. */
#include "cli/options.h"
#include "cli/stream.h"
#include "driver/run_folder.h"

enum { SCORE_TOKENS = 2048 };

typedef struct Score {
    const char *source, *target, *text, *checkpoint;
    int64_t threads, line_limit;
    bool keep_going;
} Score;

static bool score_window(Job *job, RunFolder *run, Stream *stream)
{
    Arena *arena = arena_new();
    double *each = ARENA_ARRAY(arena, double, stream->corpus->n + 1);
    Text out = {0};
    Scores scores;
    bool ok = score_corpus(&run->inference.score, stream->corpus, SCORE_TOKENS, each, &scores) ||
              job_error(job, "out of memory");
    for (int64_t i = 0; ok && i < stream->n; i++)
        if (stream->row[i] < 0)
            text_add(&out, "\n");
        else
            text_add(&out, "%.6f\n", each[stream->row[i]]);
    if (ok)
        stream_put(stream, out.data, out.length);
    text_free(&out);
    arena_free(arena);
    return ok && stream_flush(stream);
}

static bool score(Job *job, const Score *o, RunFolder *run)
{
    bool pairs = run->kind == CORPUS_PAIRS;
    if (!run->inference.ports.logits || !run->inference.ports.next)
        return job_error(job, "%s: the model gives no probabilities of next tokens", run->path);
    if (pairs ? !o->source || !o->target : !o->text)
        return job_error(job, "%s: %s needed", run->path,
                         pairs ? "--source and --target are"
                               : "the model reads one text: --text is");
    StreamOptions options = {.source = pairs ? o->source : o->text,
                             .target = pairs ? o->target : NULL,
                             .vocab = run->vocab,
                             .kind = pairs ? CORPUS_PAIRS : CORPUS_LINES,
                             .max_length = inference_max_length(&run->inference),
                             .window_tokens = WINDOW_BATCHES * SCORE_TOKENS,
                             .line_limit = o->line_limit,
                             .keep_going = o->keep_going};
    Stream stream;
    bool ok = stream_open(&stream, job, &options) && inference_prepare_score(&run->inference) &&
              run_folder_load(job, run, o->checkpoint);
    cli_flush(job);
    while (ok && stream_next(&stream))
        ok = score_window(job, run, &stream);
    return stream_close(&stream, ok);
}

int command_score(Job *job, int argc, char **argv)
{
    Score o = {.threads = 0};
    const Option options[] = {
        {"source", "FILE", OPTION_TEXT, &o.source, 0, "source text, one sentence a line"},
        {"target", "FILE", OPTION_TEXT, &o.target, 0, "target text, as many lines"},
        {"text", "FILE", OPTION_TEXT, &o.text, 0, "the text of a language model"},
        {"checkpoint", "FILE", OPTION_TEXT, &o.checkpoint, 0,
         "params from here (RUN's average, else best, else last)"},
        OPTION_KEEP_GOING(&o.keep_going),
        OPTION_LINE_LIMIT(&o.line_limit),
        {"threads", "N", OPTION_INT, &o.threads, 1, "threads (all processors)"},
        OPTION_GEMM(job),
        OPTION_CPU(job),
        OPTION_PASSES(job),
    };
    const Usage usage = {"score", "RUN",
                         "Prints the natural logarithm of the probability of each target, its end\n"
                         "included, given its source: one line each, as they are read.",
                         1, 1};
    Arguments arguments;
    int status;
    if (options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (o.threads)
        exec_set_threads((int)o.threads);
    RunFolder run;
    bool ok = run_folder_open(job, arguments.words[0], &run) && score(job, &o, &run);
    run_folder_close(&run);
    return cli_finish(job, ok);
}
