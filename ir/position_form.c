/* Reading an index back from its ops: iota, lengths and constants in sums and multiples. */
#include "ir/position_form.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_STEPS = 64 };

/* ---- sums ---- */

bool length_sum_add_term(LengthSum *sum, int symbol, int64_t times)
{
    int i = 0;
    while (i < sum->n && sum->terms[i].symbol != symbol)
        i++;
    if (i == MOST_LENGTH_TERMS)
        return false;
    if (i == sum->n)
        sum->terms[sum->n++] = (LengthTerm){symbol, 0};
    sum->terms[i].times += times;
    return llabs(sum->terms[i].times) <= INT32_MAX;
}

static bool add_symbol(const Module *module, LengthSum *sum, int symbol, int64_t times)
{
    const DimFormula *formula = &module->symbols.data[symbol].formula;
    bool ok = true;
    if (!dim_formula_is_sum(formula))
        return length_sum_add_term(sum, symbol, times);
    for (int i = 0; ok && i < formula->n; i++)
        ok = llabs(times * formula->terms[i].times) <= INT32_MAX &&
             add_symbol(module, sum, formula->terms[i].symbol, times * formula->terms[i].times);
    sum->plus += times * formula->plus;
    return ok && llabs(sum->plus) <= INT64_C(1) << 48;
}

bool length_sum_add(const Module *module, LengthSum *sum, Dim dim, int64_t times)
{
    if (!dim_is_const(dim))
        return add_symbol(module, sum, dim.symbol, times);
    sum->plus += times * dim.size;
    return dim.size <= INT32_MAX && llabs(sum->plus) <= INT64_C(1) << 48;
}

bool length_sum_is_zero(const LengthSum *sum)
{
    bool zero = !sum->plus;
    for (int i = 0; i < sum->n; i++)
        zero = zero && !sum->terms[i].times;
    return zero;
}

bool length_sum_equal(const LengthSum *a, const LengthSum *b)
{
    LengthSum rest = *a;
    bool ok = true;
    for (int i = 0; ok && i < b->n; i++)
        ok = length_sum_add_term(&rest, b->terms[i].symbol, -b->terms[i].times);
    rest.plus -= b->plus;
    return ok && length_sum_is_zero(&rest);
}

bool length_sum_formula(const LengthSum *sum, int64_t divisor, DimFormula *out)
{
    const int64_t most = MOST_DIM_TIMES;
    *out = (DimFormula){.plus = (int32_t)sum->plus, .divisor = (int32_t)divisor};
    bool ok = divisor >= 1 && divisor <= most && llabs(sum->plus) <= MOST_DIM_PLUS;
    for (int i = 0; ok && i < sum->n; i++) {
        const LengthTerm *term = &sum->terms[i];
        ok = !term->times || (out->n < MAX_DIM_TERMS && term->times > 0 && term->times <= most);
        if (ok && term->times)
            out->terms[out->n++] = (DimTerm){term->symbol, (int32_t)term->times};
    }
    return ok;
}

/* ---- what an index is ---- */

static bool add_positions(PositionForm *form, const Op *iota, int64_t times)
{
    const Type *type = &iota->results[0].type;
    const int axis = type_long_dim(type);
    if (axis < 0 || dim_is_const(type->dims[axis]) || form->along != NO_SYMBOL)
        return false;
    form->along = type->dims[axis].symbol;
    form->factor = times;
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
static bool add_value(PositionForm *form, const Value *value, int64_t times)
{
    const Op *op = value->op;
    int64_t number;
    if (form->steps++ == MOST_STEPS || llabs(times) > INT32_MAX)
        return false;
    switch (op->kind) {
    case OP_const:
        if (!constant_of(value, &number))
            return false;
        form->offset.plus += times * number;
        return llabs(form->offset.plus) <= INT64_C(1) << 48;
    case OP_iota: return add_positions(form, op, times);
    case OP_size:
    case OP_lengths:
        if (op->kind == OP_size && symbol_is_ragged(form->module, (int)op_int(op, ATTR_dim)))
            return false; /* of all rows together */
        return add_symbol(form->module, &form->offset, (int)op_int(op, ATTR_dim), times);
    case OP_cast:
    case OP_reshape:
    case OP_broadcast:
    case OP_transpose: return add_value(form, op->args[0], times);
    case OP_neg: return add_value(form, op->args[0], -times);
    case OP_add: return add_value(form, op->args[0], times) && add_value(form, op->args[1], times);
    case OP_sub: return add_value(form, op->args[0], times) && add_value(form, op->args[1], -times);
    case OP_mul:
        for (int i = 0; i < 2; i++)
            if (constant_of(op->args[i], &number))
                return add_value(form, op->args[1 - i], times * number);
        return false;
    default: return false;
    }
}

bool position_form(const Module *module, const Value *index, PositionForm *form)
{
    *form = (PositionForm){.module = module, .along = NO_SYMBOL};
    return add_value(form, index, 1);
}
