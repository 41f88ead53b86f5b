/* Overlap: what ranks send each other while they compute.
 *
 * During the last piece of an update, each gradient is summed among the ranks as soon as the backward
 * has done with it. After the update the params go to all ranks while the next forward runs, which
 * waits for each where it first needs it. Other threads do both, bucket by bucket: tensors in the order
 * in which the program is done with them, or needs them, together of a megabyte at least (as gradients
 * are in PyTorch's DDP: Li et al. 2020); of a larger tensor a piece at a time. There are two, each with
 * every other bucket: one adds while the other waits for the network. */
#ifndef RUNTIME_TRAIN_PARALLEL_OVERLAP_H
#define RUNTIME_TRAIN_PARALLEL_OVERLAP_H

#include "runtime/train/parallel/split.h"
#include "runtime/train/parallel/sum_tree.h"

typedef struct Overlap Overlap;

/* `compute` gives the gradients; it tells the overlap of its steps from now on, until that is freed.
 * *overlap is NULL where ranks cannot use two threads. False: out of memory. */
bool overlap_new(Overlap **overlap, const Split *split, GradientSum *sum, Exec *compute);
void overlap_free(Overlap *overlap); /* NULL is allowed */

/* The last piece of an update is computed next, or there is none: these steps, which follow it and
 * outlive them, are done for each bucket. */
void overlap_begin_sums(Overlap *overlap, const SumStep *steps, int64_t n);
/* The piece is computed: the sums that are left may be done, too. */
void overlap_allow_sums(Overlap *overlap);
/* The sums that were begun are done. Gives the seconds that the caller waited. */
double overlap_wait_sums(Overlap *overlap);
/* The params of this rank's part are updated. */
void overlap_begin_params(Overlap *overlap);
/* All params are there. NULL is allowed. Gives the seconds that the caller waited, and its runs of
 * `compute` have waited, since the last call. */
double overlap_wait_params(Overlap *overlap);

#endif
