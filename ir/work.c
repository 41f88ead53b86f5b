/* Elements, bytes and operations for given sizes. */
#include "ir/work.h"

#include <math.h>

Sizes sizes_new(Arena *arena, const Module *module)
{
    size_t n = module->symbols.count;
    Sizes sizes = {module, ARENA_ARRAY(arena, double, n + 1), ARENA_ARRAY(arena, double, n + 1)};
    for (size_t s = 0; s < n; s++)
        sizes.extents[s] = sizes.totals[s] = 1;
    return sizes;
}

/* A row's length, or the lengths of all `rows` together, which `of` has of each symbol. Lengths are
 * means here and no whole numbers, so the formula is computed apart from dim_formula_length. */
static double made_size(const Module *module, const Symbol *symbol, const double *of,
                        const double *extents, double rows)
{
    const DimFormula *f = &symbol->formula;
    double sum = (double)f->plus * rows;
    if (!dim_formula_includes(f, (int64_t)extents[f->terms[f->n - 1].symbol]))
        return 0;
    for (int i = 0; i < f->n; i++)
        sum += (double)f->terms[i].times * of[f->terms[i].symbol] *
               (symbol_is_ragged(module, f->terms[i].symbol) ? 1 : rows);
    return sum < 0 ? 0 : floor(sum / (double)f->divisor);
}

void sizes_make(Sizes *sizes)
{
    const Module *module = sizes->module;
    for (size_t s = 0; s < module->symbols.count; s++) {
        const Symbol *symbol = &module->symbols.data[s];
        if (!symbol->formula.n)
            continue;
        double rows = symbol->batch == NO_SYMBOL ? 1 : sizes->extents[symbol->batch];
        sizes->extents[s] = made_size(module, symbol, sizes->extents, sizes->extents, 1);
        sizes->totals[s] = made_size(module, symbol, sizes->totals, sizes->extents, rows);
    }
}

double sizes_extent(const Sizes *sizes, Dim dim)
{
    return dim_is_const(dim) ? (double)dim.size : sizes->extents[dim.symbol];
}

double sizes_axis(const Sizes *sizes, const Axis *axis)
{
    return axis->batch_dim >= 0 ? sizes->totals[axis->extent.symbol]
                                : sizes_extent(sizes, axis->extent);
}

double sizes_elements(const Sizes *sizes, const Type *type)
{
    Layout layout = layout_of(sizes->module, type);
    double n = 1;
    for (int i = 0; i < layout.n; i++)
        n *= sizes_axis(sizes, &layout.axes[i]);
    return n;
}

double sizes_bytes(const Sizes *sizes, const Type *type)
{
    return sizes_elements(sizes, type) * (double)dtype_bytes(type->dtype);
}

static double dot_flops(const Sizes *sizes, const Op *dot)
{
    const Attr *contract = op_attr(dot, ATTR_contract_a);
    double flops = 2 * sizes_elements(sizes, &dot->results[0].type);
    for (int i = 0; i < contract->n; i++)
        flops *= sizes_extent(sizes, dot->args[0]->type.dims[contract->ints[i]]);
    return flops;
}

/* Of what an index groups each row is multiplied once. */
static double grouped_flops(const Sizes *sizes, const Op *op)
{
    const Type *a = &op->args[0]->type, *b = &op->args[1]->type, *index = &op->args[2]->type;
    const int axis = op->kind == OP_grouped_dot ? 3 - (int)op_int(op, ATTR_axis) : b->rank - 1;
    return 2 * sizes_elements(sizes, index) * sizes_extent(sizes, a->dims[a->rank - 1]) *
           sizes_extent(sizes, b->dims[axis]);
}

double product_flops(const Sizes *sizes, const Op *op)
{
    double flops = op->kind == OP_dot               ? dot_flops(sizes, op)
                   : op_family(op) == FAMILY_matmul ? grouped_flops(sizes, op)
                                                    : 0;
    if (op->body)
        FOR_OPS (inner, op->body)
            flops += product_flops(sizes, inner);
    return flops;
}

static double element_flops(const Sizes *sizes, const Op *op)
{
    double flops = 0;
    if (op->body)
        FOR_OPS (inner, op->body)
            flops += element_flops(sizes, inner);
    else if (op_family(op) == FAMILY_reduce)
        flops = sizes_elements(sizes, &op->args[0]->type);
    else if (op_family(op) == FAMILY_elementwise)
        flops = sizes_elements(sizes, &op->results[0].type);
    return flops;
}

double op_flops(const Sizes *sizes, const Op *op)
{
    return product_flops(sizes, op) + element_flops(sizes, op);
}
