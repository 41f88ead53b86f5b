/* Attention: what each head of each layer of a model looks at, for one sentence or pair at a
 * time. */
#ifndef DRIVER_ANALYSIS_ATTENTION_H
#define DRIVER_ANALYSIS_ATTENTION_H

#include "driver/run/inference.h"

/* FramedPair: the ids of a pair with their special tokens; in the caller's arena. A side that the
 * model does not have is empty.
 *   source   with its begin and end
 *   fed      the target as the decoder reads it: begin and tokens
 *   next     what the decoder is to predict at each token of `fed`: tokens and end */
typedef struct FramedPair {
    const int32_t *source, *fed, *next;
    int64_t n_source, n_target;
} FramedPair;

typedef struct Attender {
    const Inference *inference;
    const TfcProgram *program;
    Exec *exec;
    const AttentionOutput *outputs; /* n */
    size_t n;
} Attender;

/* AttentionMaps: the weights for one pair; in the caller's arena.
 *   weights   for each of the attender's outputs, [heads, queries, keys] */
typedef struct AttentionMaps {
    FramedPair pair;
    const float **weights;
} AttentionMaps;

/* Compiles a program that gives the attentions of `kinds` (bits 1 << kind), and adds its params to
 * the store; called before the store is filled. False after an error, such as a model that has no
 * such attention, or an ensemble. */
bool attender_prepare(Attender *attender, Inference *inference, unsigned kinds);
/* Computes the maps of a source, row `row` of a corpus, and a target, n `ids` without begin and
 * end; false after an error. */
bool attender_run(Attender *attender, const Corpus *corpus, int64_t row, const int32_t *ids,
                  int64_t n, Arena *arena, AttentionMaps *out);
void attender_free(Attender *attender); /* {0} is allowed */
/* Adds the error of a layer or head that is not there: "--layer 5: the model has 2 layers THAT:
 * give 0 to 1". `that` begins with a blank, or is "". Returns false. */
bool attention_refuse(Job *job, const char *option, int64_t number, int64_t n, const char *whose,
                      const char *what, const char *that);
/* Adds the error that a model has no attention of `kinds`; returns false. */
bool attention_missing(Job *job, unsigned kinds);
/* Weights [heads, queries, keys] in the arena, from an output of one row, whose leading axis is
 * that of the queries (ir/layout.h). */
const float *attention_by_heads(const float *stored, int64_t heads, int64_t queries, int64_t keys,
                                Arena *arena);
int64_t attention_queries(const FramedPair *pair, AttentionKind kind);
int64_t attention_keys(const FramedPair *pair, AttentionKind kind);

/* Alignment: how much the decoder attends to each token of the source when it predicts each token
 * of the target: the mean over the heads of its last attention over the source. For one pair; in
 * the caller's arena.
 *   source, target   ids with special tokens: begin and end of the source, the target's end
 *   weights          [n_target, n_source], rows sum to 1 */
typedef struct Alignment {
    const int32_t *source, *target;
    int64_t n_source, n_target;
    const float *weights;
} Alignment;

typedef struct Aligner {
    const Inference *inference;
    const TfcProgram *program;
    Exec *exec;
} Aligner;

/* Compiles a program that gives alignments, and adds its params to the store; called before the
 * store is filled. False after an error, such as a model that has no attention over a source, or an
 * ensemble. */
bool aligner_prepare(Aligner *aligner, Inference *inference);
/* Aligns a source, row `row` of a corpus of sources or pairs, with a target, n `ids` without begin
 * and end. False after an error. */
bool aligner_run(Aligner *aligner, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                 Arena *arena, Alignment *out);
void aligner_free(Aligner *aligner); /* {0} is allowed */

#endif
