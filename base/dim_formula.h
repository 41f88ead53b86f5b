/* Formulas of lengths: a dimension made of others. One record and one evaluator for the IR, for
 * programs and for the sides of a corpus. */
#ifndef BASE_DIM_FORMULA_H
#define BASE_DIM_FORMULA_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* DimFormula: a length made of those of other dimensions, in each row of the batch if one of them
 * is ragged:
 *
 *   max(0, times × length + … + plus) / divisor, rounded down
 *
 * or 0 in rows where the length of the last term is outside a range.
 *
 *   terms      n of them, each of another dimension; n 0: the length is given with the batch
 *   times      1 … MOST_DIM_TIMES, as is divisor; 0 for a last term that only has the range
 *   plus       -MOST_DIM_PLUS … MOST_DIM_PLUS
 *   least, most  the range, 0 … MOST_DIM_LENGTH; most 0: there is none */
enum {
    MAX_DIM_TERMS = 4,
    MOST_DIM_TIMES = 1 << 16,
    MOST_DIM_PLUS = 1 << 24,
    MOST_DIM_LENGTH = INT32_MAX
};
/* A length above MOST_DIM_LENGTH, whatever it is. */
#define DIM_TOO_LONG (INT64_C(1) << 31)

#define RECORD(T)       \
    typedef struct T T; \
    struct T {
#define END(T) \
    }          \
    ;
#define VALUE(type, name) type name;
#define PARTS(T, name, n) T name[n];
#include "base/dim_formula.def"
#undef RECORD
#undef END
#undef VALUE
#undef PARTS

/* The length of the dimension `symbol` of a term; `of` is the caller's. */
typedef int64_t DimLengthOf(const void *of, int32_t symbol);
/* The name of that dimension. */
typedef const char *DimNameOf(const void *of, int32_t symbol);

/* What is wrong with the numbers of a formula; NULL: nothing. Terms may be any. */
const char *dim_formula_problem(const DimFormula *formula);
/* Whether a row whose last term has this length is within the range. */
bool dim_formula_includes(const DimFormula *formula, int64_t last);
/* The length; DIM_TOO_LONG where it, or that of a term, is above MOST_DIM_LENGTH. */
int64_t dim_formula_length(const DimFormula *formula, DimLengthOf *length, const void *of);
/* The formula's value for terms of the lengths of[i], 0 … 2^41, with `plus` in place of its own and
 * without its range. For the sum over many rows: of[i] are sums, `plus` the formula's own times the
 * number of rows. */
int64_t dim_formula_sum(const DimFormula *formula, const int64_t *of, int64_t plus);
/* Whether it is the sum of its terms and `plus` in every row, whatever the lengths are. */
bool dim_formula_is_sum(const DimFormula *formula);
/* Whether both say the same; terms may stand in another order. */
bool dim_formula_equal(const DimFormula *a, const DimFormula *b);
/* The formula as a model says it, in the arena: "(1 + 2 * S) / 2", with a range "S where 4 <= S <=
 * 9". (dim_formula_text.c) */
const char *dim_formula_text(Arena *arena, const DimFormula *formula, DimNameOf *name,
                             const void *of);

#endif
