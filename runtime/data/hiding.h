/* Hiding: masked language modelling (Devlin et al. 2018) of a column of text. Of a row's tokens
 * some are chosen; of these some become the vocabulary's mask token, some another token, and some
 * stay. A loss compares what the model says of a chosen token with the token that was there.
 *
 * All is a function of a seed and of the row, so that it does not depend on batches, shards, ranks
 * or where a training was resumed. For the token at `position`, with the word that begins at
 * `first` (without whole_words the token is a word of its own):
 *
 *   key      the hash of seed, use and the input's name
 *   u, v     philox4x32({first, row, row >> 32, 0}, key)[0], and the same of position, in 2^-32
 *   w, x     [1] and [2] of the latter
 *   chosen   u < rate, and the token is no special one
 *   becomes  w < keep: itself; w < keep + random: ordinary token ⌊x · n⌋ of n; else the mask
 *
 * Special tokens are those of the vocabulary's rules and all that have no text. */
#ifndef RUNTIME_DATA_HIDING_H
#define RUNTIME_DATA_HIDING_H

#include "runtime/data/column.h"

typedef struct Hiding Hiding;

/* Of a column whose hide.rate is above 0 and whose vocabulary has a mask token; both must outlive
 * it. Freed by hiding_free. */
Hiding *hiding_new(const ColumnSpec *spec, const Vocabulary *vocab, uint64_t seed);
void hiding_free(Hiding *hiding); /* NULL is allowed */
/* Hides some of the n ids of row `row`. `use`: how often the row was used before, such as the
 * epoch. Each of `labels` becomes the id that was chosen there, or -1. */
void hiding_row(const Hiding *hiding, int64_t row, int64_t use, int32_t *ids, int64_t n,
                int32_t *labels);

#endif
