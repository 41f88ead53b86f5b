/* Attention: what each head of each layer of a model looks at, for one sentence or pair at a
 * time. */
#ifndef DRIVER_ANALYSIS_ATTENTION_H
#define DRIVER_ANALYSIS_ATTENTION_H

#include "driver/run/inference.h"

/* FramedPair: ids with what stands around them; in the arena that was given. A side that the model
 * does not have is empty.
 *   source   with its begin and end
 *   fed      the target as the decoder reads it: begin and tokens
 *   next     what it is to predict from each: tokens and end */
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

/* AttentionMaps: one pair's; in the arena that was given.
 *   weights   of each of the attender's outputs, [heads, queries, keys] */
typedef struct AttentionMaps {
    FramedPair pair;
    const float **weights;
} AttentionMaps;

/* Compiles what gives the attentions among `kinds` (bits 1 << kind) and adds its params to the
 * store, to be called before that is filled. False after an error: the model has none, or is an
 * ensemble. */
bool attender_prepare(Attender *attender, Inference *inference, unsigned kinds);
/* Of row `row` of a corpus and n tokens of a target, without begin and end; false after an
 * error. */
bool attender_run(Attender *attender, const Corpus *corpus, int64_t row, const int32_t *ids,
                  int64_t n, Arena *arena, AttentionMaps *out);
void attender_free(Attender *attender); /* {0} is allowed */
/* Adds the error of a layer or head that is not there: "--layer 5: the model has 2 layers THAT:
 * give 0 to 1". Returns false. */
bool attention_refuse(Job *job, const char *option, int64_t number, int64_t n, const char *whose,
                      const char *what, const char *that);
int64_t attention_queries(const FramedPair *pair, AttentionKind kind);
int64_t attention_keys(const FramedPair *pair, AttentionKind kind);

/* Alignment: how much each token of a target is made from each of its source, as the last attention
 * of the decoder over the encoder has it in the mean of its heads. One pair's; in the arena that
 * was given.
 *   source, target   ids with what stands around them: begin and end of the source, the target's
 *                    end
 *   weights          [n_target, n_source], rows sum to 1: what was looked at to predict the
 *                    token */
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

/* Compiles what gives alignments and adds its params to the store, to be called before that is
 * filled. False after an error: the model has no attention over a source, or is an ensemble. */
bool aligner_prepare(Aligner *aligner, Inference *inference);
/* Of row `row` of a corpus of sources or pairs and n tokens of a target, without begin and end.
 * False after an error. */
bool aligner_run(Aligner *aligner, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                 Arena *arena, Alignment *out);
void aligner_free(Aligner *aligner); /* {0} is allowed */

#endif
