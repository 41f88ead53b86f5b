/* Type rules of contraction. */
#include "ir/infer/rules.h"

static bool check_pairs(const Infer *in, const Attr *a, const Attr *b, const char *what,
                        bool used_a[], bool used_b[])
{
    const Type *x = infer_arg(in, 0), *y = infer_arg(in, 1);
    if (a->n != b->n)
        return infer_fail(in, "%s axes come in pairs", what);
    for (int i = 0; i < a->n; i++) {
        int p = a->ints[i], q = b->ints[i];
        if (p < 0 || q < 0 || p >= x->rank || q >= y->rank || used_a[p] || used_b[q])
            return infer_fail(in, "%s axes %d and %d do not exist or are named twice in %s and %s",
                              what, p, q, infer_text(in, x), infer_text(in, y));
        used_a[p] = used_b[q] = true;
        if (!dim_equal(x->dims[p], y->dims[q]))
            return infer_fail(in, "%s dimensions differ: %s against %s in %s and %s", what,
                              infer_dim_text(in, x->dims[p]), infer_dim_text(in, y->dims[q]),
                              infer_text(in, x), infer_text(in, y));
    }
    return true;
}

/* Sums of bf16 products are f32; they may be given so. */
static bool result_fits(DType operand, DType result)
{
    return operand == result || (operand == DT_BF16 && result == DT_F32);
}

/* Integers are of a row of a, and of a column of a matrix b. */
static bool check_quant(const Infer *in)
{
    const Attr *contract = op_attr(in->op, ATTR_contract_b);
    const Type *y = infer_arg(in, 1);
    if (!op_attr(in->op, ATTR_quant))
        return true;
    if (!infer_quant(in))
        return false;
    if (y->dtype != DT_F32 || y->rank != 2 || contract->n != 1)
        return infer_fail(in, "quant takes an f32 matrix, of which one axis is summed over, not %s",
                          infer_text(in, y));
    const Dim terms = y->dims[contract->ints[0]];
    return (dim_is_const(terms) && terms.size <= MAX_QUANT_TERMS) ||
           infer_fail(in, "quant takes sums of at most %d terms, not of %s", MAX_QUANT_TERMS,
                      infer_dim_text(in, terms));
}

bool infer_dot(const Infer *in, Type *type)
{
    const Type *x = infer_arg(in, 0), *y = infer_arg(in, 1);
    const Attr *ba = infer_attr(in, ATTR_batch_a), *bb = infer_attr(in, ATTR_batch_b);
    const Attr *ca = infer_attr(in, ATTR_contract_a), *cb = infer_attr(in, ATTR_contract_b);
    bool used_a[MAX_RANK] = {0}, used_b[MAX_RANK] = {0};
    if (!ba || !bb || !ca || !cb)
        return false;
    if (x->dtype != y->dtype || !dtype_is_float(x->dtype))
        return infer_fail(in, "needs floating-point numbers of one kind, given %s and %s",
                          infer_text(in, x), infer_text(in, y));
    if (!check_pairs(in, ba, bb, "batch", used_a, used_b) ||
        !check_pairs(in, ca, cb, "inner", used_a, used_b))
        return false;
    if (x->rank + y->rank - ba->n - 2 * ca->n > MAX_RANK)
        return infer_fail(in, "the result would have more than %d dimensions", MAX_RANK);
    if (!check_quant(in))
        return false;
    *type = (Type){.dtype = x->dtype};
    const Attr *dtype = op_attr(in->op, ATTR_dtype);
    if (dtype && !result_fits(x->dtype, (DType)dtype->i))
        return infer_fail(in, "%s is not given as another type", infer_text(in, x));
    if (dtype)
        type->dtype = (DType)dtype->i;
    for (int i = 0; i < ba->n; i++)
        type->dims[type->rank++] = x->dims[ba->ints[i]];
    for (int i = 0; i < x->rank; i++)
        if (!used_a[i])
            type->dims[type->rank++] = x->dims[i];
    for (int i = 0; i < y->rank; i++)
        if (!used_b[i])
            type->dims[type->rank++] = y->dims[i];
    return true;
}

/* ---- a matrix for each row ---- */

/* Whether x is [X…, n] for indices [X…], of whose last constant axes it may have 1. */
static bool has_rows(const Infer *in, const Type *x, const Type *index)
{
    bool fits = x->rank == index->rank + 1, may_repeat = fits;
    for (int i = index->rank - 1; fits && i >= 0; i--) {
        bool equal = dim_equal(x->dims[i], index->dims[i]);
        fits = equal || (may_repeat && dim_is_one(x->dims[i]) && dim_is_const(index->dims[i]));
        may_repeat &= dim_is_one(x->dims[i]);
    }
    return fits || infer_fail(in, "rows %s do not go with indices %s", infer_text(in, x),
                              infer_text(in, index));
}

/* Floats of one type, and indices all of which are stored and exist. */
static bool check_grouped(const Infer *in)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1), *index = infer_arg(in, 2);
    int ragged = 0;
    for (int i = 0; i < index->rank; i++)
        ragged += symbol_is_ragged(in->module, index->dims[i].symbol);
    if (!dtype_is_float(a->dtype) || a->dtype != b->dtype || index->dtype != DT_I32)
        return infer_fail(
            in, "needs floating-point numbers of one kind and i32 indices, given %s, %s and %s",
            infer_text(in, a), infer_text(in, b), infer_text(in, index));
    return ragged <= 1 ||
           infer_fail(in, "indices %s are ragged along several dimensions", infer_text(in, index));
}

static Type grouped_type(const Type *like, int rank, const Dim *dims, Dim last)
{
    Type type = type_of(like->dtype == DT_BF16 ? DT_F32 : like->dtype, rank, dims);
    type.dims[type.rank++] = last;
    return type;
}

bool infer_grouped_dot(const Infer *in, Type *type)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1), *index = infer_arg(in, 2);
    const Attr *axis = infer_attr(in, ATTR_axis);
    if (!axis || !check_grouped(in) || !has_rows(in, a, index))
        return false;
    bool fits = b->rank == 3 && (axis->i == 1 || axis->i == 2) &&
                dim_equal(b->dims[axis->i], a->dims[a->rank - 1]);
    for (int i = 0; fits && i < b->rank; i++)
        fits = dim_is_const(b->dims[i]);
    if (!fits)
        return infer_fail(in, "rows %s do not go with matrices %s along axis %lld",
                          infer_text(in, a), infer_text(in, b), (long long)axis->i);
    if (op_attr(in->op, ATTR_quant) && !infer_quant(in))
        return false;
    if (op_attr(in->op, ATTR_quant) &&
        (a->dtype != DT_F32 || b->dims[axis->i].size > MAX_QUANT_TERMS))
        return infer_fail(in, "integers are made of f32, in sums of at most %d terms, not of %s",
                          MAX_QUANT_TERMS, infer_text(in, b));
    *type = grouped_type(a, index->rank, index->dims, b->dims[3 - axis->i]);
    return true;
}

bool infer_grouped_outer(const Infer *in, Type *type)
{
    const Type *a = infer_arg(in, 0), *b = infer_arg(in, 1), *index = infer_arg(in, 2);
    const Attr *size = infer_attr(in, ATTR_size);
    if (!size || !check_grouped(in) || !has_rows(in, a, index) || !has_rows(in, b, index))
        return false;
    Dim dims[] = {dim_const(size->i), a->dims[a->rank - 1]};
    if (size->i < 0 || !dim_is_const(dims[1]) || !dim_is_const(b->dims[b->rank - 1]))
        return infer_fail(in, "matrices of %s by %s in %lld have no constant size",
                          infer_text(in, a), infer_text(in, b), (long long)size->i);
    *type = grouped_type(a, 2, dims, b->dims[b->rank - 1]);
    return true;
}
