/* Overlap: what ranks send each other while they compute.
 *
 * During the last piece of an update, if sum_tree_is_even, each gradient is summed among the ranks
 * as soon as the backward has finished it. After the update the params are sent to all ranks while
 * the next forward runs, which waits for each param before the first step that reads it. Two
 * threads do both, bucket by bucket, and each takes every second bucket: one adds while the other
 * waits for the network. A bucket takes tensors until they are 1 MiB, in the order in which the
 * program finishes or needs them (as in PyTorch's DDP: Li et al. 2020); a tensor above 4 MiB is
 * sent in pieces. */
#ifndef RUNTIME_TRAIN_PARALLEL_OVERLAP_H
#define RUNTIME_TRAIN_PARALLEL_OVERLAP_H

#include "runtime/train/parallel/split.h"
#include "runtime/train/parallel/sum_tree.h"

typedef struct Overlap Overlap;

/* `compute` computes the gradients; until overlap_free it reports its steps to the overlap.
 * *overlap is NULL for one rank, and if the MPI library does not allow several threads. False: out
 * of memory, or no thread can be started. Called by all ranks. */
bool overlap_new(Overlap **overlap, const Split *split, GradientSum *sum, Exec *compute);
void overlap_free(Overlap *overlap); /* NULL is allowed */

/* Before this rank computes the last piece of an update, or if it has no piece: the threads do
 * these steps for each bucket. The steps must stay valid until overlap_wait_sums. */
void overlap_begin_sums(Overlap *overlap, const SumStep *steps, int64_t n);
/* After that piece was computed: allows all sums that are left. */
void overlap_allow_sums(Overlap *overlap);
/* Waits for the sums that were begun. Returns the seconds that it waited. */
double overlap_wait_sums(Overlap *overlap);
/* After the update of this rank's part: begins to send params. */
void overlap_begin_params(Overlap *overlap);
/* Waits until all params have arrived. NULL is allowed. Returns the seconds that this call and the
 * runs of `compute` have waited since the last call. */
double overlap_wait_params(Overlap *overlap);

#endif
