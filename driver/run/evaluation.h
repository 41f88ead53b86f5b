/* Evaluation: how well a run does on given text. */
#ifndef DRIVER_RUN_EVALUATION_H
#define DRIVER_RUN_EVALUATION_H

#include "driver/run/folder.h"

/* In tokens, where no option says otherwise: a batch of rows, and of windows of a stream, whose
 * losses are computed (evaluation_batch chooses); the sources of a batch that is searched; a window
 * of a stream, in training too, for a model that says no longest one. */
enum {
    EVALUATION_BATCH = 2048,
    EVALUATION_STREAM_BATCH = 8192,
    EVALUATION_SEARCH = 1024,
    EVALUATION_WINDOW = 128
};
static inline int64_t evaluation_batch(CorpusKind kind)
{
    return kind == CORPUS_STREAM ? EVALUATION_STREAM_BATCH : EVALUATION_BATCH;
}

/* Evaluation:
 *   loss, perplexity           nats a target token, without label smoothing; its exponential
 *   model_loss                 as the model's `loss = …` says; NAN: not known
 *   cut_sources, cut_targets   how many were cut to max_length tokens (Corpus)
 *   decoded                    whether the following are known: of pairs and records, where a run
 *                              decodes
 *   judgement, signature       of what was decoded; how BLEU was counted */
typedef struct Evaluation {
    double loss, perplexity, model_loss;
    int64_t sentences, tokens;
    int64_t cut_sources, cut_targets, max_length;
    bool decoded;
    Judgement judgement;
    const char *signature;
} Evaluation;

/* The lines as the run reads them: every row of pairs and lines; a stream in windows as training
 * has them. `target`: of pairs; else NULL. Its caller frees it; NULL after errors. */
Corpus *evaluation_corpus(Job *job, const RunFolder *run, const Lines *source, const Lines *target);
/* The same of a table, with all columns of the run. */
Corpus *evaluation_records(Job *job, const RunFolder *run, const CorpusText *text);
CorpusOptions evaluation_options(const RunFolder *run);
/* Compiles what is needed, and reads the params as run_folder_load does. A model of pairs or
 * columns that cannot decode is measured by its losses alone, as a note tells. False after
 * errors. */
bool evaluation_prepare(Job *job, RunFolder *run, const char *checkpoint);
/* After evaluation_prepare: whether answers to such a corpus are decoded and compared. */
bool evaluation_decodes(const RunFolder *run);

/* Evaluator: evaluates corpora, one after the other, as if they were one; a large table is so read
 * by windows. All are counted before the first is scored, as a Scorer counts (score.h, which says
 * how losses are summed):
 *
 *   Evaluator e;
 *   evaluator_begin(&e, job, &run);                       // after evaluation_prepare
 *   for each corpus: ok = ok && evaluator_count(&e, corpus);
 *   for each corpus: ok = ok && evaluator_loss(&e, corpus) && evaluator_answers(&e, corpus, …);
 *   ok = evaluator_end(&e, ok, &evaluation);              // frees it, in any case
 *
 * Losses, answers or both may be computed. Each function returns false after an error. */
typedef struct Evaluator {
    Job *job;
    RunFolder *run;
    Scorer *scorer; /* NULL: nothing is counted yet, or of an ensemble, which is scored by itself */
    Scores scores;
    Judging judging;
    Evaluation of;
} Evaluator;

void evaluator_begin(Evaluator *e, Job *job, RunFolder *run);
bool evaluator_count(Evaluator *e, const Corpus *corpus);
/* Computes the losses. */
bool evaluator_loss(Evaluator *e, const Corpus *corpus);
/* For evaluation_decodes: computes the answers and compares them with the lines of `target`, as
 * inference_judge does. `tokenize`: of BLEU, by name; NULL: as fits the vocabulary. */
bool evaluator_answers(Evaluator *e, const Corpus *corpus, const Lines *target,
                       const DecodeSettings *settings, const char *tokenize);
/* ok: no error so far; *out is set if there is none now. */
bool evaluator_end(Evaluator *e, bool ok, Evaluation *out);

#endif
