/* Dimensions of batches as the oracle takes them. */
#include "tests/graphs/graphs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What base/dim_formula.h says in words, computed apart from it: the oracle's lengths judge those
 * of programs. */
static int64_t made_in_row(const Batch *batch, const DimFormula *formula, int row)
{
    double sum = formula->plus, last = 0;
    for (int i = 0; i < formula->n; i++) {
        const BatchDim *term = &batch->dims[formula->terms[i].symbol];
        last = (double)(term->n >= 0 ? term->lengths[row] : term->extent);
        sum += formula->terms[i].times * last;
    }
    const bool outside = formula->most && (last < formula->least || last > formula->most);
    return outside ? 0 : (int64_t)floor(fmax(sum, 0) / formula->divisor);
}

void batch_expect_room(const Module *module)
{
    if (module->symbols.count <= MAX_CASE_DIMS)
        return;
    fprintf(stderr, "graphs: a module has %zu symbols: raise MAX_CASE_DIMS\n",
            module->symbols.count);
    exit(2);
}

void batch_make_dims(const Module *module, Batch *batch)
{
    batch_expect_room(module);
    for (int i = 0; i < (int)module->symbols.count; i++) {
        const Symbol *symbol = &module->symbols.data[i];
        BatchDim *d = &batch->dims[i];
        if (!symbol->formula.n)
            continue;
        bool is_ragged = symbol->batch != NO_SYMBOL;
        *d = (BatchDim){.n = is_ragged ? (int)batch->dims[symbol->batch].extent : -1};
        if (!is_ragged)
            d->extent = made_in_row(batch, &symbol->formula, 0);
        for (int r = 0; r < d->n; r++) {
            d->lengths[r] = (int32_t)made_in_row(batch, &symbol->formula, r);
            d->extent = d->lengths[r] > d->extent ? d->lengths[r] : d->extent;
        }
    }
}

const OracleDim *batch_dims(Arena *arena, const Batch *batch, int n)
{
    OracleDim *dims = ARENA_ARRAY(arena, OracleDim, n + 1);
    for (int i = 0; i < n; i++)
        dims[i] = (OracleDim){batch->dims[i].extent,
                              batch->dims[i].n >= 0 ? batch->dims[i].lengths : NULL};
    return dims;
}
