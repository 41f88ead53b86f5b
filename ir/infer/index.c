/* Type rules of gather, its adjoint and caches. */
#include "ir/infer/rules.h"

/* Rows in panels, as a product has its columns. */
static bool check_table(const Infer *in)
{
    const Type *table = infer_arg(in, 0);
    if (!op_is_packed_lookup(in->op))
        return true;
    if (op_attr(in->op, ATTR_quant) && !infer_quant(in))
        return false;
    return type_is_table(table) ||
           infer_fail(in, "panels need an f32 table with rows of 1 to %d terms, not %s",
                      MAX_QUANT_TERMS, infer_text(in, table));
}

bool infer_gather(const Infer *in, Type *type)
{
    const Type *table = infer_arg(in, 0), *index = infer_arg(in, 1);
    if (table->rank < 1 || index->dtype != DT_I32)
        return infer_fail(in, "needs a table with rows and i32 indices, given %s and %s",
                          infer_text(in, table), infer_text(in, index));
    if (table->rank + index->rank - 1 > MAX_RANK)
        return infer_fail(in, "the result would have more than %d dimensions", MAX_RANK);
    if (!check_table(in))
        return false;
    *type = *index;
    type->dtype = table->dtype;
    for (int i = 1; i < table->rank; i++)
        type->dims[type->rank++] = table->dims[i];
    return true;
}

bool infer_scatter(const Infer *in, Type *type)
{
    const Type *rows = infer_arg(in, 0), *index = infer_arg(in, 1);
    const Attr *size = infer_attr(in, ATTR_size);
    bool fits = index->dtype == DT_I32 && rows->rank >= index->rank;
    if (!size)
        return false;
    for (int i = 0; fits && i < index->rank; i++)
        fits = dim_equal(rows->dims[i], index->dims[i]);
    if (!fits || size->i < 0)
        return infer_fail(in, "rows %s do not go with indices %s", infer_text(in, rows),
                          infer_text(in, index));
    *type = type_scalar(rows->dtype);
    type->dims[type->rank++] = dim_const(size->i);
    for (int i = index->rank; i < rows->rank; i++)
        type->dims[type->rank++] = rows->dims[i];
    return true;
}

/* cache [R, P~, …], rows [R, Q~, …] */
bool infer_append(const Infer *in, Type *type)
{
    const Type *cache = infer_arg(in, 0), *row = infer_arg(in, 1);
    bool fits = cache->dtype == row->dtype && cache->rank == row->rank && cache->rank >= 2 &&
                symbol_is_ragged(in->module, row->dims[1].symbol) &&
                symbol_is_ragged(in->module, cache->dims[1].symbol);
    for (int i = 0; fits && i < cache->rank; i++)
        fits = i == 1 || dim_equal(cache->dims[i], row->dims[i]);
    if (!fits)
        return infer_fail(in, "the rows %s are not positions of the cache %s", infer_text(in, row),
                          infer_text(in, cache));
    *type = *cache;
    return true;
}
