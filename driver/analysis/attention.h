/* Attention: what each head of each layer of a model looks at, for one sentence or pair at a time. */
#ifndef DRIVER_ANALYSIS_ATTENTION_H
#define DRIVER_ANALYSIS_ATTENTION_H

#include "driver/run/inference.h"

/* FramedPair: ids with what stands around them; in the arena that was given. A side that the model does
 * not have is empty.
 *   source   with its begin and end
 *   fed      the target as the decoder reads it: begin and tokens
 *   next     what it is to predict from each: tokens and end */
typedef struct FramedPair {
    const int32_t *source, *fed, *next;
    int64_t n_source, n_target;
} FramedPair;

/* Of row `row` of a corpus and n tokens of a target, without begin and end. */
FramedPair framed_pair(const Inference *inference, const Corpus *corpus, int64_t row,
                       const int32_t *ids, int64_t n, Arena *arena);
/* Runs a program of the pair, which `exec` (NULL at first) holds; false after an error. */
bool framed_run(const Inference *inference, const TfcProgram *program, Exec **exec,
                const FramedPair *pair);

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

/* Compiles what gives the attentions among `kinds` (bits 1 << kind) and adds its params to the store,
 * to be called before that is filled. False after an error: the model has none, or is an ensemble. */
bool attender_prepare(Attender *attender, Inference *inference, unsigned kinds);
/* As framed_pair; false after an error. */
bool attender_run(Attender *attender, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                  Arena *arena, AttentionMaps *out);
void attender_free(Attender *attender); /* {0} is allowed */
int64_t attention_queries(const FramedPair *pair, AttentionKind kind);
int64_t attention_keys(const FramedPair *pair, AttentionKind kind);

#endif
