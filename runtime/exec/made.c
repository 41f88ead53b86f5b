/* The formula of a dimension made of others: ir/type.h, DimFormula. */
#include "runtime/exec/made.h"

/* Whether rows whose last term has this length are within the formula's range. */
static bool includes(const TfcProgramDim *dim, int64_t last)
{
    return !dim->most || (last >= dim->least && last <= dim->most);
}

/* The formula but for its range. Of numbers up to 2^31, a sum stays far below 2^63
 * (MOST_DIM_TIMES). */
static int64_t made_value(const TfcProgramDim *dim, const int64_t *of, int64_t plus)
{
    int64_t sum = plus;
    for (int32_t i = 0; i < dim->n_terms; i++)
        sum += dim->terms[i].times * of[i];
    return sum < 0 ? 0 : sum / dim->divisor;
}

int64_t made_length(const TfcProgram *program, int32_t d, const int64_t of[TFC_MAX_TERMS])
{
    const TfcProgramDim *dim = &program->dims[d];
    int64_t length = includes(dim, of[dim->n_terms - 1]) ? made_value(dim, of, dim->plus) : 0;
    return length > INT32_MAX ? -1 : length;
}

/* Factors of up to 2^31 and 2^41 give no overflow; what is larger fits no program (sizes_fit). */
static int64_t made_factor(int64_t size, int64_t most) { return size < most ? size : most; }

/* How many of the rows can be within the range: as many as the tokens of the last term allow, none
 * if its longest row is too short. */
static int64_t rows_within(const TfcProgramDim *dim, bool is_ragged, const TfcDim *last,
                           int64_t rows)
{
    if (!dim->most)
        return rows;
    if (last->extent < dim->least)
        return 0;
    return is_ragged && dim->least ? made_factor(rows, last->total / dim->least) : rows;
}

/* A row whose sum is below 0 has no positions, so a negative `plus` does not lessen the total. */
void made_bounds(const TfcProgram *program, TfcDim *dims)
{
    for (int32_t d = 0; d < program->n_dims; d++) {
        const TfcProgramDim *dim = &program->dims[d];
        int64_t rows = dim->batch < 0 ? 1 : made_factor(dims[dim->batch].extent, 1 << 20);
        int64_t extents[TFC_MAX_TERMS], totals[TFC_MAX_TERMS];
        if (!dim->n_terms)
            continue;
        for (int32_t i = 0; i < dim->n_terms; i++) {
            const int32_t of = dim->terms[i].dim;
            extents[i] = made_factor(dims[of].extent, INT32_MAX);
            totals[i] = program->dims[of].batch >= 0
                            ? made_factor(dims[of].total, INT64_C(1) << 41)
                            : made_factor(extents[i], INT64_C(1) << 21) * rows;
        }
        const int32_t last = dim->n_terms - 1, of = dim->terms[last].dim;
        const int64_t within = rows_within(dim, program->dims[of].batch >= 0, &dims[of], rows);
        if (dim->most)
            extents[last] = made_factor(extents[last], dim->most);
        dims[d].extent = within ? made_value(dim, extents, dim->plus) : 0;
        dims[d].total = dim->batch < 0
                            ? dims[d].extent
                            : made_value(dim, totals, dim->plus > 0 ? dim->plus * rows : 0);
        if (dim->most && dim->batch >= 0)
            dims[d].total =
                made_factor(dims[d].total, within * made_factor(dims[d].extent, INT32_MAX));
    }
}
