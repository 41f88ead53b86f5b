/* What a model does with the whole numbers of its inputs, and which of them it may be given. */
#ifndef IR_ID_USES_H
#define IR_ID_USES_H

#include "base/id_range.h"
#include "ir/carriers.h"

typedef enum IdUseKind {
    ID_ROW,       /* of a table: op gather */
    ID_MATRIX,    /* of a stack of them: op grouped_dot */
    ID_LABEL,     /* of a cross-entropy over n classes (id_labels.h) */
    ID_CTC_LABEL, /* from 1 on; 0 is the blank */
    ID_COMPARED   /* with the positions 0 … n - 1, as all labels of a cross-entropy are */
} IdUseKind;

/* IdUse: one use of an input's numbers.
 *   op    which gathers, multiplies or compares
 *   n     rows, matrices or classes; 0: no constant
 *   held  what the op's operand holds of the input
 *   is_sure   held exactly, by an op of which a result of the model is made */
typedef struct IdUse {
    IdUseKind kind;
    const Op *op;
    int64_t n;
    Carried held;
    bool is_sure;
} IdUse;
typedef VEC(IdUse) IdUses;

/* In the module's arena. The function is one that the frontend has made, before any pass. */
IdUses id_uses(const Function *model, const Op *input);

/* The ranges of an input, in the module's arena: of each part that is used surely as rows, matrices
 * or labels, what all of these uses have in common. Labels of fewer classes than the table has rows
 * in which the same tokens are looked up do not count: the model's head was replaced. Ops that give
 * zeros outside of a tensor (lookup, and with it pick and scatter) bound nothing, nor does a
 * comparison that is not a cross-entropy's.
 *
 * An input with a vocabulary (attribute `vocab`) holds words' numbers: it is below the n of its
 * tables even where not all of its elements are known to be looked up. `is_made`: the input holds
 * tokens of another one, and numbers below 0 where there are none: it is below the n of any use. */
IdRanges id_ranges(const Function *model, const Op *input, bool is_made);

#endif
