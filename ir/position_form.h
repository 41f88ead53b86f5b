/* PositionForm: a tensor of indices as a formula of positions along one dimension. */
#ifndef IR_POSITION_FORM_H
#define IR_POSITION_FORM_H

#include "ir/graph.h"

/* LengthSum: Σ times × length + plus, over n dimensions. */
enum { MOST_LENGTH_TERMS = 8 };
typedef struct LengthSum {
    int n;
    DimTerm terms[MOST_LENGTH_TERMS];
    int64_t plus;
} LengthSum;

/* Each adds to a sum: times × the length of a dimension as it is; the same, where a dimension that
 * is a sum of others counts as that. False: the sum has no room, or its numbers grow too large. */
bool length_sum_add_term(LengthSum *sum, int symbol, int64_t times);
bool length_sum_add(const Module *module, LengthSum *sum, Dim dim, int64_t times);
/* Whether the sum is 0, whatever the lengths are. */
bool length_sum_is_zero(const LengthSum *sum);

/* At position i of `along` the index is factor × i + offset. along NO_SYMBOL: it is the same at
 * each position. */
typedef struct PositionForm {
    const Module *module;
    int along;
    int64_t factor;
    LengthSum offset;
    int steps; /* private: values looked at */
} PositionForm;

/* False: the index is no such formula of positions, lengths and whole numbers. */
bool position_form(const Module *module, const Value *index, PositionForm *form);

#endif
