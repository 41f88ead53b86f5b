/* Tables of positions: lookups whose index counts along a dimension. An index outside of a table
 * gives zeros, so a text longer than its table would be computed without positions at its end. */
#include "driver/ports/ports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sum: Σ times × length + plus, over n dimensions. */
enum { MOST_TERMS = 8, MOST_STEPS = 64 };
typedef struct Sum {
    int n;
    DimTerm terms[MOST_TERMS];
    int64_t plus;
} Sum;

/* Index: what an index is at position i of `along`: factor × i + offset. along NO_SYMBOL: it is the
 * same at each position. */
typedef struct Index {
    const Module *module;
    int along;
    int64_t factor;
    Sum offset;
    int steps; /* values looked at */
} Index;

static bool add_term(Sum *sum, int symbol, int64_t times)
{
    int i = 0;
    while (i < sum->n && sum->terms[i].symbol != symbol)
        i++;
    if (i == MOST_TERMS)
        return false;
    if (i == sum->n)
        sum->terms[sum->n++] = (DimTerm){symbol, 0};
    sum->terms[i].times += times;
    return llabs(sum->terms[i].times) <= INT32_MAX;
}

/* Adds times × the length of a dimension; one that is a sum of others as that. */
static bool add_length(const Module *module, Sum *sum, int symbol, int64_t times)
{
    const DimFormula *formula = &module->symbols.data[symbol].formula;
    bool ok = true;
    if (!formula->n || formula->divisor > 1 || formula->plus < 0)
        return add_term(sum, symbol, times);
    for (int i = 0; ok && i < formula->n; i++)
        ok = llabs(times * formula->terms[i].times) <= INT32_MAX &&
             add_length(module, sum, formula->terms[i].symbol, times * formula->terms[i].times);
    sum->plus += times * formula->plus;
    return ok && llabs(sum->plus) <= INT64_C(1) << 48;
}

/* ---- what an index is ---- */

static bool add_positions(Index *index, const Op *iota, int64_t times)
{
    const Type *type = &iota->results[0].type;
    const int axis = type_long_dim(type);
    if (axis < 0 || dim_is_const(type->dims[axis]) || index->along != NO_SYMBOL)
        return false;
    index->along = type->dims[axis].symbol;
    index->factor = times;
    return true;
}

static bool constant_of(const Value *value, int64_t *number)
{
    const Op *op = value->op;
    while (op->kind == OP_cast || op->kind == OP_reshape || op->kind == OP_broadcast)
        op = op->args[0]->op;
    const double x = op->kind == OP_const ? op_float(op, ATTR_value) : NAN;
    *number = fabs(x) <= INT32_MAX ? (int64_t)x : 0;
    return (double)*number == x;
}

/* Adds times × the value, where it is made of positions, lengths and whole numbers. */
static bool add_value(Index *index, const Value *value, int64_t times)
{
    const Op *op = value->op;
    int64_t number;
    if (index->steps++ == MOST_STEPS || llabs(times) > INT32_MAX)
        return false;
    switch (op->kind) {
    case OP_const:
        if (!constant_of(value, &number))
            return false;
        index->offset.plus += times * number;
        return llabs(index->offset.plus) <= INT64_C(1) << 48;
    case OP_iota: return add_positions(index, op, times);
    case OP_size:
    case OP_lengths:
        if (op->kind == OP_size && symbol_is_ragged(index->module, (int)op_int(op, ATTR_dim)))
            return false; /* of all rows together */
        return add_length(index->module, &index->offset, (int)op_int(op, ATTR_dim), times);
    case OP_cast:
    case OP_reshape:
    case OP_broadcast:
    case OP_transpose: return add_value(index, op->args[0], times);
    case OP_neg: return add_value(index, op->args[0], -times);
    case OP_add:
        return add_value(index, op->args[0], times) && add_value(index, op->args[1], times);
    case OP_sub:
        return add_value(index, op->args[0], times) && add_value(index, op->args[1], -times);
    case OP_mul:
        for (int i = 0; i < 2; i++)
            if (constant_of(op->args[i], &number))
                return add_value(index, op->args[1 - i], times * number);
        return false;
    default: return false;
    }
}

/* ---- how far it reaches ---- */

/* The greatest index, less the last row of the table, or minus the least one, neither of which may
 * be above 0. */
static bool past_end(const Index *index, int64_t rows, bool low, Sum *past)
{
    const int64_t sign = low ? -1 : 1;
    bool ok = true;
    *past = (Sum){.plus = sign * index->offset.plus - (low ? 0 : rows - 1)};
    for (int i = 0; ok && i < index->offset.n; i++)
        ok = add_term(past, index->offset.terms[i].symbol, sign * index->offset.terms[i].times);
    if (!ok || index->along == NO_SYMBOL || sign * index->factor < 0)
        return ok; /* position 0 is the one */
    past->plus -= sign * index->factor;
    return index->offset.n ? add_length(index->module, past, index->along, sign * index->factor)
                           : add_term(past, index->along, sign * index->factor);
}

/* The most tokens of each given dimension with which one made of them has at most `length`
 * positions. */
static int64_t most_given(const Module *module, int symbol, int64_t length)
{
    const DimFormula *formula = &module->symbols.data[symbol].formula;
    int64_t sum = (length + 1) * formula->divisor - 1 - formula->plus, times = 0;
    if (!formula->n)
        return length;
    for (int i = 0; i < formula->n; i++)
        times += formula->terms[i].times;
    int64_t most = INT64_MAX;
    for (int i = 0; i < formula->n; i++) {
        int64_t given = most_given(module, formula->terms[i].symbol, sum < 0 ? 0 : sum / times);
        most = given < most ? given : most;
    }
    return most;
}

/* The most that a dimension's length may be, NULL: those of all, with which the sum is not above 0;
 * 0: any, or none. */
static int64_t longest_with(const Module *module, const Sum *past, const char *dimension)
{
    int64_t all = 0, longest = 0;
    for (int i = 0; i < past->n; i++) {
        if (past->terms[i].times < 0)
            return 0;
        all += past->terms[i].times;
    }
    for (int i = 0; i < past->n && past->plus < 0; i++) {
        const DimTerm *term = &past->terms[i];
        if (!term->times ||
            (dimension && strcmp(module->symbols.data[term->symbol].name, dimension)))
            continue;
        int64_t length = dimension ? -past->plus / term->times
                                   : most_given(module, term->symbol, -past->plus / all);
        longest = longest && longest < length ? longest : length;
    }
    return longest;
}

/* The longest for which the lookup stays within its table; 0: any. */
static int64_t longest_of(const Module *module, const Op *gather, const char *dimension)
{
    Index index = {.module = module, .along = NO_SYMBOL};
    int64_t longest = 0;
    if (!add_value(&index, gather->args[1], 1))
        return 0;
    for (int low = 0; low <= (index.factor < 0); low++) {
        Sum past;
        int64_t length = past_end(&index, gather->args[0]->type.dims[0].size, low, &past)
                             ? longest_with(module, &past, dimension)
                             : 0;
        longest = longest && (!length || longest < length) ? longest : length;
    }
    return longest;
}

PositionTable position_table(const Module *module, const char *dimension)
{
    PositionTable shortest = {0};
    const Function *model = module_function(module, "model");
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_gather || !dim_is_const(op->args[0]->type.dims[0]))
            continue;
        const int64_t length = longest_of(module, op, dimension);
        if (length < 1 || (shortest.length && shortest.length <= length))
            continue;
        const Op *table = op->args[0]->op;
        shortest = (PositionTable){length, table->kind == OP_param ? op_string(table, ATTR_name)
                                                                   : "of positions"};
    }
    return shortest;
}
