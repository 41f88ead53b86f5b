/* BatchSums: which values of a function are sums over the rows of a batch. Such a batch may be
 * computed in pieces of whole rows, and the pieces' results added.
 *
 *   loss = sum(each * labelled) / maximum(sum(labelled), 1)
 *          ^ a sum                        ^ a total: the whole batch's sum, in every piece
 *
 * A sum on which the loss does not depend linearly, such as a count that it divides by, is an early
 * total: the function `totals` computes each piece's sum before the pieces themselves are computed.
 * A sum that an `update` of a state reads is a total, too. If it depends on trained params it is a
 * late total: the function that computes a piece has the piece's sum as an output. Inputs and
 * outputs are named "total.N" (base/functions.h), f32. */
#ifndef PASSES_BATCH_SUMS_H
#define PASSES_BATCH_SUMS_H

#include "ir/builder.h"

/* BatchTotal: a sum whose value for the whole batch is read. */
typedef struct BatchTotal {
    Value *sum;
    bool late;
} BatchTotal;

/* TotalRead: operand `arg` of an op, which reads totals[total]. */
typedef struct TotalRead {
    Op *op;
    int arg, total;
} TotalRead;

/* Term: operand `arg` of an op, which adds it to a sum; it has the same value in every piece. */
typedef struct Term {
    Op *op;
    int arg;
} Term;

/* BatchSums: of a function with its loss and perhaps assigns of states.
 *   whole     the op because of which the loss is no sum of its pieces' parts; NULL: the loss is
 *             such a sum
 *   refused   an assign that cannot be computed from totals, and the op because of which it cannot;
 *             NULL: none */
typedef struct BatchSums {
    Function *function;
    VEC(BatchTotal) totals;
    VEC(TotalRead) reads;
    VEC(Term) terms;
    const Op *whole, *refused, *refused_for;
} BatchSums;

BatchSums find_batch_sums(Function *function);
/* Makes the loss the piece's part of the batch's loss. Terms with the same value in every piece,
 * and a loss that is no sum, are multiplied by the piece's share `weight` (scalar f32). */
void share_loss(const BatchSums *sums, Value *weight);
/* Replaces operands that read totals by inputs: those of early totals and, with `late`, of late
 * ones. */
void read_totals(const BatchSums *sums, bool late);
/* Adds outputs for the late totals, or for the early ones. Returns whether it added any. */
bool give_totals(const BatchSums *sums, bool late);

#endif
