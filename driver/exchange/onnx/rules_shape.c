/* Shape ops, contraction, and rows found through indices. */
#include "driver/exchange/onnx/rules.h"

#include "driver/exchange/onnx/ragged.h"

/* ---- shapes ---- */

const char *say_reshape(OnnxGraph *g, const Op *op, const char *onnx)
{
    const char *args[] = {onnx_arg(g, op, 0), onnx_shape(g, &op->results[0].type)};
    const OnnxAttr zero = ATTR_INT("allowzero", 1); /* a dimension of 0 is one of no elements */
    return onnx_node(g, onnx, 2, args, 1, &zero);
}

const char *say_transpose(OnnxGraph *g, const Op *op, const char *onnx)
{
    (void)onnx;
    return onnx_transpose(g, onnx_arg(g, op, 0), op->args[0]->type.rank,
                          op_attr(op, ATTR_perm)->ints);
}

const char *say_broadcast(OnnxGraph *g, const Op *op, const char *onnx)
{
    return onnx_binary(g, onnx, onnx_arg(g, op, 0), onnx_shape(g, &op->results[0].type));
}

static const char *part(OnnxGraph *g, const Op *op, const char *onnx, int64_t start, int64_t end,
                        int64_t step)
{
    const int64_t axis = op_int(op, ATTR_axis);
    const char *args[] = {onnx_arg(g, op, 0), onnx_ints(g, 1, &start), onnx_ints(g, 1, &end),
                          onnx_ints(g, 1, &axis), onnx_ints(g, 1, &step)};
    return onnx_node(g, onnx, 5, args, 0, NULL);
}

const char *say_slice(OnnxGraph *g, const Op *op, const char *onnx)
{
    int64_t start = op_int(op, ATTR_start);
    return part(g, op, onnx, start, start + op_int(op, ATTR_size), 1);
}

const char *say_flip(OnnxGraph *g, const Op *op, const char *onnx)
{
    return part(g, op, onnx, -1, INT64_MIN + 1, -1);
}

/* Operand `pads`: how many zeros before each axis, then behind each. */
const char *say_pad(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Type *type = &op->args[0]->type;
    int64_t pads[2 * MAX_RANK] = {0}, start = op_int(op, ATTR_start), axis = op_int(op, ATTR_axis);
    pads[axis] = start;
    pads[type->rank + axis] = op_int(op, ATTR_size) - start - type->dims[axis].size;
    return onnx_binary(g, onnx, onnx_arg(g, op, 0), onnx_ints(g, 2 * type->rank, pads));
}

const char *say_concat(OnnxGraph *g, const Op *op, const char *onnx)
{
    const char **args = ARENA_ARRAY(g->job->arena, const char *, (size_t)op->n_args);
    for (int i = 0; i < op->n_args; i++)
        args[i] = onnx_arg(g, op, i);
    const OnnxAttr axis = ATTR_INT("axis", (int)op_int(op, ATTR_axis));
    return onnx_node(g, onnx, op->n_args, args, 1, &axis);
}

/* ---- contraction ---- */

/* One operand of a dot: its axes in the three parts, in the order of the pairs. */
typedef struct Factor {
    const char *name;
    const Type *type;
    const Attr *batch, *contract;
    int n_free, free[MAX_RANK];
} Factor;

static Factor factor(OnnxGraph *g, const Op *op, int i, AttrName batch, AttrName contract)
{
    Factor f = {
        .type = &op->args[i]->type, .batch = op_attr(op, batch), .contract = op_attr(op, contract)};
    bool used[MAX_RANK] = {0};
    for (int k = 0; k < f.batch->n; k++)
        used[f.batch->ints[k]] = true;
    for (int k = 0; k < f.contract->n; k++)
        used[f.contract->ints[k]] = true;
    for (int k = 0; k < f.type->rank; k++)
        if (!used[k])
            f.free[f.n_free++] = k;
    f.name = ragged_fill(g, onnx_arg(g, op, i), f.type, f.contract->n, f.contract->ints, 0);
    return f;
}

/* Its axes in the order batch, free, contracted; or batch, contracted, free. */
static const char *ordered(OnnxGraph *g, const Factor *f, bool contracted_first)
{
    int perm[MAX_RANK], n = 0;
    for (int i = 0; i < f->batch->n; i++)
        perm[n++] = f->batch->ints[i];
    for (int i = 0; contracted_first && i < f->contract->n; i++)
        perm[n++] = f->contract->ints[i];
    for (int i = 0; i < f->n_free; i++)
        perm[n++] = f->free[i];
    for (int i = 0; !contracted_first && i < f->contract->n; i++)
        perm[n++] = f->contract->ints[i];
    return onnx_transpose(g, f->name, n, perm);
}

/* "abc,dbc->abd" */
static const char *equation(OnnxGraph *g, const Factor *a, const Factor *b)
{
    char x[MAX_RANK + 1] = {0}, y[MAX_RANK + 1] = {0}, out[2 * MAX_RANK + 1] = {0}, next = 'a';
    int n = 0;
    for (int i = 0; i < a->batch->n; i++)
        out[n++] = x[a->batch->ints[i]] = y[b->batch->ints[i]] = next++;
    for (int i = 0; i < a->contract->n; i++)
        x[a->contract->ints[i]] = y[b->contract->ints[i]] = next++;
    for (int i = 0; i < a->n_free; i++)
        out[n++] = x[a->free[i]] = next++;
    for (int i = 0; i < b->n_free; i++)
        out[n++] = y[b->free[i]] = next++;
    return arena_printf(g->job->arena, "%s,%s->%s", x, y, out);
}

/* A product of matrices where the result's dimensions are its; else a sum by Einstein. */
const char *say_dot(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Factor a = factor(g, op, 0, ATTR_batch_a, ATTR_contract_a);
    const Factor b = factor(g, op, 1, ATTR_batch_b, ATTR_contract_b);
    bool one = a.contract->n == 1 && b.n_free == 1;
    if (one && (a.n_free == 1 || !a.batch->n))
        return onnx_binary(g, onnx, ordered(g, &a, false), ordered(g, &b, true));
    const OnnxAttr attr = ATTR_STRING("equation", equation(g, &a, &b));
    return onnx_node(g, "Einsum", 2, (const char *[]){a.name, b.name}, 1, &attr);
}

/* ---- indices ---- */

/* Rows of operand number `of`, by operand number `by`. An index outside gives zeros; ONNX would
 * refuse it. So would it an index in the padding. */
static const char *rows_at(OnnxGraph *g, const Op *op, int of, int by)
{
    const Type *table = &op->args[of]->type, *index = &op->args[by]->type;
    const char *rows =
        onnx_cast(g, onnx_unary(g, "Squeeze", onnx_dim(g, table->dims[0])), ONNX_INT32);
    const char *zero = onnx_scalar(g, ONNX_INT32, 0), *at = onnx_arg(g, op, by);
    const char *there = onnx_binary(g, "And", onnx_binary(g, "GreaterOrEqual", at, zero),
                                    onnx_binary(g, "Less", at, rows));
    const char *args[] = {onnx_arg(g, op, of), onnx_where(g, there, at, zero)};
    const char *found = onnx_node(g, "Gather", 2, args, 1, (OnnxAttr[]){ATTR_INT("axis", 0)});
    int behind[MAX_RANK];
    for (int i = 1; i < table->rank; i++)
        behind[i - 1] = index->rank + i - 1;
    there = onnx_unsqueeze(g, there, table->rank - 1, behind);
    if (table->dtype == DT_BOOL)
        return onnx_binary(g, "And", there, found);
    return onnx_where(g, there, found, onnx_scalar(g, onnx_type(table->dtype), 0));
}

const char *say_gather(OnnxGraph *g, const Op *op, const char *onnx)
{
    (void)onnx;
    return rows_at(g, op, 0, 1);
}

/* A matrix for each row, which is one of one row. */
const char *say_grouped_dot(OnnxGraph *g, const Op *op, const char *onnx)
{
    const int rank = op->args[2]->type.rank;
    const char *x = onnx_unsqueeze(g, onnx_arg(g, op, 0), 1, &rank), *w = rows_at(g, op, 1, 2);
    int perm[MAX_RANK];
    for (int i = 0; i < rank + 2; i++)
        perm[i] = i < rank ? i : 2 * rank + 1 - i;
    if (op_int(op, ATTR_axis) == 2)
        w = onnx_transpose(g, w, rank + 2, perm);
    const char *args[] = {onnx_binary(g, onnx, x, w), onnx_ints(g, 1, (int64_t[]){rank})};
    return onnx_node(g, "Squeeze", 2, args, 0, NULL);
}

/* int32: how many positions x has along the axis, in each row of the batch if the axis is ragged;
 * it broadcasts to x. */
static const char *positions_along(OnnxGraph *g, const Type *x, int axis)
{
    Dim dim = x->dims[axis];
    if (!symbol_is_ragged(g->module, dim.symbol))
        return onnx_cast(g, onnx_unary(g, "Squeeze", onnx_dim(g, dim)), ONNX_INT32);
    int batch = type_find_dim(x, g->module->symbols.data[dim.symbol].batch), ones[MAX_RANK];
    const char *lengths = ragged_lengths(g, dim.symbol);
    for (int i = 0; i < x->rank - batch - 1; i++)
        ones[i] = i + 1;
    return lengths ? onnx_cast(g, onnx_unsqueeze(g, lengths, x->rank - batch - 1, ones), ONNX_INT32)
                   : NULL;
}

/* A position outside gives zeros; ONNX would refuse it, or count it from the end. */
const char *say_lookup(OnnxGraph *g, const Op *op, const char *onnx)
{
    const int axis = (int)op_int(op, ATTR_axis);
    const Type *result = &op->results[0].type;
    Type whole = *result;
    whole.dims[axis] = op->args[0]->type.dims[axis];
    const char *n = positions_along(g, &op->args[0]->type, axis), *at = onnx_arg(g, op, 1);
    if (!n)
        return NULL;
    const char *zero = onnx_scalar(g, ONNX_INT32, 0);
    const char *there = onnx_binary(g, "And", onnx_binary(g, "GreaterOrEqual", at, zero),
                                    onnx_binary(g, "Less", at, n));
    const char *from = onnx_cast(g, onnx_where(g, there, at, zero), ONNX_INT64);
    const char *args[] = {onnx_binary(g, "Expand", onnx_arg(g, op, 0), onnx_shape(g, &whole)),
                          onnx_binary(g, "Expand", from, onnx_shape(g, result))};
    const char *found = onnx_node(g, onnx, 2, args, 1, (OnnxAttr[]){ATTR_INT("axis", axis)});
    if (result->dtype == DT_BOOL)
        return onnx_binary(g, "And", there, found);
    return onnx_where(g, there, found, onnx_scalar(g, onnx_type(result->dtype), 0));
}

/* TopK gives the lower index first among equals, too; of NaN it says nothing. */
const char *say_top_k(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Type *x = &op->args[0]->type, *result = &op->results[0].type;
    Dim n = x->dims[x->rank - 1], k = result->dims[x->rank - 1];
    if (!dim_is_const(n) || !dim_is_const(k)) {
        diag_error(
            &g->job->diags, op->loc,
            "ONNX has nothing for 'top_k' along a dimension known only when a batch arrives");
        return NULL;
    }
    const char *args[] = {onnx_arg(g, op, 0), onnx_ints(g, 1, &k.size)};
    return onnx_cast(g, onnx_second(g, onnx, 2, args, 0, NULL), ONNX_INT32);
}

/* Position p of a row of the cache is position p - length(P) + length(Q) of the new rows, where
 * there is such a one. In the IR it happens in place; here the cache is also an output. */
const char *say_append(OnnxGraph *g, const Op *op, const char *onnx)
{
    const Type *cache = &op->args[0]->type, *rows = &op->args[1]->type;
    const char *p = ragged_lengths(g, cache->dims[1].symbol);
    const char *q = ragged_lengths(g, rows->dims[1].symbol);
    if (!p || !q)
        return NULL;
    const char *zero = onnx_scalar(g, ONNX_INT64, 0);
    const char *before = onnx_unsqueeze(g, onnx_binary(g, "Sub", p, q), 1, (int[]){1});
    const char *at = onnx_binary(
        g, "Sub", onnx_unsqueeze(g, onnx_range(g, cache->dims[1]), 1, (int[]){0}), before);
    const char *end = onnx_unsqueeze(g, q, 1, (int[]){1});
    const char *fresh = onnx_binary(g, "And", onnx_binary(g, "GreaterOrEqual", at, zero),
                                    onnx_binary(g, "Less", at, end));
    const char *index = onnx_unsqueeze(g, onnx_where(g, fresh, at, zero), 1, (int[]){2});
    const char *args[] = {onnx_arg(g, op, 1), index};
    const char *moved = onnx_node(g, onnx, 2, args, 1, (OnnxAttr[]){ATTR_INT("batch_dims", 1)});
    int behind[MAX_RANK];
    for (int i = 2; i < cache->rank; i++)
        behind[i - 2] = i;
    fresh = onnx_unsqueeze(g, fresh, cache->rank - 2, behind);
    const char *cache_name = onnx_arg(g, op, 0), *whole = onnx_where(g, fresh, moved, cache_name);
    const char *output = arena_printf(g->job->arena, "%s.new", cache_name);
    return onnx_output(g, output, ragged_clean(g, whole, cache), cache) ? whole : NULL;
}
