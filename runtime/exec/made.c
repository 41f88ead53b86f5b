/* Bounds of the lengths of dimensions made of others. */
#include "runtime/exec/made.h"

/* Factors of up to 2^31 and 2^41 give no overflow; what is larger fits no program (sizes_fit). */
static int64_t made_factor(int64_t size, int64_t most) { return size < most ? size : most; }

/* How many of the rows can be within the range: as many as the tokens of the last term allow, none
 * if its longest row is too short. */
static int64_t rows_within(const DimFormula *formula, bool is_ragged, const TfcDim *last,
                           int64_t rows)
{
    if (!formula->most)
        return rows;
    if (last->extent < formula->least)
        return 0;
    return is_ragged && formula->least ? made_factor(rows, last->total / formula->least) : rows;
}

static void bound_made(const TfcProgram *program, const TfcProgramDim *dim, TfcDim *dims,
                       TfcDim *out)
{
    const DimFormula *formula = &dim->formula;
    const int64_t rows = dim->batch < 0 ? 1 : made_factor(dims[dim->batch].extent, 1 << 20);
    int64_t extents[MAX_DIM_TERMS], totals[MAX_DIM_TERMS];
    for (int32_t i = 0; i < formula->n; i++) {
        const int32_t of = formula->terms[i].symbol;
        extents[i] = made_factor(dims[of].extent, MOST_DIM_LENGTH);
        totals[i] = program->dims[of].batch >= 0 ? made_factor(dims[of].total, INT64_C(1) << 41)
                                                 : made_factor(extents[i], INT64_C(1) << 21) * rows;
    }
    const int32_t last = formula->n - 1, of = formula->terms[last].symbol;
    const int64_t within = rows_within(formula, program->dims[of].batch >= 0, &dims[of], rows);
    if (formula->most)
        extents[last] = made_factor(extents[last], formula->most);
    out->extent = within ? dim_formula_sum(formula, extents, formula->plus) : 0;
    /* A row whose sum is below 0 has no positions, so a negative plus does not lessen the total. */
    out->total = dim->batch < 0 ? out->extent
                                : dim_formula_sum(formula, totals,
                                                  formula->plus > 0 ? formula->plus * rows : 0);
    if (formula->most && dim->batch >= 0)
        out->total = made_factor(out->total, within * made_factor(out->extent, MOST_DIM_LENGTH));
}

void made_bounds(const TfcProgram *program, TfcDim *dims)
{
    for (int32_t d = 0; d < program->n_dims; d++)
        if (dim_is_made(program, d))
            bound_made(program, &program->dims[d], dims, &dims[d]);
}
