/* BatchSums: which values of a function are sums over the rows of a batch. Such a batch may be computed in pieces of
 * whole rows, and the pieces' results added.
 *
 *   loss = sum(each * labelled) / maximum(sum(labelled), 1)
 *          ^ a sum                        ^ a total: the whole batch's sum, in every piece
 *
 * A sum that the loss reads otherwise than linearly, such as a count that it divides by, is an early total: a function
 * of its own gives each piece's sum before the pieces are computed. What an `update` of a state reads of a sum is a
 * total, too. It may depend on trained params, and is late then: the pieces' sums are outputs of what computes the
 * pieces. Names are "total.N" (base/functions.h), f32, for outputs and inputs alike. */
#ifndef PASSES_BATCH_SUMS_H
#define PASSES_BATCH_SUMS_H

#include "ir/builder.h"

/* BatchTotal: a sum that is read as a whole. */
typedef struct BatchTotal {
    Value *sum;
    bool late;
} BatchTotal;

/* TotalRead: operand `arg` of an op, which stands for the total. */
typedef struct TotalRead {
    Op *op;
    int arg, total;
} TotalRead;

/* Term: operand `arg` of an op that adds it to a sum, and that is the same in every piece. */
typedef struct Term {
    Op *op;
    int arg;
} Term;

/* BatchSums: of a function with its loss and perhaps assigns of states.
 *   whole     the op for which the loss is no sum of its pieces' parts; NULL: it is one
 *   refused   an assign that cannot be made from totals, and the op for which it cannot; NULL: none */
typedef struct BatchSums {
    Function *function;
    VEC(BatchTotal) totals;
    VEC(TotalRead) reads;
    VEC(Term) terms;
    const Op *whole, *refused, *refused_for;
} BatchSums;

BatchSums find_batch_sums(Function *function);
/* The loss becomes the piece's part of the batch's: each piece has the share `weight` (scalar f32) of terms that are
 * the same in every piece, and of a loss that is no sum. */
void share_loss(const BatchSums *sums, Value *weight);
/* Operands that stand for totals become inputs: early ones, and late ones where `late`. */
void read_totals(const BatchSums *sums, bool late);
/* Outputs for the late totals, or for the early ones: whether there is one. */
bool give_totals(const BatchSums *sums, bool late);

#endif
