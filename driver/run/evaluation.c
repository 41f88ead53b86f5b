/* Losses, answers and their comparison; see evaluation.h. */
#include "driver/run/evaluation.h"

#include <math.h>

Corpus *evaluation_corpus(Job *job, const RunFolder *run, const Lines *source, const Lines *target)
{
    return evaluation_records(job, run, &(CorpusText){.source = source, .target = target});
}

Corpus *evaluation_records(Job *job, const RunFolder *run, const CorpusText *text)
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

bool evaluation_loss(Job *job, RunFolder *run, const Corpus *corpus, Evaluation *out)
{
    Scores scores;
    if (!inference_score(&run->inference, corpus, evaluation_batch(run->kind), NULL, &scores))
        return job_no_memory(job);
    if (scores.tokens && isnan(scores.log_probability))
        return inference_no_numbers(&run->inference, "the text");
    out->loss = score_token_loss(&scores);
    out->model_loss = scores.loss;
    out->perplexity = exp(out->loss);
    out->tokens = scores.tokens;
    out->sentences = scores.sentences;
    out->cut_sources = corpus->cut_sources;
    out->cut_targets = corpus->cut_targets;
    out->max_length = corpus->options.max_length;
    return true;
}

bool evaluation_answers(Job *job, RunFolder *run, const Corpus *corpus, const Lines *target,
                        const DecodeSettings *settings, const char *tokenize, Evaluation *out)
{
    Arena *arena = arena_new();
    Decoded *results = ARENA_ARRAY(arena, Decoded, corpus->n + 1);
    BleuTokenize how = inference_tokenize(&run->inference);
    if (tokenize)
        bleu_parse_tokenize(tokenize, &how);
    bool ok =
        inference_decode(&run->inference, corpus, settings, EVALUATION_SEARCH, arena, results);
    ok = ok && inference_check_numbers(&run->inference, corpus, results);
    if (ok)
        out->judgement = inference_judge(&run->inference, how, corpus, target, results);
    out->decoded = true;
    out->signature = bleu_signature(job->arena, how, 1, TFC_VERSION);
    arena_free(arena);
    return ok;
}
