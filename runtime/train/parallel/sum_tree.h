/* SumTree: the binary tree over the pieces of an update (gradient_sum.h), as each rank walks
 * through it.
 *
 * Rank r of N computes the pieces from r · n / N on. Sums of its own it joins alone; where a sum
 * has pieces of several ranks, they meet. In the end each rank has its part of the whole sum. */
#ifndef RUNTIME_TRAIN_PARALLEL_SUM_TREE_H
#define RUNTIME_TRAIN_PARALLEL_SUM_TREE_H

#include "runtime/train/parallel/gradient_sum.h"

typedef enum SumKind {
    SUM_PIECE, /* the piece's gradients are added to the store's */
    SUM_KEEP,
    SUM_JOIN,
    SUM_MEET,
    SUM_SPREAD
} SumKind;

/* SumStep: a step of a rank. */
typedef struct SumStep {
    SumKind kind;
    int level;               /* of KEEP, JOIN, MEET */
    int64_t piece;           /* of PIECE */
    Span left, right, whole; /* of MEET; of SPREAD the whole */
} SumStep;

int sum_tree_rank(int64_t piece, int64_t n, int ranks);
/* The steps of a rank for n pieces, n > 0, of which there is room for sum_tree_most(n): how
 * many. */
int64_t sum_tree_steps(SumStep *out, int64_t n, int ranks, int rank);
int64_t sum_tree_most(int64_t n);
/* Whether no rank has pieces on both sides of a meeting: then each computes all of its pieces
 * before its first meeting. */
bool sum_tree_is_even(int64_t n, int ranks);
/* Any step but a piece. */
void sum_tree_do(GradientSum *sum, const SumStep *step, Gradients of);

#endif
