/* Products of constants and dimensions. */
#include "codegen/plan/plan.h"

#include <assert.h>

TfcSize size_const(int64_t value) { return (TfcSize){.coefficient = value}; }

TfcSize size_dim(int dim, TfcQuantity quantity)
{
    return (TfcSize){1, 1, {tfc_factor(dim, quantity)}};
}

static bool factor_before(TfcFactor a, TfcFactor b)
{
    return a.dim != b.dim ? a.dim < b.dim : a.quantity < b.quantity;
}

TfcSize size_product(TfcSize a, TfcSize b)
{
    TfcSize out = {.coefficient = a.coefficient * b.coefficient};
    if (out.coefficient == 0)
        return out;
    assert(a.n_factors + b.n_factors <= TFC_MAX_FACTORS);
    int i = 0, j = 0;
    while (i < a.n_factors || j < b.n_factors) {
        bool from_a =
            j == b.n_factors || (i < a.n_factors && !factor_before(b.factors[j], a.factors[i]));
        out.factors[out.n_factors++] = from_a ? a.factors[i++] : b.factors[j++];
    }
    return out;
}

TfcSize size_scaled(TfcSize a, int64_t by) { return size_product(a, size_const(by)); }

bool size_equal(const TfcSize *a, const TfcSize *b)
{
    if (a->coefficient != b->coefficient || a->n_factors != b->n_factors)
        return false;
    for (int i = 0; i < a->n_factors; i++)
        if (a->factors[i].dim != b->factors[i].dim ||
            a->factors[i].quantity != b->factors[i].quantity)
            return false;
    return true;
}

bool size_divide(TfcSize a, TfcSize b, TfcSize *out)
{
    if (b.coefficient == 0 || a.coefficient % b.coefficient)
        return false;
    *out = (TfcSize){.coefficient = a.coefficient / b.coefficient};
    int j = 0;
    for (int i = 0; i < a.n_factors; i++) {
        if (j < b.n_factors && a.factors[i].dim == b.factors[j].dim &&
            a.factors[i].quantity == b.factors[j].quantity)
            j++;
        else
            out->factors[out->n_factors++] = a.factors[i];
    }
    return j == b.n_factors;
}
