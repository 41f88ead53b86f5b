/* Functions on shapes: the same elements under other coordinates, and what is
 * known of dimensions. */
#include "frontend/elab.h"

bool known_int(Elab *e, const Node *call, const Val *val, const char *what, int64_t *out)
{
    if (val->kind == VAL_NUMBER && whole_number(val, out))
        return true;
    if (val->kind != VAL_ERROR)
        elab_error(e, call, "`%s`: %s is a whole number, not %s", call->name, what,
                   val_text(e, val));
    return false;
}

/* An axis of constant length. */
static bool const_axis(Elab *e, const Node *call, const Val *val, const Value *x, int *axis)
{
    Val last = val_number(-1, call->loc);
    if (!axis_of(e, call, val->kind == VAL_NONE ? &last : val, x->type.rank, axis))
        return false;
    if (dim_is_const(x->type.dims[*axis]))
        return true;
    elab_error(
        e, call,
        "`%s` needs an axis of constant length: that of axis %d of %s is known only when a batch arrives",
        call->name, *axis, type_text(e, &x->type));
    return false;
}

Val builtin_reshape(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int rank;
    Dim dims[MAX_RANK];
    Val flat[MAX_RANK];
    if (!x || !dims_of(e, call, &args[1], &rank, dims, flat))
        return val_error();
    Value *y = build_reshape(&e->b, x, rank, dims);
    if (!y) {
        Type to = type_of(x->type.dtype, rank, dims);
        Val error =
            elab_error(e, call, "`%s`: %s cannot be seen as %s", expression_text(e->arena, call),
                       type_text(e, &x->type), type_text(e, &to));
        for (int i = 0; i < rank; i++)
            if (flat[i].text)
                elab_note(e, flat[i].origin, "%s = %lld comes from here", flat[i].text,
                          (long long)dims[i].size);
        return error;
    }
    if (y != x)
        name_dims(e, y, flat);
    return val_tensor(e, call, y);
}

static Val permuted(Elab *e, const Node *call, Value *x, const int *perm)
{
    Value *y = build_transpose(&e->b, x, perm);
    if (y && y != x && find_dim_names(e, x))
        for (int i = 0; i < x->type.rank; i++)
            dim_names(e, y)[i] = dim_names(e, x)[perm[i]];
    return val_tensor(e, call, y);
}

Val builtin_permute(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int perm[MAX_RANK];
    bool used[MAX_RANK] = {0};
    if (!x)
        return val_error();
    if (args[1].kind != VAL_LIST || args[1].n != x->type.rank)
        return elab_error(e, call,
                          "`permute`: the order names each of the %d axes of %s once, not %s",
                          x->type.rank, type_text(e, &x->type), val_text(e, &args[1]));
    for (int i = 0; i < x->type.rank; i++) {
        if (!axis_of(e, call, &args[1].items[i], x->type.rank, &perm[i]))
            return val_error();
        if (used[perm[i]])
            return elab_error(e, call, "`permute`: axis %d is named twice", perm[i]);
        used[perm[i]] = true;
    }
    return permuted(e, call, x, perm);
}

Val builtin_transpose(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int perm[MAX_RANK], a, b;
    if (!x)
        return val_error();
    if (x->type.rank < 2)
        return elab_error(e, call, "`%s`: there are no two axes to swap in %s",
                          expression_text(e->arena, call), type_text(e, &x->type));
    Val before_last = val_number(-2, call->loc), last = val_number(-1, call->loc);
    if (!axis_of(e, call, args[1].kind == VAL_NONE ? &before_last : &args[1], x->type.rank, &a) ||
        !axis_of(e, call, args[2].kind == VAL_NONE ? &last : &args[2], x->type.rank, &b))
        return val_error();
    for (int i = 0; i < x->type.rank; i++)
        perm[i] = i;
    perm[a] = b;
    perm[b] = a;
    return permuted(e, call, x, perm);
}

Val builtin_broadcast(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int rank;
    Dim dims[MAX_RANK];
    Val flat[MAX_RANK];
    if (!x || !dims_of(e, call, &args[1], &rank, dims, flat))
        return val_error();
    Val val = val_tensor(e, call, build_broadcast(&e->b, x, rank, dims));
    if (val.kind == VAL_TENSOR && val.tensor != x)
        name_dims(e, val.tensor, flat);
    return val;
}

Val builtin_pad(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int axis;
    int64_t before, after;
    if (!x || !const_axis(e, call, &args[1], x, &axis) ||
        !known_int(e, call, &args[2], "how many zeros come before", &before) ||
        !known_int(e, call, &args[3], "how many zeros come after", &after))
        return val_error();
    if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX)
        return elab_error(e, call, "`pad`: %lld and %lld are no numbers of zeros",
                          (long long)before, (long long)after);
    Value *y = build_pad(&e->b, x, axis, before, before + x->type.dims[axis].size + after);
    if (y)
        copy_dim_names(e, y, x);
    return val_tensor(e, call, y);
}

/* ---- positions ---- */

Value *with_batch(Elab *e, Value *x, int *axis)
{
    Dim dims[MAX_RANK], along = x->type.dims[*axis];
    int n = 0,
        batch = dim_is_const(along) ? NO_SYMBOL : e->module->symbols.data[along.symbol].batch;
    if (batch == NO_SYMBOL || type_find_dim(&x->type, batch) >= 0 || x->type.rank == MAX_RANK)
        return x;
    dims[n++] = dim_symbol(batch);
    for (int i = 0; i < x->type.rank; i++)
        dims[n++] = x->type.dims[i];
    ++*axis;
    return build_broadcast(&e->b, x, n, dims);
}

Value *length_of(Elab *e, int symbol, const Type *type)
{
    Dim dims[MAX_RANK];
    if (!symbol_is_ragged(e->module, symbol))
        return build_size(&e->b, DT_I32, symbol);
    int batch = type_find_dim(type, e->module->symbols.data[symbol].batch);
    for (int i = 0; i < type->rank; i++)
        dims[i] = i == batch ? type->dims[i] : dim_const(1);
    return build_reshape(&e->b, build_lengths(&e->b, DT_I32, symbol), type->rank, dims);
}

/* Positions from the last to the first one: length - 1 - position. */
static Value *backwards(Elab *e, const Value *x, int axis)
{
    Builder *b = &e->b;
    Dim along = x->type.dims[axis];
    Value *position = build_iota_along(b, along, axis, x->type.rank),
          *n = length_of(e, along.symbol, &x->type);
    Value *last = build_binary(b, OP_sub, n, build_const(b, DT_I32, 1));
    return build_binary(b, OP_sub, last, position);
}

Val builtin_flip(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int axis;
    Val last = val_number(-1, call->loc);
    if (!x || !axis_of(e, call, args[1].kind == VAL_NONE ? &last : &args[1], x->type.rank, &axis))
        return val_error();
    bool fixed = dim_is_const(x->type.dims[axis]);
    Value *from = fixed ? x : with_batch(e, x, &axis);
    Val val = val_tensor(e, call,
                         fixed ? build_flip(&e->b, x, axis)
                               : build_lookup(&e->b, from, backwards(e, from, axis), axis));
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, val.tensor, x);
    return val;
}

Val builtin_full(Elab *e, const Node *call, Val *args)
{
    Type type = {.dtype = e->float_type};
    Val flat[MAX_RANK];
    if (!dims_of(e, call, &args[0], &type.rank, type.dims, flat))
        return val_error();
    if (args[1].kind != VAL_NUMBER && args[1].kind != VAL_BOOL)
        return elab_error(e, call, "`full`: the value is a number, not %s", val_text(e, &args[1]));
    if (args[1].kind == VAL_BOOL)
        type.dtype = DT_BOOL;
    Val val = val_tensor(e, call, build_const_of(&e->b, type, args[1].number));
    if (val.kind == VAL_TENSOR)
        name_dims(e, val.tensor, flat);
    return val;
}

/* ---- what is known of dimensions ---- */

Val builtin_position(Elab *e, const Node *call, Val *args)
{
    Dim dim;
    if (args[0].kind != VAL_DIM && args[0].kind != VAL_NUMBER)
        return elab_error(
            e, call,
            "`position` takes a dimension, as in `position(T)` or `position(x.-1)`, not %s",
            val_text(e, &args[0]));
    if (!dim_of(e, call, &args[0], &dim))
        return val_error();
    Val val = val_tensor(e, call, build_iota(&e->b, dim));
    if (val.kind == VAL_TENSOR)
        name_dims(e, val.tensor, &args[0]);
    return val;
}

Val builtin_size(Elab *e, const Node *call, Val *args)
{
    if (args[0].kind == VAL_NUMBER)
        return args[0];
    if (args[0].kind != VAL_DIM)
        return elab_error(e, call, "`size` takes a dimension, not %s", val_text(e, &args[0]));
    return val_tensor(e, call, build_size(&e->b, e->float_type, args[0].symbol));
}

Val builtin_lengths(Elab *e, const Node *call, Val *args)
{
    if (args[0].kind != VAL_DIM || !symbol_is_ragged(e->module, args[0].symbol))
        return elab_error(e, call, "`lengths` takes a ragged dimension, not %s",
                          val_text(e, &args[0]));
    return val_tensor(e, call, build_lengths(&e->b, e->float_type, args[0].symbol));
}

Val builtin_shape(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    if (!x)
        return val_error();
    int64_t rank = x->type.rank, from = 0, to = rank;
    if ((args[1].kind != VAL_NONE && !known_int(e, call, &args[1], "the first axis", &from)) ||
        (args[2].kind != VAL_NONE && !known_int(e, call, &args[2], "the axis to stop before", &to)))
        return val_error();
    from += from < 0 ? rank : 0;
    to += to < 0 ? rank : 0;
    if (from < 0 || to > rank || from > to)
        return elab_error(e, call, "`%s`: %s has no such axes", expression_text(e->arena, call),
                          type_text(e, &x->type));
    Val list = {.kind = VAL_LIST,
                .n = (int)(to - from),
                .items = ARENA_ARRAY(e->arena, Val, to - from + 1)};
    for (int i = 0; i < list.n; i++)
        list.items[i] = dim_val(e, x, (int)from + i);
    return list;
}

Val builtin_rank(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    return x ? val_number(x->type.rank, call->loc) : val_error();
}

Val builtin_is_float(Elab *e, const Node *call, Val *args)
{
    if (args[0].kind == VAL_NUMBER)
        return val_bool(false);
    Value *x = as_tensor(e, call, args[0]);
    return x ? val_bool(dtype_is_float(x->type.dtype)) : val_error();
}

Val builtin_ragged(Elab *e, const Node *call, Val *args)
{
    return val_bool(args[0].kind == VAL_DIM && symbol_is_ragged(e->module, args[0].symbol));
}
