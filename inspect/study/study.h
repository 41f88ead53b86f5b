/* Study: how well a run does on its validation text, as tables for a report: quality by length,
 * words by their frequency, tokens that are confused, the best and the worst lines, the
 * vocabulary. Of a run that predicts: confusions, and the worst records. */
#ifndef INSPECT_STUDY_STUDY_H
#define INSPECT_STUDY_STUDY_H

#include "driver/run/folder.h"
#include "inspect/run_page.h"

/* StudyText: what is studied.
 *   text    of a text with one side only source; of a table with the run's columns
 *   train   target side of the training text, for the counts of words; NULL: not there */
typedef struct StudyText {
    CorpusText text;
    const Lines *train;
} StudyText;

typedef struct StudyOptions {
    int64_t
        sentences; /* most lines of the text, at equal distances; of a stream and of a table all are taken */
    int64_t beam;
    const char *checkpoint; /* as run_folder_load takes it */
} StudyOptions;

/* StudyRow: a line of the text and the model's result for it.
 *   loss             nats per token
 *   source, output   of what is decoded: of pairs and records; else NULL. A record without a source
 *                    shows its first text
 *   target           the reference of a pair; else the line
 *   exact            the output is the target */
typedef struct StudyRow {
    int64_t line; /* from 0 */
    int64_t tokens;
    double loss;
    const char *source, *target, *output;
    bool exact;
} StudyRow;

/* Compiles, loads the checkpoint, scores and, of pairs and records, decodes; then adds tables to
 * the view and, of these, samples if the view has none. Everything lives in the job's arena. False
 * after errors. */
bool study(Job *job, RunFolder *run, const StudyText *text, const StudyOptions *options,
           RunView *view);

/* The same of a run that reads tables, all records of one: compiles, loads the checkpoint and
 * predicts; then adds confusions and the records that are predicted worst. (study_predictions.c) */
bool study_predictions(Job *job, RunFolder *run, const CorpusText *text,
                       const StudyOptions *options, RunView *view);

/* ---- study_tables.c ---- */

void study_by_length(Job *job, const StudyRow *rows, int64_t n, BleuTokenize tokenize,
                     RunTable *table);
/* A table of the targets' words by how often `train` has them, and how many of them are in the
 * outputs. */
void study_by_rarity(Job *job, const StudyRow *rows, int64_t n, const Lines *train,
                     BleuTokenize tokenize, RunTable *table);
/* A table of the most frequent pairs of a token of the text and another token that the model gave
 * the highest probability in its place. */
void study_confusions(Job *job, const Vocabulary *vocab, const int32_t *wanted,
                      const int32_t *guesses, int64_t n, RunTable *table);
/* A table of the lines with the greatest loss (`worst`), or with the least. */
void study_extremes(Job *job, const StudyRow *rows, int64_t n, bool worst, RunTable *table);
void study_vocabulary(Job *job, const Vocabulary *vocab, const int32_t *ids, int64_t n,
                      RunTable *table);
/* A table of the model's params without states; params of one shape whose names differ only in
 * numbers are in one row. */
void study_params(Job *job, const Module *module, RunTable *table);

#endif
