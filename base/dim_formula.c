/* Lengths by formula; see dim_formula.h. */
#include "base/dim_formula.h"

const char *dim_formula_problem(const DimFormula *formula)
{
    const int32_t n = formula->n;
    if (n < 0 || n > MAX_DIM_TERMS)
        return "is made of too many dimensions";
    bool ok = formula->divisor >= 1 && formula->divisor <= MOST_DIM_TIMES &&
              formula->plus >= -MOST_DIM_PLUS && formula->plus <= MOST_DIM_PLUS &&
              formula->least >= 0 && formula->least <= formula->most;
    for (int32_t i = 0; i < n; i++) {
        const int32_t times = formula->terms[i].times;
        const bool has_range = i && i == n - 1 && formula->most;
        ok = ok && times >= !has_range && times <= MOST_DIM_TIMES;
    }
    return ok ? NULL : "is made with a number out of bounds";
}

bool dim_formula_includes(const DimFormula *formula, int64_t last)
{
    return !formula->most || (last >= formula->least && last <= formula->most);
}

/* Four factors of up to 2^16 and lengths of up to 2^41 are far below 2^63. */
int64_t dim_formula_sum(const DimFormula *formula, const int64_t *of, int64_t plus)
{
    int64_t sum = plus;
    for (int32_t i = 0; i < formula->n; i++)
        sum += formula->terms[i].times * of[i];
    return sum < 0 ? 0 : sum / formula->divisor;
}

int64_t dim_formula_length(const DimFormula *formula, DimLengthOf *length, const void *of)
{
    int64_t lengths[MAX_DIM_TERMS] = {0};
    for (int32_t i = 0; i < formula->n; i++) {
        lengths[i] = length(of, formula->terms[i].symbol);
        if (lengths[i] > MOST_DIM_LENGTH)
            return DIM_TOO_LONG;
    }
    if (formula->n && !dim_formula_includes(formula, lengths[formula->n - 1]))
        return 0;
    const int64_t sum = dim_formula_sum(formula, lengths, formula->plus);
    return sum > MOST_DIM_LENGTH ? DIM_TOO_LONG : sum;
}

bool dim_formula_is_sum(const DimFormula *formula)
{
    return formula->n && formula->divisor == 1 && formula->plus >= 0 && !formula->most;
}

static bool has_term(const DimFormula *formula, const DimTerm *term)
{
    for (int32_t i = 0; i < formula->n; i++)
        if (formula->terms[i].symbol == term->symbol && formula->terms[i].times == term->times)
            return true;
    return false;
}

bool dim_formula_equal(const DimFormula *a, const DimFormula *b)
{
    bool same = a->n == b->n && a->plus == b->plus && a->divisor == b->divisor &&
                a->least == b->least && a->most == b->most;
    for (int32_t i = 0; same && i < a->n; i++)
        same = has_term(b, &a->terms[i]);
    return same && (!a->most || a->terms[a->n - 1].symbol == b->terms[b->n - 1].symbol);
}
