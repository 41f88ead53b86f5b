/* Tables of positions: lookups whose index counts along a dimension. An index outside of a table
 * gives zeros, so a text longer than its table would be computed without positions at its end. */
#include "driver/ports/ports.h"
#include "ir/position_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The greatest index, less the last row of the table, or minus the least one, neither of which may
 * be above 0. */
static bool past_end(const PositionForm *index, int64_t rows, bool low, LengthSum *past)
{
    const int64_t sign = low ? -1 : 1;
    bool ok = true;
    *past = (LengthSum){.plus = sign * index->offset.plus - (low ? 0 : rows - 1)};
    for (int i = 0; ok && i < index->offset.n; i++)
        ok = length_sum_add_term(past, index->offset.terms[i].symbol,
                                 sign * index->offset.terms[i].times);
    if (!ok || index->along == NO_SYMBOL || sign * index->factor < 0)
        return ok; /* position 0 is the one */
    past->plus -= sign * index->factor;
    return index->offset.n
               ? length_sum_add(index->module, past, dim_symbol(index->along), sign * index->factor)
               : length_sum_add_term(past, index->along, sign * index->factor);
}

/* The most tokens of each given dimension with which one made of them has at most `length`
 * positions; of texts that are cut together (SideFormula), those of one beside empty ones. */
static int64_t most_given(const Module *module, int symbol, int64_t length, bool together)
{
    const DimFormula *formula = &module->symbols.data[symbol].formula;
    int64_t sum = (length + 1) * formula->divisor - 1 - formula->plus, times = 0;
    if (!formula->n)
        return length;
    for (int i = 0; i < formula->n; i++)
        times += formula->terms[i].times;
    int64_t most = INT64_MAX;
    for (int i = 0; i < formula->n; i++) {
        const int64_t by = together ? formula->terms[i].times : times;
        int64_t given =
            most_given(module, formula->terms[i].symbol, sum < 0 || !by ? 0 : sum / by, together);
        most = given < most ? given : most;
    }
    return most;
}

/* The most that a dimension's length may be, NULL: those of all, with which the sum is not above 0;
 * 0: any, or none. */
static int64_t longest_with(const Module *module, const LengthSum *past, const char *dimension,
                            bool together)
{
    int64_t all = 0, longest = 0;
    for (int i = 0; i < past->n; i++) {
        if (past->terms[i].times < 0)
            return 0;
        all += past->terms[i].times;
    }
    for (int i = 0; i < past->n && past->plus < 0; i++) {
        const LengthTerm *term = &past->terms[i];
        if (!term->times ||
            (dimension && strcmp(module->symbols.data[term->symbol].name, dimension)))
            continue;
        int64_t length = dimension ? -past->plus / term->times
                                   : most_given(module, term->symbol, -past->plus / all, together);
        longest = longest && longest < length ? longest : length;
    }
    return longest;
}

/* The longest for which the lookup stays within its table; 0: any. */
static int64_t longest_of(const Module *module, const Op *gather, const char *dimension,
                          bool together)
{
    PositionForm index;
    int64_t longest = 0;
    if (!position_form(module, gather->args[1], &index))
        return 0;
    for (int low = 0; low <= (index.factor < 0); low++) {
        LengthSum past;
        int64_t length = past_end(&index, gather->args[0]->type.dims[0].size, low, &past)
                             ? longest_with(module, &past, dimension, together)
                             : 0;
        longest = longest && (!length || longest < length) ? longest : length;
    }
    return longest;
}

PositionTable position_table(const Module *module, const char *dimension)
{
    PositionTable shortest = {0};
    const Function *model = module_function(module, "model");
    const ModelPorts ports = ports_of(module);
    const bool together = ports.is_table && !ports.source && !ports.target;
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_gather || !dim_is_const(op->args[0]->type.dims[0]))
            continue;
        const int64_t length = longest_of(module, op, dimension, together);
        if (length < 1 || (shortest.length && shortest.length <= length))
            continue;
        const Op *table = op->args[0]->op;
        shortest = (PositionTable){length, table->kind == OP_param ? op_string(table, ATTR_name)
                                                                   : "of positions"};
    }
    return shortest;
}
