/* Batches of a corpus for one epoch: a pure function of the corpus, the options and
 * the number of the epoch, so that (epoch, index) is all that resuming needs.
 *
 * Training order: rows are shuffled, sorted by length within pools of about 100
 * batches, cut into batches by the budget, and the batches are shuffled. Without
 * shuffling all rows are sorted by length. Rows are packed without padding.
 *
 * Shards: each batch may be cut into pieces of whole rows with about as many tokens each. The
 * functions below then count pieces in place of batches, in order; a piece may have no rows. */
#ifndef RUNTIME_DATA_BATCH_H
#define RUNTIME_DATA_BATCH_H

#include "runtime/data/corpus.h"

typedef struct BatchOptions {
    int64_t tokens;    /* most of each side in a batch; a longer row stands alone; 0: no limit */
    int64_t sentences; /* most rows of a batch; 0: no limit */
    bool shuffle;
    bool distinct; /* no two rows of a batch have a text in common (distinct.h) */
    bool hides;    /* tokens of columns are hidden as their specs say (hiding.h); else none is */
    uint64_t seed;
    int64_t shards; /* pieces of a batch; 0 is 1 */
} BatchOptions;

/* SideShape: the tokens of a side's rows; 0 for a side that the corpus lacks. */
typedef struct SideShape {
    int64_t total, longest;
} SideShape;

typedef struct BatchShape {
    int64_t rows;
    SideShape side[MOST_SIDES];
} BatchShape;

/* Memory is reused from fill to fill; start with {0}. */
typedef struct Batch {
    BatchShape shape;
    int32_t *lengths[MOST_SIDES]; /* of each row */
    union {
        struct {
            int32_t *source, *target; /* packed tokens */
            int32_t *columns[MOST_COLUMNS];
        };
        int32_t *values[MOST_VALUES]; /* of Corpus.values, of 32 bits each */
    };
    int32_t *target_next;    /* what follows each; -1: no label */
    int32_t *target_further; /* the next entry of the row's target_next; -1: it is the last */
    int32_t
        *hidden[MOST_COLUMNS]; /* of columns that hide tokens: what was hidden, or -1; else NULL */
    int64_t *row;              /* the corpus row of each row (for a stream: its first token) */
    int64_t room_rows, room[MOST_VALUES]; /* private */
} Batch;

typedef struct Batches Batches;

/* The corpus must outlive the batches. Epochs count from 0. A stream's windows begin at
 * its first token; when shuffling, the first window has a length drawn for each epoch, so
 * that the cuts differ between epochs. */
Batches *batches_new(const Corpus *corpus, const BatchOptions *options, int64_t epoch);
/* The same in the memory of other batches, which end; NULL: there are none. */
Batches *batches_renew(Batches *batches, const Corpus *corpus, const BatchOptions *options,
                       int64_t epoch);
void batches_free(Batches *batches); /* NULL is allowed */
int64_t batches_count(const Batches *batches);
/* With `distinct`: how often a batch ended early, because the next rows had a text in common with
 * it. */
int64_t batches_early(const Batches *batches);
BatchShape batches_shape(const Batches *batches, int64_t i);
void batches_fill(const Batches *batches, int64_t i, Batch *batch);
void batch_free(Batch *batch);

/* The shapes of the epoch that no other shape covers in every number: memory for these is enough
 * for all. Writes at most `room` of them and returns how many there are; if that is more than
 * `room`, the last one written covers those that were left out. */
int64_t batches_largest(const Batches *batches, BatchShape *shapes, int64_t room);

#endif
