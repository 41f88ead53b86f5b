/* Labels of a cross-entropy, recognised in the graph of the block that computes it. */
#ifndef IR_ID_LABELS_H
#define IR_ID_LABELS_H

#include "ir/carriers.h"

/* The op eq compares what a carrier holds of the input with the numbers of n classes. Whether the
 * part is thereby the labels of a cross-entropy over these classes:
 *
 *   sum((… - c × sum(select(label == position(n), logits, 0), -1) …) × float(label >= 0))
 *
 * where nothing but sums, and products by constants, stand between the chosen logits and the
 * label's mask. There a label of n or more counts as one, with no logit of its own: the loss is
 * wrong. A label below 0 does not count. */
bool eq_compares_labels(const Carriers *carriers, const Op *eq, const CarriedPart *part);
/* The n of the positions 0 … n - 1, n a constant, that the value holds, in whatever shape;
 * INT64_MAX: it holds no such ones. */
int64_t positions_counted(const Value *value);

#endif
