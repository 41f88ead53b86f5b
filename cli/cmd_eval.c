/* tfc eval: loss, perplexity, BLEU, and exact matches of a run on given text. */
#include "cli/options.h"
#include "driver/run_folder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EVAL_TOKENS = 2048, EVAL_STREAM_TOKENS = 8192, EVAL_DECODE_TOKENS = 1024 };

typedef struct Eval {
    const char *source, *target, *text, *checkpoint, *tokenize;
    int64_t beam, threads, line_limit;
    double length_penalty;
    bool json;
} Eval;

typedef struct Figures {
    double loss, perplexity;
    int64_t sentences, tokens;
    bool decoded;
    double bleu, accuracy, symbol_error_rate;
    const char *signature;
} Figures;

static bool measure_loss(Job *job, RunFolder *run, const Corpus *corpus, Figures *f)
{
    Scores scores;
    int64_t tokens = run->kind == CORPUS_STREAM ? EVAL_STREAM_TOKENS : EVAL_TOKENS;
    if (!score_corpus(&run->inference.score, corpus, tokens, NULL, &scores))
        return job_error(job, "out of memory");
    f->loss = scores.tokens ? -scores.log_probability / (double)scores.tokens : NAN;
    f->perplexity = exp(f->loss);
    f->tokens = scores.tokens;
    f->sentences = scores.sentences;
    return true;
}

static bool measure_output(Job *job, const Eval *o, RunFolder *run, const Corpus *corpus,
                           const Lines *target, Figures *f)
{
    Arena *arena = arena_new();
    DecodeSettings settings = inference_decode_settings(&run->inference);
    settings.beam = (int32_t)o->beam;
    settings.length_penalty = o->beam > 1 ? o->length_penalty : 0;
    Decoded *results = ARENA_ARRAY(arena, Decoded, corpus->n + 1);
    BleuTokenize tokenize = inference_tokenize(&run->inference);
    if (o->tokenize)
        bleu_parse_tokenize(o->tokenize, &tokenize);
    bool ok =
        inference_decode(&run->inference, corpus, &settings, EVAL_DECODE_TOKENS, arena, results);
    Bleu bleu = {0};
    int64_t exact = 0, errors = 0, symbols = 0;
    for (int64_t i = 0; ok && i < corpus->n; i++) {
        Hypothesis none = {.ids = NULL}, *best = results[i].n ? results[i].best : &none;
        const char *reference =
            inference_reference(&run->inference, &target->at[corpus->line[i]], arena);
        bleu_add(&bleu, tokenize, best->n ? inference_text(&run->inference, best, arena) : "",
                 &reference, 1);
        const int32_t *ids = corpus->target.ids.data + corpus->target.start[i];
        int64_t length = rows_length(&corpus->target, i);
        int64_t wrong = edit_distance(best->ids, best->n, ids, length);
        exact += wrong == 0;
        errors += wrong;
        symbols += length;
    }
    f->decoded = true;
    f->bleu = bleu_score(&bleu);
    f->signature = bleu_signature(job->arena, tokenize, 1, TFC_VERSION);
    f->accuracy = corpus->n ? (double)exact / (double)corpus->n : NAN;
    f->symbol_error_rate = symbols ? (double)errors / (double)symbols : NAN;
    arena_free(arena);
    return ok;
}

static void print_json(const Figures *f)
{
    Text out = {0};
    text_add(&out, "{\"loss\": %.9g, \"perplexity\": %.9g", f->loss, f->perplexity);
    if (f->decoded) {
        text_add(&out, ", \"bleu\": %.9g, \"signature\": ", f->bleu);
        text_quote(&out, f->signature);
        text_add(&out, ", \"accuracy\": %.9g, \"symbol_error_rate\": %.9g", f->accuracy,
                 f->symbol_error_rate);
    }
    text_add(&out, ", \"sentences\": %" PRId64 ", \"tokens\": %" PRId64 "}", f->sentences,
             f->tokens);
    puts(out.data);
    text_free(&out);
}

static void print_figures(const Figures *f)
{
    printf("loss               %.4f nats a target token\n", f->loss);
    printf("perplexity         %.3f\n", f->perplexity);
    if (f->decoded) {
        printf("BLEU               %.2f  %s\n", f->bleu, f->signature);
        printf("exactly right      %.2f %%\n", 100 * f->accuracy);
        printf("symbol error rate  %.2f %%\n", 100 * f->symbol_error_rate);
    }
    printf("sentences          %" PRId64 "\n", f->sentences);
    printf("tokens             %" PRId64 "\n", f->tokens);
}

static bool eval(Job *job, const Eval *o, RunFolder *run)
{
    bool pairs = run->kind == CORPUS_PAIRS;
    if (pairs ? !o->source || !o->target : !o->text)
        return job_error(job, "%s: %s needed", run->path,
                         pairs ? "--source and --target are"
                               : "the model reads one text: --text is");
    const LineLimits limits = {.line = o->line_limit};
    Lines *source = lines_read(&job->diags, job->arena, pairs ? o->source : o->text, &limits);
    Lines *target =
        pairs && source ? lines_read(&job->diags, job->arena, o->target, &limits) : NULL;
    if (!source || (pairs && !target))
        return false;
    bool window = run->kind == CORPUS_STREAM;
    int64_t longest = run->session.model->train.max_length;
    CorpusOptions options = {.kind = run->kind,
                             .keep_all = !window,
                             .max_length =
                                 window && !longest ? 128 : inference_max_length(&run->inference)};
    Corpus *corpus = corpus_encode(&job->diags, run->vocab, &options, source, target);
    bool decodes = pairs && run->inference.ports.logits;
    Figures figures = {0};
    bool ok = corpus && inference_prepare_score(&run->inference) &&
              (!decodes || inference_prepare_decode(&run->inference)) &&
              run_folder_load(job, run, o->checkpoint);
    cli_flush(job);
    ok = ok && measure_loss(job, run, corpus, &figures) &&
         (!decodes || measure_output(job, o, run, corpus, target, &figures));
    if (ok)
        (o->json ? print_json : print_figures)(&figures);
    corpus_free(corpus);
    return ok;
}

int command_eval(Job *job, int argc, char **argv)
{
    Eval o = {.beam = 4, .length_penalty = 0.6};
    const Option options[] = {
        {"source", "FILE", OPTION_TEXT, &o.source, 0, "source text, one sentence a line"},
        {"target", "FILE", OPTION_TEXT, &o.target, 0, "reference text, as many lines"},
        {"text", "FILE", OPTION_TEXT, &o.text, 0, "the text of a model with one input"},
        {"beam", "N", OPTION_INT, &o.beam, 1, "width of the beam; 1 is greedy (4)"},
        {"length-penalty", "A", OPTION_NUMBER, &o.length_penalty, 0, "as in tfc translate (0.6)"},
        {"tokenize", "13a|none", OPTION_CHOICE, &o.tokenize, 0,
         "of BLEU (13a; none for vocabularies of words)"},
        {"checkpoint", "FILE", OPTION_TEXT, &o.checkpoint, 0,
         "params from here (RUN's average, else best, else last)"},
        OPTION_LINE_LIMIT(&o.line_limit),
        {"threads", "N", OPTION_INT, &o.threads, 1, "threads (all processors)"},
        OPTION_GEMM(job),
        OPTION_CPU(job),
        OPTION_PASSES(job),
        {"json", NULL, OPTION_FLAG, &o.json, 0, "one object: loss, perplexity, bleu, signature, …"},
    };
    const Usage usage = {
        "eval", "RUN",
        "Measures a run on given text: the loss without label smoothing, perplexity,\n"
        "BLEU as sacrebleu counts it, and how many lines come out exactly right.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (o.threads)
        exec_set_threads((int)o.threads);
    RunFolder run;
    bool ok = run_folder_open(job, arguments.words[0], &run) && eval(job, &o, &run);
    run_folder_close(&run);
    return cli_finish(job, ok);
}
