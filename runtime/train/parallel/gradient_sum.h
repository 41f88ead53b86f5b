/* Sums of gradients in a fixed order, a binary tree. The sum of pieces first … last - 1 is the sum
 * of their left half plus the sum of their right half; the left half has as many pieces as the
 * largest power of two below their number. So the bits do not depend on who computed which half.
 *
 *   sum = gradient_sum_new(store, parts, ranks, pieces, rounded);
 *   ... the store has the left half's sum ...
 *   gradient_sum_keep(sum, of, level);   // moves it to the level; the store's elements are 0
 *   ... the store has the right half's sum ...
 *   gradient_sum_join(sum, of, level);   // the store has left + right
 *
 * A sum that several ranks have computed together is distributed: each of them holds its share of
 * the parts (parts.h). So joining two halves costs each rank no more than its share.
 *
 * Where a gradient has a second tensor for its sparse terms (PartTensor.rows), the tree sums both,
 * and gradient_sum_finish adds the second to the first. Ranks send only the groups of a sparse
 * gradient that are not zero. */
#ifndef RUNTIME_TRAIN_PARALLEL_GRADIENT_SUM_H
#define RUNTIME_TRAIN_PARALLEL_GRADIENT_SUM_H

#include "runtime/exec/exec.h"
#include "runtime/ranks/ranks.h"
#include "runtime/train/parallel/parts.h"

typedef struct GradientSum GradientSum;

/* Room for a tree over `pieces` pieces: the size of all gradients for each level. NULL: out of
 * memory.
 *   store     has its gradients already; it, parts and ranks must outlive the sum
 *   parts     as many as ranks
 *   rounded   ranks send f32 as bf16; the error of rounding is added to what this rank sends of the
 *             same element in the next update (error feedback: Seide et al. 2014). The sum then
 *             depends on the number of ranks, and on where a training was resumed */
GradientSum *gradient_sum_new(Store *store, const Parts *parts, const Ranks *ranks, int64_t pieces,
                              bool rounded);
void gradient_sum_free(GradientSum *sum);           /* NULL is allowed */
int64_t gradient_sum_bytes(const GradientSum *sum); /* of its room */
/* How many of n pieces, n > 1, the left half has. */
int64_t gradient_sum_left(int64_t n);

/* Gradients: the gradients that a call works on, by their numbers, and which piece of each
 * (parts_piece). A gradient has the number of its PartTensor; the second tensors
 * (PartTensor.rows) have the numbers after these. */
typedef struct Gradients {
    const int32_t *numbers;
    int32_t n;
    int32_t piece, pieces;
    int lane;          /* > 0: the calling thread works alone, on this lane, while others compute */
    RankMessage *room; /* for four messages a gradient and rank */
} Gradients;
Gradients gradient_sum_all(const GradientSum *sum);
Gradients gradient_sum_params(const GradientSum *sum); /* one a tensor of the parts */
int32_t gradient_sum_count(const GradientSum *sum);
/* The gradient of that number. */
const StoreTensor *gradient_sum_tensor(const GradientSum *sum, int32_t number);
/* Sends and receives the first n messages of the room, on the lane. */
void gradients_move(const Ranks *ranks, Gradients of, int64_t n);

/* gradient_sum_keep moves the store's sum to the level; gradient_sum_join adds the level's sum to
 * the store's. `level`: of the tree, from 0 at its root. */
void gradient_sum_keep(GradientSum *sum, Gradients of, int level);
void gradient_sum_join(GradientSum *sum, Gradients of, int level);

/* Span: ranks from … to that hold a sum together. */
typedef struct Span {
    int from, to;
} Span;
static inline bool span_has(Span span, int rank) { return span.from <= rank && rank <= span.to; }

/* Joins the sums of the spans `left` and `right` into one of `whole`, which contains both. The
 * ranks of `left` have kept their parts, those of `right` have theirs in the store. Called by all
 * ranks of `whole`, with the same gradients. */
void gradient_sum_meet(GradientSum *sum, Gradients of, int level, Span left, Span right,
                       Span whole);
/* Sends part p from the span that holds the sum to rank p, for each p; the rest of each store's
 * elements becomes 0. Called by all ranks. */
void gradient_sum_spread(GradientSum *sum, Gradients of, Span span);
/* After gradient_sum_spread: in this rank's part, adds the second tensors (PartTensor.rows) to
 * their gradients, and sets them to 0. */
void gradient_sum_finish(GradientSum *sum);
/* After gradient_sum_finish, called by all ranks: the norm of the whole gradient. */
double gradient_sum_norm(GradientSum *sum);

#endif
