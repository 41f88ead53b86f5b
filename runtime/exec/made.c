/* The formula of a dimension made of others: ir/type.h, DimFormula. */
#include "runtime/exec/made.h"

/* Of numbers up to 2^31, a sum stays far below 2^63 (MOST_DIM_TIMES). */
static int64_t made_value(const TfcProgramDim *dim, const int64_t *of, int64_t plus)
{
    int64_t sum = plus;
    for (int32_t i = 0; i < dim->n_terms; i++)
        sum += dim->terms[i].times * of[i];
    return sum < 0 ? 0 : sum / dim->divisor;
}

int64_t made_length(const TfcProgram *program, int32_t d, const int64_t of[TFC_MAX_TERMS])
{
    int64_t length = made_value(&program->dims[d], of, program->dims[d].plus);
    return length > INT32_MAX ? -1 : length;
}

/* Factors of up to 2^31 and 2^41 give no overflow; what is larger fits no program (sizes_fit). */
static int64_t made_factor(int64_t size, int64_t most) { return size < most ? size : most; }

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
        dims[d].extent = made_value(dim, extents, dim->plus);
        dims[d].total = dim->batch < 0
                            ? dims[d].extent
                            : made_value(dim, totals, dim->plus > 0 ? dim->plus * rows : 0);
    }
}
