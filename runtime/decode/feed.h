/* Batches of token rows into the inputs of a program. */
#ifndef RUNTIME_DECODE_FEED_H
#define RUNTIME_DECODE_FEED_H

#include "runtime/data/batch.h"
#include "runtime/exec/exec.h"

/* The model's names; NULL where it has no such input. A program that lacks an
 * input or dimension is simply not given it. */
typedef struct Feed {
    const char *source, *target, *next, *further; /* inputs */
    const char *batch, *source_dim, *target_dim; /* dimensions: B, S~, T~ */
} Feed;

/* Whether source and target share a ragged dimension: every row then has as many tokens on either
 * side (CorpusOptions.same_lengths). */
bool feed_shares_lengths(const Feed *feed);
/* The batch must stay as it is until the program has run. */
void feed_batch(Exec *exec, const Feed *feed, const Batch *batch);
/* The shape of a batch as exec_reserve takes it: program->n_dims entries. */
void feed_shape(const TfcProgram *program, const Feed *feed, const BatchShape *shape, ExecDim *out);
/* Reserves for every batch of an epoch; false if memory cannot be had. */
bool feed_reserve(Exec *exec, const TfcProgram *program, const Feed *feed, const Batches *batches);
/* Reserves for every batch that one of n shapes covers. */
bool feed_reserve_shapes(Exec *exec, const TfcProgram *program, const Feed *feed,
                         const BatchShape *shapes, int64_t n);
/* Tokens that a loss is a mean over: the target's, or the source's without one. */
int64_t feed_tokens(const Feed *feed, const BatchShape *shape);

#endif
