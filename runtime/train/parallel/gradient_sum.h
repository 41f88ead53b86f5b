/* Sums of gradients in an order that is always the same, a binary tree: of pieces first … last - 1
 * the left half's sum plus the right half's, where the left half has as many pieces as the largest
 * power of two below their number. So the bits do not depend on who computed which half.
 *
 *   sum = gradient_sum_new(store, parts, ranks, pieces);
 *   ... the left half's sum lies in the store ...
 *   gradient_sum_keep(sum, level);   // puts it aside, the store's is 0
 *   ... the right half's sum lies in the store ...
 *   gradient_sum_join(sum, level);   // the store's is left + right
 *
 * What several ranks have computed together lies among them, a part of the elements (parts.h) with
 * each; so a sum of halves costs each rank no more than its part.
 *
 * Where the parts have a second tensor of a gradient, that of its rows, the tree sums both, and in the end one
 * is added to the other. Of a sparse gradient ranks send what is not zero. */
#ifndef RUNTIME_TRAIN_PARALLEL_GRADIENT_SUM_H
#define RUNTIME_TRAIN_PARALLEL_GRADIENT_SUM_H

#include "runtime/exec/exec.h"
#include "runtime/ranks/ranks.h"
#include "runtime/train/parallel/parts.h"

typedef struct GradientSum GradientSum;

/* Room for a tree over so many pieces, the size of all gradients a level; NULL: out of memory.
 * There are as many parts as ranks. All outlive it; the store has its gradients already.
 * `rounded`: f32 goes between ranks as bf16; what rounding takes is added to what this rank sends of the
 * same element in the next update (error feedback: Seide et al. 2014). The sum then depends on the number
 * of ranks, and on where a training was resumed. */
GradientSum *gradient_sum_new(Store *store, const Parts *parts, const Ranks *ranks, int64_t pieces,
                              bool rounded);
void gradient_sum_free(GradientSum *sum); /* NULL is allowed */
int64_t gradient_sum_bytes(const GradientSum *sum);
/* How many of n pieces, n > 1, the left half has. */
int64_t gradient_sum_left(int64_t n);

/* Gradients: those a call is about, by their numbers; of each one piece of several (parts_piece). First come
 * those of the parts' tensors, whose numbers they have, then those of their rows. */
typedef struct Gradients {
    const int32_t *numbers;
    int32_t n;
    int32_t piece, pieces;
    int lane;          /* > 0: the calling thread works alone, on this lane, while others compute */
    RankMessage *room; /* four messages a gradient and rank */
} Gradients;
Gradients gradient_sum_all(const GradientSum *sum);
Gradients gradient_sum_params(const GradientSum *sum); /* one a tensor of the parts */
int32_t gradient_sum_count(const GradientSum *sum);
/* Of a gradient. */
const StoreTensor *gradient_sum_tensor(const GradientSum *sum, int32_t number);
/* The first n messages of the room, as the lane says. */
void gradients_move(const Ranks *ranks, Gradients of, int64_t n);

/* `level`: of the tree, from 0 at its root. */
void gradient_sum_keep(GradientSum *sum, Gradients of, int level);
void gradient_sum_join(GradientSum *sum, Gradients of, int level);

/* Span: ranks from … to that hold a sum together. */
typedef struct Span {
    int from, to;
} Span;
static inline bool span_has(Span span, int rank) { return span.from <= rank && rank <= span.to; }

/* Joins sums of two spans into one of `whole`, which has both in it. Each rank of `left` has kept its
 * part, each of `right` has it in the store. Called by all ranks of `whole`, with the same gradients. */
void gradient_sum_meet(GradientSum *sum, Gradients of, int level, Span left, Span right, Span whole);
/* Part p goes from the span that holds the sum to rank p; the store's is 0 elsewhere. Called by all. */
void gradient_sum_spread(GradientSum *sum, Gradients of, Span span);
/* After that: rows are added to the gradients that they belong to, in this rank's part. */
void gradient_sum_finish(GradientSum *sum);
/* The norm of the whole gradient, on all ranks, after that. */
double gradient_sum_norm(GradientSum *sum);

#endif
