/* Gives batches of token rows to a program, as its dimensions and inputs. */
#ifndef RUNTIME_DECODE_FEED_H
#define RUNTIME_DECODE_FEED_H

#include "runtime/data/batch.h"
#include "runtime/decode/sources.h"

/* Whether source and target share a ragged dimension: every row then has the same number of tokens
 * on either side (CorpusOptions.same_lengths). */
bool feed_shares_lengths(const Feed *feed);
/* The same for a corpus that has some of the columns, in any order: those of its options. */
Feed feed_of_corpus(const Feed *all, const Corpus *corpus);
/* The side whose ragged dimension has this name; -1: none. */
int feed_side(const Feed *feed, const char *dim);
/* What the rows of a batch can be decoded from: all but the target and what comes of it. Valid
 * while the batch does not change. */
Sources feed_sources_of(const Batch *batch);
/* Gives a batch to the executor. It is not copied: it must not change until the program has run. */
void feed_batch(Exec *exec, const Feed *feed, const Batch *batch);
/* The shape of a batch as exec_reserve takes it: program->n_dims entries. */
void feed_shape(const TfcProgram *program, const Feed *feed, const BatchShape *shape, ExecDim *out);
/* The first dimension made of others that would be longer than 2^31 - 1 in such a batch, in a row
 * or in all together; -1: none. */
int32_t feed_too_long(const TfcProgram *program, const Feed *feed, const BatchShape *shape);
/* Reserves memory for every batch of an epoch; false: memory ran out. */
bool feed_reserve(Exec *exec, const TfcProgram *program, const Feed *feed, const Batches *batches);
/* Reserves memory for every batch that one of n shapes covers; false: memory ran out. */
bool feed_reserve_shapes(Exec *exec, const TfcProgram *program, const Feed *feed,
                         const BatchShape *shapes, int64_t n);
/* The number of tokens over which a loss is a mean: the target's, or, without a target, the
 * source's. */
int64_t feed_tokens(const Feed *feed, const BatchShape *shape);

#endif
