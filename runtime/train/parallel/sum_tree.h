/* SumTree: the binary tree over the pieces of an update (gradient_sum.h), as each rank walks
 * through it.
 *
 * Of n pieces, rank r of N computes each piece p with floor(p · N / n) = r. A rank joins sums of
 * its own pieces alone; ranks compute a sum with pieces of several ranks together (SUM_MEET). In
 * the end the sum over all pieces is divided among the ranks: each has a slice of it (parts.h). */
#ifndef RUNTIME_TRAIN_PARALLEL_SUM_TREE_H
#define RUNTIME_TRAIN_PARALLEL_SUM_TREE_H

#include "runtime/train/parallel/gradient_sum.h"

typedef enum SumKind {
    SUM_PIECE, /* the piece's gradients are added to the store's */
    SUM_KEEP,  /* gradient_sum_keep */
    SUM_JOIN,  /* gradient_sum_join */
    SUM_MEET,  /* gradient_sum_meet */
    SUM_SPREAD /* gradient_sum_spread */
} SumKind;

/* SumStep: a step of a rank. */
typedef struct SumStep {
    SumKind kind;
    int level;               /* of KEEP, JOIN, MEET */
    int64_t piece;           /* of PIECE */
    Span left, right, whole; /* of MEET; of SPREAD only `whole`, the ranks that hold the sum */
} SumStep;

/* The rank that computes a piece of n. */
int sum_tree_rank(int64_t piece, int64_t n, int ranks);
/* Writes the steps of a rank for n pieces, n > 0, to `out`, which has room for sum_tree_most(n).
 * Returns how many. */
int64_t sum_tree_steps(SumStep *out, int64_t n, int ranks, int rank);
int64_t sum_tree_most(int64_t n);
/* Whether no rank has pieces on both sides of a meeting: then each computes all of its pieces
 * before its first meeting. */
bool sum_tree_is_even(int64_t n, int ranks);
/* Does a step of any kind but SUM_PIECE. */
void sum_tree_do(GradientSum *sum, const SumStep *step, Gradients of);

#endif
