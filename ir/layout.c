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
