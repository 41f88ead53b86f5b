/* Attention of a run that reads tables: what each head of each layer looks at, for one record at a
 * time. */
#ifndef DRIVER_ANALYSIS_RECORD_ATTENTION_H
#define DRIVER_ANALYSIS_RECORD_ATTENTION_H

#include "driver/run/prediction.h"

/* RecordAttender: a side is all that has the same positions: the source, the target, or the columns
 * along one ragged dimension.
 *   predictor   the inputs that are read: those of the predictions, or, of a model that predicts
 *               nothing, of its outputs and loss
 *   of_side     which of the corpus's sides (column.h) each of n_sides is
 *   is_read     whether the attentions read an input along it
 *   column      its column that names its positions, in predictor.columns; -1: it has none
 *   outputs     n of them; queries and keys are places in of_side */
typedef struct RecordAttender {
    Predictor predictor;
    Exec *exec;
    int of_side[MOST_SIDES], column[MOST_SIDES];
    bool is_read[MOST_SIDES];
    size_t n_sides;
    const AttentionOutput *outputs;
    size_t n;
} RecordAttender;

/* RecordMaps: of one record; in the caller's arena.
 *   tokens    of each side that is read, n[side] of them: tokens of a text, labels, or numbers
 *             from 1
 *   n_end     1 if the side's last token is a special one; else 0
 *   weights   for each of the attender's outputs, [heads, queries, keys] */
typedef struct RecordMaps {
    const char *const *tokens[MOST_SIDES];
    int64_t n[MOST_SIDES], n_end[MOST_SIDES];
    const float **weights;
} RecordMaps;

/* Compiles a program that gives the attentions of `kinds` (bits 1 << kind), and adds its params to
 * the store; called before the store is filled. False after an error, such as a model that has no
 * such attention. */
bool record_attender_prepare(RecordAttender *attender, Job *job, Inference *inference,
                             const DataColumns *columns, CorpusKind kind, unsigned kinds);
/* Computes the maps of all rows of a corpus of the predictor's columns: maps[i] is of row i. False
 * after an error. */
bool record_attender_run(RecordAttender *attender, Job *job, const Corpus *corpus, Arena *arena,
                         RecordMaps *maps);
void record_attender_free(RecordAttender *attender); /* {0} is allowed */

#endif
