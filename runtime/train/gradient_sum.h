/* Sums of gradients in an order that is always the same, a binary tree: of pieces first … last - 1
 * the left half's sum plus the right half's, where the left half has as many pieces as the largest
 * power of two below their number. So the bits do not depend on who computed which half.
 *
 *   sum = gradient_sum_new(store, pieces);
 *   ... the left half's sum lies in the store ...
 *   gradient_sum_keep(sum, level);   // puts it aside, the store's is 0
 *   ... the right half's sum lies in the store ...
 *   gradient_sum_join(sum, level);   // the store's is left + right
 */
#ifndef RUNTIME_TRAIN_GRADIENT_SUM_H
#define RUNTIME_TRAIN_GRADIENT_SUM_H

#include "runtime/exec/exec.h"
#include "runtime/ranks/ranks.h"

typedef struct GradientSum GradientSum;

/* Room for a tree over so many pieces, the store's size of gradients a level; NULL: out of memory.
 * The store outlives it and has its gradients already. */
GradientSum *gradient_sum_new(Store *store, int64_t pieces);
void gradient_sum_free(GradientSum *sum); /* NULL is allowed */
int64_t gradient_sum_bytes(const GradientSum *sum);
/* `level`: of the tree, from 0 at its root. */
void gradient_sum_keep(GradientSum *sum, int level);
void gradient_sum_join(GradientSum *sum, int level);
/* The store's gradients to another rank, after which they are 0; from another rank; and rank 0's,
 * on every rank. */
void gradient_sum_send(GradientSum *sum, const Ranks *ranks, int to);
void gradient_sum_receive(GradientSum *sum, const Ranks *ranks, int from);
void gradient_sum_share(GradientSum *sum, const Ranks *ranks);
/* How many of n pieces, n > 1, the left half has. */
int64_t gradient_sum_left(int64_t n);

#endif
