/* Functions along axes: sums, means, extremes, softmax. Reduced axes stay, one
 * element long; without axes everything is reduced to a scalar. */
#include "frontend/elab.h"

/* The axes asked for, rising; all of them if none are named. */
static bool axes_of(Elab *e, const Node *call, const Val *val, int rank, int *n, int *axes)
{
    bool used[MAX_RANK] = {0};
    const Val *items = val->kind == VAL_LIST ? val->items : val;
    int count = val->kind == VAL_LIST ? val->n : 1;
    for (int i = 0; i < count && val->kind != VAL_NONE; i++) {
        int axis;
        if (!axis_of(e, call, &items[i], rank, &axis))
            return false;
        used[axis] = true;
    }
    *n = 0;
    for (int i = 0; i < rank; i++)
        if (used[i] || val->kind == VAL_NONE)
            axes[(*n)++] = i;
    return true;
}

static Value *reduced(Elab *e, OpKind kind, Value *x, bool all, int n, const int *axes)
{
    Value *y = build_reduce(&e->b, kind, x, n, axes);
    if (y)
        copy_dim_names(e, y, x);
    return y && all ? build_reshape(&e->b, y, 0, NULL) : y;
}

static Val reduce(Elab *e, const Node *call, Val *args, OpKind kind)
{
    int n, axes[MAX_RANK];
    Value *x = as_tensor(e, call, args[0]);
    if (!x)
        return val_error();
    if (x->type.dtype == DT_BOOL)
        x = as_float(e, call, args[0]);
    if (!axes_of(e, call, &args[1], x->type.rank, &n, axes))
        return val_error();
    return val_tensor(e, call, reduced(e, kind, x, args[1].kind == VAL_NONE, n, axes));
}

Val builtin_sum(Elab *e, const Node *call, Val *args)
{
    return reduce(e, call, args, OP_reduce_sum);
}
Val builtin_max(Elab *e, const Node *call, Val *args)
{
    return reduce(e, call, args, OP_reduce_max);
}

Val builtin_min(Elab *e, const Node *call, Val *args)
{
    Val negative = unary_op(e, call, TOKEN_MINUS, args[0]);
    if (negative.kind == VAL_NUMBER)
        negative = val_tensor(e, call, as_float(e, call, negative));
    args[0] = negative;
    return negative.kind == VAL_ERROR ? negative
                                      : unary_op(e, call, TOKEN_MINUS, builtin_max(e, call, args));
}

/* The axis of x that is ragged over the dimension, or -1; several: -2. */
static int ragged_over(Elab *e, const Value *x, int batch)
{
    int found = -1;
    for (int i = 0; i < x->type.rank; i++) {
        int symbol = x->type.dims[i].symbol;
        if (symbol_is_ragged_over(e->module, symbol, batch))
            found = found == -1 ? i : -2;
    }
    return found;
}

/* How much one symbolic axis adds to the count: *factor, or nothing where another
 * axis counts for both; false: no simple formula. Sentences count as long as they
 * are: a batch together with its ragged axis holds as many as there are tokens. */
static bool axis_count(Elab *e, const Value *x, int axis, const bool *used, Value **factor)
{
    int symbol = x->type.dims[axis].symbol, batch = e->module->symbols.data[symbol].batch;
    *factor = NULL;
    if (batch == NO_SYMBOL) {
        int ragged = ragged_over(e, x, symbol);
        if (ragged == -1)
            *factor = build_size(&e->b, e->float_type, symbol);
        return ragged == -1 || (ragged >= 0 && used[ragged]);
    }
    int batch_axis = type_find_dim(&x->type, batch);
    if (batch_axis < 0)
        return false;
    if (used[batch_axis]) {
        *factor = build_size(&e->b, e->float_type, symbol);
        return ragged_over(e, x, batch) >= 0;
    }
    Dim shape[MAX_RANK];
    for (int i = 0; i < x->type.rank; i++)
        shape[i] = i == batch_axis ? dim_symbol(batch) : dim_const(1);
    *factor =
        build_reshape(&e->b, build_lengths(&e->b, e->float_type, symbol), x->type.rank, shape);
    return true;
}

/* How many elements a reduction takes together: a scalar, or one that broadcasts. */
static Value *count_along(Elab *e, Value *x, int n, const int *axes)
{
    bool used[MAX_RANK] = {0};
    double constant = 1;
    Value *count = NULL, *factor;
    for (int i = 0; i < n; i++)
        used[axes[i]] = true;
    for (int i = 0; i < n; i++) {
        Dim dim = x->type.dims[axes[i]];
        if (dim_is_const(dim)) {
            constant *= (double)dim.size;
            continue;
        }
        if (!axis_count(e, x, axes[i], used, &factor)) { /* as many as there are ones */
            Value *ones = build_const_of(&e->b, x->type, 1);
            return build_reduce(&e->b, OP_reduce_sum, ones, n, axes);
        }
        if (factor)
            count = count ? build_binary(&e->b, OP_mul, count, factor) : factor;
    }
    Value *number = build_const(&e->b, e->float_type, constant);
    return !count ? number : constant == 1 ? count : build_binary(&e->b, OP_mul, count, number);
}

Val builtin_mean(Elab *e, const Node *call, Val *args)
{
    int n, axes[MAX_RANK];
    Value *x = as_float(e, call, args[0]);
    if (!x || !axes_of(e, call, &args[1], x->type.rank, &n, axes))
        return val_error();
    bool all = args[1].kind == VAL_NONE;
    Value *sum = build_reduce(&e->b, OP_reduce_sum, x, n, axes),
          *count = count_along(e, x, n, axes);
    Value *mean = sum && count ? build_binary(&e->b, OP_div, sum, count) : NULL;
    if (mean)
        copy_dim_names(e, mean, x);
    return val_tensor(e, call, mean && all ? build_reshape(&e->b, mean, 0, NULL) : mean);
}

static Value *swap_with_last(Elab *e, Value *x, int axis)
{
    int perm[MAX_RANK];
    for (int i = 0; i < x->type.rank; i++)
        perm[i] = i;
    perm[axis] = x->type.rank - 1;
    perm[x->type.rank - 1] = axis;
    return build_transpose(&e->b, x, perm);
}

static Val along_last(Elab *e, const Node *call, Val *args, OpKind kind)
{
    Val last = val_number(-1, call->loc);
    Value *x = as_float(e, call, args[0]);
    int axis;
    if (!x || !axis_of(e, call, args[1].kind == VAL_NONE ? &last : &args[1], x->type.rank, &axis))
        return val_error();
    Value *y = swap_with_last(e, x, axis);
    y = y ? build_unary(&e->b, kind, y) : NULL;
    y = y ? swap_with_last(e, y, axis) : NULL;
    if (y)
        copy_dim_names(e, y, x);
    return val_tensor(e, call, y);
}

Val builtin_softmax(Elab *e, const Node *call, Val *args)
{
    return along_last(e, call, args, OP_softmax);
}
Val builtin_logsumexp(Elab *e, const Node *call, Val *args)
{
    return along_last(e, call, args, OP_logsumexp);
}
