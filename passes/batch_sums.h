/* BatchSums: which values of a function are sums over the rows of a batch. The batch may then be
 * computed in pieces of whole rows, and the pieces' sums added.
 *
 *   loss = sum(each * labelled) / maximum(sum(labelled), 1)
 *          ^ a sum                        ^ a total: the whole batch's sum, in every piece
 *
 * A sum on which the loss does not depend linearly, such as a count by which it is divided, is an
 * early total: the function `totals` computes each piece's sum before the pieces themselves are
 * computed. A sum that an `update` of a state reads is a total, too. A sum that depends on trained
 * params or on another total is a late total: the function that computes a piece has the piece's
 * sum as an output. A loss that depends on a late total is not a sum. Inputs and outputs for totals
 * are named "total.N" (base/functions.h), f32. */
#ifndef PASSES_BATCH_SUMS_H
#define PASSES_BATCH_SUMS_H

#include "ir/builder.h"

/* BatchTotal: a sum whose value for the whole batch is read. */
typedef struct BatchTotal {
    Value *sum;
    bool late;
} BatchTotal;

/* TotalRead: operand `arg` of `op`: the sum totals[total], whose value for the whole batch the op
 * needs. */
typedef struct TotalRead {
    Op *op;
    int arg, total;
} TotalRead;

/* Term: operand `arg` of `op`, which share_loss multiplies by the piece's share: a summand, or the
 * loss itself, with the same value in every piece; or a loss that is not a sum. */
typedef struct Term {
    Op *op;
    int arg;
} Term;

/* BatchSums: of a function with its loss and perhaps assigns of states.
 *   whole        the op because of which the loss is not the sum of the pieces' parts; NULL: it is
 *   refused      the first assign that cannot be computed from totals; NULL: none
 *   refused_for  the op because of which that assign cannot */
typedef struct BatchSums {
    Function *function;
    VEC(BatchTotal) totals;
    VEC(TotalRead) reads;
    VEC(Term) terms;
    const Op *whole, *refused, *refused_for;
} BatchSums;

BatchSums find_batch_sums(Function *function);
/* Makes the loss the piece's part of the batch's loss: multiplies the terms by the piece's share
 * `weight` (scalar f32). */
void share_loss(const BatchSums *sums, Value *weight);
/* Replaces the operands that read early totals, and with `late` those that read late totals, by
 * inputs. */
void read_totals(const BatchSums *sums, bool late);
/* Adds outputs for the late totals if `late`, else for the early ones. Returns whether it added
 * any. */
bool give_totals(const BatchSums *sums, bool late);

#endif
