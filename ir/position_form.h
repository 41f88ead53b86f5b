/* PositionForm: a tensor of indices as a formula of positions along one dimension. */
#ifndef IR_POSITION_FORM_H
#define IR_POSITION_FORM_H

#include "ir/graph.h"

/* Positions are below this, and lengths not above it, so that what is found of formulas of them
 * holds: that they do not wrap as i32, and that a float tells neighbours apart. */
enum { MOST_POSITION = 1 << 23 };

/* LengthSum: Σ times × length + plus, over n dimensions: what formulas (base/dim_formula.h) are
 * computed with, whose numbers are larger on the way and may be below 0. */
enum { MOST_LENGTH_TERMS = 8 };
typedef struct LengthTerm {
    int symbol;
    int64_t times;
} LengthTerm;
typedef struct LengthSum {
    int n;
    LengthTerm terms[MOST_LENGTH_TERMS];
    int64_t plus;
} LengthSum;

/* Each adds to a sum: times × the length of a dimension as it is; the same, where a dimension that
 * is a sum of others counts as that. False: the sum has no room, or its numbers grow too large. */
bool length_sum_add_term(LengthSum *sum, int symbol, int64_t times);
bool length_sum_add(const Module *module, LengthSum *sum, Dim dim, int64_t times);
/* Whether the sum is 0, whatever the lengths are. */
bool length_sum_is_zero(const LengthSum *sum);
/* Whether both are the same, whatever the lengths are. */
bool length_sum_equal(const LengthSum *a, const LengthSum *b);
/* The sum, divided, as a formula. False: it has too many terms, or numbers out of bounds. */
bool length_sum_formula(const LengthSum *sum, int64_t divisor, DimFormula *out);

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
