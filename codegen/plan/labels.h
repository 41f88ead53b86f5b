/* Labels: the dimensions of a product, each once for all three tensors, and what becomes
 * of them: matrix sides or loops. */
#ifndef CODEGEN_PLAN_LABELS_H
#define CODEGEN_PLAN_LABELS_H

#include "codegen/plan/plan.h"

enum { DOT_A, DOT_B, DOT_C, DOT_TENSORS, MAX_LABELS = 2 * MAX_RANK, NO_LABEL = -1 };

typedef enum Role { ROLE_BATCH, ROLE_FREE_A, ROLE_FREE_B, ROLE_CONTRACT } Role;

typedef struct Label {
    Role role;
    Dim dim;
    int dims[DOT_TENSORS]; /* its logical dimension in each tensor, or -1 */
    TfcSize extent;
    int length_dim; /* the ragged program dimension whose length in a sentence it has; or -1 */
    TfcSize times;  /* so many times that length: what each position has is joined to it */
    bool sentences; /* its dimension is the sentences of packed tensors, which become a loop */
    TfcSize strides[DOT_TENSORS]; /* 0 where absent, and of sentences in packed tensors */
} Label;

typedef struct DotForm {
    const Type *types[DOT_TENSORS];
    View views[DOT_TENSORS];
    bool tokens_joined[DOT_TENSORS]; /* the tensor's packed tokens are one label */

    /* program dimension whose offsets say where a sentence begins (TfcMatrix), or -1 */
    int ragged_dim[DOT_TENSORS];
    TfcSize ragged_stride[DOT_TENSORS];
    int n;
    Label labels[MAX_LABELS];
    int m, n_side, k; /* labels that are matrix sides, or NO_LABEL */
} DotForm;

/* Finds the labels for operands and result seen through `views`. Packed tokens become one label if
 * every tensor with one of their two dimensions has the same tokens. Dimensions of 1 are dropped.
 * Labels that are one dimension in the memory of every tensor are joined. Returns NULL, or why the
 * product cannot be written as loops of products. */
const char *label_dot(const Plan *plan, const Op *op, const View views[DOT_TENSORS], DotForm *form);
/* Sets m, n_side and k; false if no choice leaves each matrix with a contiguous side. */
bool choose_sides(DotForm *form);
static inline bool label_is(const Label *label, int tensor) { return label->dims[tensor] >= 0; }

#endif
