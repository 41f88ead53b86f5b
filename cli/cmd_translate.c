/* tfc translate: text in, text out. */
#include "cli/options.h"
#include "cli/stream.h"
#include "cli/tracing.h"
#include "driver/run_folder.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Translate {
    const char *input, *output, *checkpoint, *trace;
    int64_t beam, nbest, batch_tokens, threads, top_k, seed, line_limit;
    double length_penalty, temperature, top_p;
    bool sample, json, keep_going;
} Translate;

static DecodeSettings decode_settings(const Translate *o, const Inference *inference)
{
    DecodeSettings s = inference_decode_settings(inference);
    s.nbest = (int32_t)o->nbest;
    s.beam = (int32_t)(o->beam > o->nbest ? o->beam : o->nbest);
    s.length_penalty = o->length_penalty;
    s.sample = o->sample;
    s.temperature = o->temperature;
    s.top_k = (int32_t)o->top_k;
    s.top_p = o->top_p;
    s.seed = (uint64_t)o->seed;
    return s;
}

static void print_json(int64_t line, const char *text, const Hypothesis *h, Text *out)
{
    json_t *json =
        json_pack("{s:I, s:s, s:f, s:f}", "line", (json_int_t)line, "text", text, "score",
                  h ? h->score : 0.0, "log_probability", h ? h->log_probability : 0.0);
    char *dumped = json ? json_dumps(json, JSON_REAL_PRECISION(9)) : NULL;
    text_add(out, "%s\n", dumped ? dumped : "{}");
    free(dumped);
    json_decref(json);
}

/* One line a sentence; of n-best lists "NUMBER ||| TEXT ||| SCORE", as Moses has it. */
static void print_result(const Translate *o, const Inference *inference, int64_t line,
                         const Decoded *decoded, Arena *arena, Text *out)
{
    for (int32_t k = 0; k < (decoded->n ? decoded->n : 1); k++) {
        const Hypothesis *h = decoded->n ? &decoded->best[k] : NULL;
        const char *text = h ? inference_text(inference, h, arena) : "";
        if (o->json)
            print_json(line, text, h, out);
        else if (o->nbest > 1)
            text_add(out, "%" PRId64 " ||| %s ||| %.6f\n", line, text, h ? h->score : 0.0);
        else
            text_add(out, "%s\n", text);
    }
}

static bool translate_window(const Translate *o, RunFolder *run, Stream *stream)
{
    static const Decoded nothing;
    Arena *arena = arena_new();
    Text out = {0};
    DecodeSettings settings = decode_settings(o, &run->inference);
    Decoded *results = ARENA_ARRAY(arena, Decoded, stream->corpus->n + 1);
    bool ok = inference_decode(&run->inference, stream->corpus, &settings, o->batch_tokens, arena,
                               results);
    for (int64_t i = 0; ok && i < stream->n; i++)
        print_result(o, &run->inference, stream->first + i,
                     stream->row[i] < 0 ? &nothing : &results[stream->row[i]], arena, &out);
    if (ok)
        stream_put(stream, out.data, out.length);
    text_free(&out);
    arena_free(arena);
    return ok && stream_flush(stream);
}

static bool translate(Job *job, const Translate *o, RunFolder *run)
{
    if (run->kind != CORPUS_PAIRS)
        return job_error(job,
                         "%s: the model does not translate; tfc generate is for language models",
                         run->path);
    StreamOptions options = {.source = o->input,
                             .output = o->output,
                             .vocab = run->vocab,
                             .kind = CORPUS_SOURCES,
                             .max_length = inference_max_length(&run->inference),
                             .window_tokens = WINDOW_BATCHES * o->batch_tokens,
                             .line_limit = o->line_limit,
                             .keep_going = o->keep_going};
    Stream stream;
    bool ok = stream_open(&stream, job, &options) && inference_prepare_decode(&run->inference) &&
              run_folder_load(job, run, o->checkpoint);
    cli_flush(job);
    while (ok && stream_next(&stream))
        ok = translate_window(o, run, &stream);
    return stream_close(&stream, ok);
}

int command_translate(Job *job, int argc, char **argv)
{
    Translate o = {.input = "-",
                   .beam = 4,
                   .nbest = 1,
                   .batch_tokens = 1024,
                   .length_penalty = 0.6,
                   .temperature = 1,
                   .top_p = 1,
                   .seed = 1};
    const Option options[] = {
        {"input", "FILE", OPTION_TEXT, &o.input, 0, "text, one sentence a line (standard input)"},
        {"output", "FILE", OPTION_TEXT, &o.output, 0, "where to write (standard output)"},
        {"beam", "N", OPTION_INT, &o.beam, 1, "width of the beam; 1 is greedy (4)"},
        {"length-penalty", "A", OPTION_NUMBER, &o.length_penalty, 0,
         "scores are log p / ((5 + n) / 6)^A (0.6)"},
        {"nbest", "K", OPTION_INT, &o.nbest, 1, "K lines a sentence: NUMBER ||| TEXT ||| SCORE"},
        {"sample", NULL, OPTION_FLAG, &o.sample, 0, "draw at random instead of searching"},
        {"temperature", "X", OPTION_NUMBER, &o.temperature, 0, "of --sample (1)"},
        {"top-k", "K", OPTION_INT, &o.top_k, 0, "draw among the K most probable tokens; 0: all"},
        {"top-p", "P", OPTION_NUMBER, &o.top_p, 0, "draw among the smallest set of mass P (1)"},
        {"seed", "S", OPTION_INT, &o.seed, 0, "of --sample (1)"},
        {"batch-tokens", "N", OPTION_INT, &o.batch_tokens, 1, "source tokens a batch (1024)"},
        OPTION_KEEP_GOING(&o.keep_going),
        OPTION_LINE_LIMIT(&o.line_limit),
        {"threads", "N", OPTION_INT, &o.threads, 1, "threads (all processors)"},
        OPTION_GEMM(job),
        OPTION_CPU(job),
        OPTION_PASSES(job),
        {"checkpoint", "FILE", OPTION_TEXT, &o.checkpoint, 0,
         "params from here (RUN's average, else best, else last)"},
        {"json", NULL, OPTION_FLAG, &o.json, 0,
         "an object a result: line, text, score, log_probability"},
        OPTION_TRACE(&o.trace),
    };
    const Usage usage = {
        "translate", "RUN",
        "Translates text with a trained run: one line out for each line in, in order,\n"
        "the same whatever the size of batches. It answers as it reads: a line written\n"
        "into a pipe at once, a long text while it is being read. A line that is no text\n"
        "or too long for the model ends it, once the lines before are written.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (o.threads)
        exec_set_threads((int)o.threads);
    RunFolder run;
    Trace *trace;
    bool ok = run_folder_open(job, arguments.words[0], &run) &&
              tracing_open(job, o.trace, false, &trace);
    if (ok) {
        trace_use(trace);
        ok = translate(job, &o, &run);
        ok = tracing_close(job, o.trace, trace) && ok;
    }
    run_folder_close(&run);
    return cli_finish(job, ok);
}
