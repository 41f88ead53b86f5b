/* Losses, answers and their comparison; see evaluation.h. */
#include "driver/run/evaluation.h"

#include "base/portable_math.h"

#include <math.h>

Corpus *evaluation_corpus(Job *job, const RunFolder *run, const Lines *source, const Lines *target)
{
    return evaluation_records(job, run, &(CorpusText){.source = source, .target = target});
}

CorpusOptions evaluation_options(const RunFolder *run)
{
    bool stream = run->kind == CORPUS_STREAM;
    CorpusOptions options = {.kind = run->kind,
                             .keep_all = true,
                             .same_lengths = feed_shares_lengths(&run->inference.feed),
                             .max_length = inference_max_length(&run->inference),
                             .columns = run->columns.specs,
                             .n_columns = run->columns.n,
                             .formulas = run->columns.formulas};
    if (stream && !inference_said_length(&run->inference))
        options.max_length = EVALUATION_WINDOW;
    if (stream && options.max_length > EVALUATION_STREAM_BATCH)
        options.max_length = EVALUATION_STREAM_BATCH;
    return options;
}

Corpus *evaluation_records(Job *job, const RunFolder *run, const CorpusText *text)
{
    const CorpusOptions options = evaluation_options(run);
    return corpus_encode(&job->diags, run->vocab, &options, text);
}

bool evaluation_decodes(const RunFolder *run) { return inference_answers(&run->inference); }

bool evaluation_prepare(Job *job, RunFolder *run, const char *checkpoint)
{
    const bool has_answers =
        (run->kind == CORPUS_PAIRS || run->columns.n) && ports_predict(&run->inference.ports);
    return inference_prepare_score(&run->inference, true) &&
           (!has_answers || inference_prepare_decode_or_note(&run->inference,
                                                             "no BLEU and no exact matches", "")) &&
           run_folder_load(job, run, checkpoint);
}

void evaluator_begin(Evaluator *e, Job *job, RunFolder *run)
{
    *e = (Evaluator){.job = job, .run = run};
    e->scores.loss = NAN;
}

bool evaluator_count(Evaluator *e, const Corpus *corpus)
{
    const Inference *inference = &e->run->inference;
    if (inference->n_members)
        return true;
    if (!e->scorer)
        e->scorer = scorer_new(&inference->score, evaluation_batch(e->run->kind));
    return (e->scorer && scorer_count(e->scorer, corpus)) || job_no_memory(e->job);
}

/* An ensemble has no loss of its own. */
static bool score_ensemble(Evaluator *e, const Corpus *corpus)
{
    Scores scores;
    if (!inference_score(&e->run->inference, corpus, evaluation_batch(e->run->kind), NULL, &scores))
        return false;
    e->scores.log_probability += scores.log_probability;
    e->scores.tokens += scores.tokens;
    e->scores.sentences += scores.sentences;
    return true;
}

bool evaluator_loss(Evaluator *e, const Corpus *corpus)
{
    e->of.cut_sources += corpus->cut_sources;
    e->of.cut_targets += corpus->cut_targets;
    e->of.max_length = corpus->options.max_length;
    if (!(e->scorer ? scorer_add(e->scorer, corpus, NULL, NULL) : score_ensemble(e, corpus)))
        return job_no_memory(e->job);
    if (e->scorer)
        scorer_finish(e->scorer, &e->scores);
    return !e->scores.tokens || !isnan(e->scores.log_probability) ||
           inference_no_numbers(&e->run->inference, "the text");
}

bool evaluator_answers(Evaluator *e, const Corpus *corpus, const Lines *target,
                       const DecodeSettings *settings, const char *tokenize)
{
    Inference *inference = &e->run->inference;
    Arena *arena = arena_new();
    Decoded *results = ARENA_ARRAY(arena, Decoded, corpus->n + 1);
    BleuTokenize how = inference_tokenize(inference);
    if (tokenize)
        bleu_parse_tokenize(tokenize, &how);
    const bool ok =
        inference_decode(inference, corpus, settings, EVALUATION_SEARCH, arena, results) &&
        inference_check_numbers(inference, corpus, results);
    if (ok)
        inference_judge(inference, how, corpus, target, results, &e->judging);
    if (!e->of.decoded)
        e->of.signature = bleu_signature(e->job->arena, how, 1, TFC_VERSION);
    e->of.decoded = true;
    arena_free(arena);
    return ok;
}

bool evaluator_end(Evaluator *e, bool ok, Evaluation *out)
{
    const Scores *scores = &e->scores;
    scorer_free(e->scorer);
    e->scorer = NULL;
    if (!ok)
        return false;
    *out = e->of;
    out->loss = score_token_loss(scores);
    out->model_loss = scores->loss;
    out->perplexity = portable_exp(out->loss);
    out->tokens = scores->tokens;
    out->sentences = scores->sentences;
    if (out->decoded)
        out->judgement = judging_finish(&e->judging);
    return true;
}
