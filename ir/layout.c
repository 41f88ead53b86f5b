/* Storage order of tensors; see layout.h for the rule. */
#include "ir/layout.h"

Layout layout_of(const Module *module, const Type *type)
{
    Layout layout = {0};
    int ragged = -1, batch = -1;
    for (int i = 0; i < type->rank && ragged < 0; i++) {
        if (!symbol_is_ragged(module, type->dims[i].symbol))
            continue;
        batch = type_find_dim(type, module->symbols.data[type->dims[i].symbol].batch);
        if (batch >= 0)
            ragged = i;
    }
    if (ragged >= 0)
        layout.axes[layout.n++] = (Axis){ragged, batch, type->dims[ragged]};
    for (int i = 0; i < type->rank; i++)
        if (i != ragged && (ragged < 0 || i != batch))
            layout.axes[layout.n++] = (Axis){i, -1, type->dims[i]};
    return layout;
}

/* The same elements in the same order: after dropping axes of length 1 and
 * multiplying neighbouring constants, the storage axes agree. */
static int squeeze(const Layout *layout, Axis *out)
{
    int n = 0;
    for (int i = 0; i < layout->n; i++) {
        Axis axis = layout->axes[i];
        axis.dim = 0;
        axis.batch_dim = axis.batch_dim >= 0;
        if (dim_is_one(axis.extent))
            continue;
        if (n && dim_is_const(axis.extent) && dim_is_const(out[n - 1].extent))
            out[n - 1].extent.size *= axis.extent.size;
        else
            out[n++] = axis;
    }
    return n;
}

Lead layout_lead(const Module *module, const Type *type, int symbol, int batch)
{
    Layout layout = layout_of(module, type);
    const Axis *first = &layout.axes[0];
    bool packed = batch != NO_SYMBOL;
    if (!layout.n || dim_is_const(first->extent) || first->extent.symbol != symbol ||
        (first->batch_dim >= 0) != packed)
        return (Lead){0, 0};
    return (Lead){type->rank - first->dim, packed ? type->rank - first->batch_dim : 0};
}

bool layout_reshape_is_view(const Module *module, const Type *from, const Type *to)
{
    Layout a = layout_of(module, from), b = layout_of(module, to);
    Axis x[MAX_RANK], y[MAX_RANK];
    int n = squeeze(&a, x);
    if (n != squeeze(&b, y))
        return false;
    for (int i = 0; i < n; i++)
        if (!dim_equal(x[i].extent, y[i].extent) || x[i].batch_dim != y[i].batch_dim)
            return false;
    return true;
}
