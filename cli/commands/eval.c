/* tfc eval: loss, perplexity, BLEU, and exact matches of a run on given text. */
#include "base/json_write.h"
#include "cli/commands/commands.h"
#include "cli/options/decoding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EVAL_TOKENS = 2048, EVAL_STREAM_TOKENS = 8192, EVAL_DECODE_TOKENS = 1024 };

typedef struct Eval {
    Common common;
    TextFiles texts;
    const char *tokenize;
    Decoding decoding;
    bool json;
} Eval;

typedef struct Figures {
    /* model_loss: as the model's `loss = …` says; NAN: not known */
    double loss, perplexity, model_loss;
    int64_t sentences, tokens;
    int64_t cut_sources, cut_targets, max_length; /* as Corpus counts them */
    bool decoded;
    Judgement judgement; /* of what was decoded */
    const char *signature;
    double full_bleu;             /* with --shortlist: over the whole vocabulary; else NAN */
    double shortlist, vocabulary; /* tokens of a batch's shortlist, in the mean; of all */
} Figures;

static bool measure_loss(Job *job, RunFolder *run, const Corpus *corpus, Figures *f)
{
    Scores scores;
    int64_t tokens = run->kind == CORPUS_STREAM ? EVAL_STREAM_TOKENS : EVAL_TOKENS;
    if (!inference_score(&run->inference, corpus, tokens, NULL, &scores))
        return job_no_memory(job);
    f->loss = score_token_loss(&scores);
    f->model_loss = scores.loss;
    f->perplexity = exp(f->loss);
    f->tokens = scores.tokens;
    f->sentences = scores.sentences;
    f->cut_sources = corpus->cut_sources;
    f->cut_targets = corpus->cut_targets;
    f->max_length = corpus->options.max_length;
    return true;
}

static bool measure_output(Job *job, const Eval *o, RunFolder *run, const Corpus *corpus,
                           const Lines *target, Figures *f)
{
    Arena *arena = arena_new();
    DecodeSettings settings = decoding_settings(&o->decoding, &run->inference);
    Decoded *results = ARENA_ARRAY(arena, Decoded, corpus->n + 1);
    BleuTokenize tokenize = inference_tokenize(&run->inference);
    if (o->tokenize)
        bleu_parse_tokenize(o->tokenize, &tokenize);
    bool ok =
        inference_decode(&run->inference, corpus, &settings, EVAL_DECODE_TOKENS, arena, results);
    if (ok)
        f->judgement = inference_judge(&run->inference, tokenize, corpus, target, results);
    f->decoded = true;
    f->signature = bleu_signature(job->arena, tokenize, 1, TFC_VERSION);
    arena_free(arena);
    return ok;
}

/* BLEU over the whole vocabulary: of the run opened once more, without the shortlist. */
static bool measure_full(Job *job, const Eval *o, const char *path, const Corpus *corpus,
                         const Lines *target, Figures *f)
{
    Figures full = {0};
    RunFolder run;
    RunSource source = common_source(&o->common, path);
    source.shortlist.path = NULL;
    bool ok = run_folder_open(job, &source, &run) && inference_prepare_decode(&run.inference) &&
              run_folder_load(job, &run, o->common.checkpoint) &&
              measure_output(job, o, &run, corpus, target, &full);
    run_folder_close(&run);
    f->full_bleu = full.judgement.bleu;
    return ok;
}

static void print_json(const Figures *f)
{
    enum { DIGITS = 9 };
    Text out = {0};
    JsonWriter json = {.out = &out};
    json_open(&json, NULL, '{');
    json_put_number(&json, "loss", f->loss, DIGITS);
    json_put_number(&json, "perplexity", f->perplexity, DIGITS);
    json_put_number(&json, "model_loss", f->model_loss, DIGITS);
    if (f->decoded) {
        json_put_number(&json, "bleu", f->judgement.bleu, DIGITS);
        json_put_text(&json, "signature", f->signature);
        if (!isnan(f->full_bleu)) {
            json_put_number(&json, "bleu_without_shortlist", f->full_bleu, DIGITS);
            json_put_number(&json, "shortlist_tokens", f->shortlist, DIGITS);
        }
        json_put_number(&json, "accuracy", f->judgement.exact, DIGITS);
        json_put_number(&json, "symbol_error_rate", f->judgement.symbol_error_rate, DIGITS);
    }
    json_put_integer(&json, "sentences", f->sentences);
    json_put_integer(&json, "tokens", f->tokens);
    json_put_integer(&json, "cut_sources", f->cut_sources);
    json_put_integer(&json, "cut_targets", f->cut_targets);
    json_close(&json, '}');
    puts(out.data);
    text_free(&out);
}

static void print_figures(const Figures *f)
{
    printf("loss               %.4f nats a target token\n", f->loss);
    printf("perplexity         %.3f\n", f->perplexity);
    if (score_losses_differ(f->model_loss, f->loss))
        printf("model's loss       %.4f, as it says itself\n", f->model_loss);
    if (f->decoded) {
        printf("BLEU               %.2f  %s\n", f->judgement.bleu, f->signature);
        if (!isnan(f->full_bleu))
            printf("without shortlist  %.2f (%+.2f); a batch has %.0f of %.0f tokens\n",
                   f->full_bleu, f->judgement.bleu - f->full_bleu, f->shortlist, f->vocabulary);
        printf("exactly right      %.2f %%\n", 100 * f->judgement.exact);
        printf("symbol error rate  %.2f %%\n", 100 * f->judgement.symbol_error_rate);
    }
    printf("sentences          %" PRId64 "\n", f->sentences);
    printf("tokens             %" PRId64 "\n", f->tokens);
    if (f->cut_sources)
        printf("sources cut        %" PRId64 ", to %" PRId64 " tokens\n", f->cut_sources,
               f->max_length);
    if (f->cut_targets)
        printf("targets cut        %" PRId64 ", to %" PRId64 " tokens, for the loss alone\n",
               f->cut_targets, f->max_length);
}

typedef struct Texts {
    Lines *source; /* or the one text of a model with one input */
    Lines *target; /* of pairs; else NULL */
} Texts;

static bool read_texts(Job *job, const Eval *o, const RunFolder *run, Texts *texts)
{
    if (!common_check_texts(job, run, &o->texts))
        return false;
    texts->source = text_files_read(job, &o->texts, NULL, o->common.line_limit, &texts->target);
    return texts->source != NULL;
}

/* Every row of pairs and lines; a stream in windows as training has them. */
static Corpus *make_corpus(Job *job, const RunFolder *run, const Texts *texts)
{
    enum { DEFAULT_WINDOW = 128 };
    bool stream = run->kind == CORPUS_STREAM;
    CorpusOptions options = {.kind = run->kind,
                             .keep_all = true,
                             .same_lengths = feed_shares_lengths(&run->inference.feed),
                             .max_length = inference_max_length(&run->inference)};
    if (stream && !inference_said_length(&run->inference))
        options.max_length = DEFAULT_WINDOW;
    if (stream && options.max_length > EVAL_STREAM_TOKENS)
        options.max_length = EVAL_STREAM_TOKENS;
    return corpus_encode(&job->diags, run->vocab, &options, texts->source, texts->target);
}

static bool eval(Job *job, const void *record, RunFolder *run)
{
    const Eval *o = record;
    Texts texts;
    if (!read_texts(job, o, run, &texts))
        return false;
    Corpus *corpus = make_corpus(job, run, &texts);
    bool decodes = run->kind == CORPUS_PAIRS && ports_predict(&run->inference.ports);
    Figures figures = {.full_bleu = NAN};
    bool ok = corpus && inference_prepare_score(&run->inference, true) &&
              (!decodes || inference_prepare_decode(&run->inference)) &&
              run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    ok = ok && measure_loss(job, run, corpus, &figures) &&
         (!decodes || measure_output(job, o, run, corpus, texts.target, &figures));
    const Shortlist *shortlist = run->inference.shortlist;
    if (ok && decodes && shortlist) {
        figures.shortlist = (double)shortlist->count->tokens / (double)shortlist->count->batches;
        figures.vocabulary = shortlist->n_targets;
        ok = measure_full(job, o, run->path, corpus, texts.target, &figures);
    }
    if (ok)
        (o->json ? print_json : print_figures)(&figures);
    corpus_free(corpus);
    return ok;
}

static int run_eval(Job *job, void *record, const Arguments *arguments)
{
    const Eval *o = record;
    const char *mistake = decoding_mistake(job->arena, &o->decoding, arguments);
    if (!mistake)
        mistake = text_files_mistake(job->arena, &o->texts, "", TEXTS_PAIRS | TEXTS_TEXT);
    if (mistake)
        return cli_usage_error("%s", mistake);
    return common_run(job, &o->common, arguments->words[0], eval, o);
}

static const Option options[] = {
    {"source", "FILE", FIELD(Eval, texts.source), 0, NULL, "source text, one sentence a line"},
    {"target", "FILE", FIELD(Eval, texts.target), 0, NULL,
     "reference text, with as many lines as the source"},
    {"text", "FILE", FIELD(Eval, texts.text), 0, NULL, "text of a model with one input"},
#define RECORD Eval
#define SEARCH DECODING_OPTION
#define LONGEST DECODING_OPTION
#define CONTINUE(...)
#define ANY DECODING_OPTION
#include "runtime/decode/settings.def"
    {"tokenize", "13a|none", FIELD(Eval, tokenize), 0, NULL,
     "tokenization of BLEU (none if the vocabulary is a list of words, else 13a)"},
    OPTION_CHECKPOINT(Eval),
    OPTION_WEIGHTS(Eval),
    OPTION_VOCAB(Eval),
    OPTION_SOURCE_VOCAB(Eval),
    OPTION_TOKEN(Eval, common.vocab.tokens),
    OPTION_SPECIAL(Eval),
    OPTION_SET(Eval),
    OPTION_WITH(Eval),
    OPTION_LINE_LIMIT(Eval),
    OPTION_PRODUCTS(Eval),
    OPTION_THREADS(Eval),
    OPTION_WORKERS(Eval),
    OPTION_SHORTLIST(Eval),
    OPTION_GEMM(Eval),
    OPTION_CPU(Eval),
    OPTION_PASSES(Eval),
    {"json", NULL, FIELD(Eval, json), 0, NULL,
     "print one JSON object: loss, perplexity, bleu, signature, …"},
};

const Command command_eval = {
    .name = "eval",
    .summary = "measure loss, perplexity and BLEU of a run on given text",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Measures a run on given text: the loss without label smoothing and the perplexity; of\n"
        "pairs also BLEU as sacrebleu counts it, and how many translations are exactly right. If\n"
        "the model's own loss is another number (label smoothing, labels that do not count,\n"
        "further terms), that is shown, too, computed as if the whole text were one batch.",
    COMMAND_OPTIONS(Eval, options),
    .run = run_eval,
};
