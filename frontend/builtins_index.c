/* Functions of positions in a tensor: what stands there, and where the greatest stand. */
#include "frontend/elab.h"

/* ---- lookup ---- */

/* Whether it is a dimension; if not, after a message. */
static bool is_dim(Elab *e, const Node *call, const Val *dim)
{
    if (dim->kind == VAL_DIM)
        return true;
    const char *name = called_name(e, call);
    if (dim->kind != VAL_ERROR)
        elab_error(
            e, call,
            "`%s` goes along a dimension that a `dim` declares%s, not %s; -2 is the last axis "
            "but one",
            name, strcmp(name, call->name) ? "" : ", as in `lookup(x, S, position(S) - 1)`",
            val_text(e, dim));
    return false;
}

/* Whether positions of x along the dimension are rows of the batch, over which another one of its
 * axes is ragged; then after a message. */
static bool goes_over_rows(Elab *e, const Node *call, const Value *x, const Val *dim)
{
    for (int i = 0; i < x->type.rank; i++)
        if (symbol_is_ragged_over(e->module, x->type.dims[i].symbol, dim->symbol)) {
            elab_error(e, call,
                       "`%s`: %s counts the rows of the batch, and each has its own length along "
                       "%s: positions are looked up along that",
                       called_name(e, call), dim_text(e, dim_symbol(dim->symbol), NULL),
                       dim_text(e, x->type.dims[i], NULL));
            return true;
        }
    return false;
}

/* The axis of x that has the dimension, or that -1, -2, … counts from the last; -1 after a
 * message. */
static int axis_of_dim(Elab *e, const Node *call, const Value *x, const Val *dim)
{
    int found = -1;
    if (dim->kind == VAL_NUMBER && dim->number < 0) {
        if (!axis_of(e, call, dim, x->type.rank, &found))
            return -1;
        const Val counted = {.kind = VAL_DIM, .symbol = x->type.dims[found].symbol};
        return dim_is_const(x->type.dims[found]) || !goes_over_rows(e, call, x, &counted) ? found
                                                                                          : -1;
    }
    if (!is_dim(e, call, dim) || goes_over_rows(e, call, x, dim))
        return -1;
    for (int i = 0; i < x->type.rank; i++) {
        if (x->type.dims[i].symbol != dim->symbol)
            continue;
        if (found >= 0) {
            elab_error(e, call, "`%s`: %s has %s twice", called_name(e, call),
                       type_text(e, &x->type), dim_text(e, x->type.dims[i], NULL));
            return -1;
        }
        found = i;
    }
    if (found < 0)
        elab_error(e, call, "`%s`: %s does not have the dimension %s", called_name(e, call),
                   type_text(e, &x->type), dim_text(e, dim_symbol(dim->symbol), NULL));
    return found;
}

/* The positions, as an array. */
static Value *positions_of(Elab *e, const Node *call, Val val)
{
    int64_t whole;
    if (val.kind == VAL_NUMBER && whole_number(&val, &whole) && whole == (int32_t)whole) {
        if (whole >= 0)
            return build_const(&e->b, DT_I32, val.number);
        elab_error(e, call, "`%s`: positions count from 0, there is none at %s; %s",
                   called_name(e, call), val_text(e, &val),
                   strcmp(call->name, "pick") ? "`last(x, S)` gives the last row"
                                              : "`slice(x, -1, n - 1, 1)` gives the last of n");
        return NULL;
    }
    if (val.kind == VAL_TENSOR && val.tensor->type.dtype == DT_I32)
        return val.tensor;
    if (val.kind == VAL_DIM)
        elab_error(
            e, call, "`%s`: positions are whole numbers, not %s; `position(%s)` are those along it",
            called_name(e, call), val_text(e, &val), e->module->symbols.data[val.symbol].name);
    else if (val.kind != VAL_ERROR)
        elab_error(e, call, "`%s`: positions are whole numbers, not %s; `int(…)` makes them",
                   called_name(e, call), val_text(e, &val));
    return NULL;
}

/* Where the dimensions of the index come in the result of a lookup along `axis` of x: those that x
 * has, the axis aside, where x has them; the others, *n_new, in place of the axis. False after a
 * message. */
static bool place_positions(Elab *e, const Node *call, const Type *x, int axis, const Type *index,
                            int *n_new, int place[MAX_RANK])
{
    *n_new = 0;
    for (int i = 0; i < index->rank; i++) {
        place[i] = -1;
        for (int a = 0; a < x->rank && !dim_is_const(index->dims[i]); a++)
            if (a != axis && dim_equal(x->dims[a], index->dims[i]))
                place[i] = a;
        if (place[i] < 0)
            place[i] = axis + (*n_new)++;
        else if (place[i] > axis)
            place[i] += MAX_RANK; /* behind all new ones */
        if (i && place[i] <= place[i - 1]) {
            elab_error(e, call,
                       "`%s`: the dimensions of the positions %s are not in the order of %s",
                       called_name(e, call), type_text(e, index), type_text(e, x));
            return false;
        }
    }
    if (x->rank - 1 + *n_new > MAX_RANK) {
        elab_error(e, call, "`%s`: a tensor has at most %d dimensions", called_name(e, call),
                   MAX_RANK);
        return false;
    }
    for (int i = 0; i < index->rank; i++)
        if (place[i] >= MAX_RANK)
            place[i] += (*n_new ? *n_new : 1) - 1 - MAX_RANK;
    return true;
}

/* lookup(x, S, index): op lookup has one axis for the positions, the others broadcast. */
Val builtin_lookup(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]), *index = x ? positions_of(e, call, args[2]) : NULL;
    int axis = index ? axis_of_dim(e, call, x, &args[1]) : -1, n_new, place[MAX_RANK];
    if (axis < 0)
        return val_error();
    x = with_batch(e, x, &axis);
    if (!x || !place_positions(e, call, &x->type, axis, &index->type, &n_new, place))
        return val_error();
    Dim table[MAX_RANK], positions[MAX_RANK], result[MAX_RANK];
    int rank = 0, n = 0;
    for (int a = 0; a < x->type.rank; a++)
        for (int k = 0; k < (a == axis && n_new > 1 ? n_new : 1); k++, rank++) {
            table[rank] = k ? dim_const(1) : x->type.dims[a];
            positions[rank] = dim_const(1);
        }
    for (int i = 0; i < index->type.rank; i++)
        positions[place[i]] = index->type.dims[i];
    Value *y = build_lookup(&e->b, build_reshape(&e->b, x, rank, table),
                            build_reshape(&e->b, index, rank, positions), axis);
    if (y && n_new == 0) {
        for (int a = 0; a < rank; a++)
            if (a != axis)
                result[n++] = y->type.dims[a];
        y = build_reshape(&e->b, y, n, result);
    }
    Val val = val_tensor(e, call, y);
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, val.tensor, x);
    return val;
}

/* The length of the axis that scatter fills, which the positions name. False after a message. */
static bool length_of_scattered(Elab *e, const Node *call, const Val *length, Dim *out)
{
    if (length->kind != VAL_NUMBER || length->number >= 0)
        return length->kind != VAL_ERROR && dim_of(e, call, length, out);
    elab_error(e, call,
               "`%s`: the positions say along which axis; how long it becomes is a dimension or a "
               "constant, as in `scatter(rows, 16, index)`, not %s",
               called_name(e, call), val_text(e, length));
    return false;
}

/* scatter(rows, S, index): of rows [X.., k, ..] at the positions [X.., k] those of [X.., S, ..]. */
Val builtin_scatter(Elab *e, const Node *call, Val *args)
{
    Value *rows = as_tensor(e, call, args[0]),
          *index = rows ? positions_of(e, call, args[2]) : NULL;
    Dim length;
    if (!index || !length_of_scattered(e, call, &args[1], &length))
        return val_error();
    int axis = index->type.rank - 1, rank = rows->type.rank;
    bool fits = axis >= 0 && axis < rank && rows->type.dtype != DT_BOOL;
    for (int i = 0; fits && i <= axis; i++)
        fits = dim_equal(rows->type.dims[i], index->type.dims[i]);
    if (!fits)
        return elab_error(
            e, call,
            "`scatter`: the positions have the first dimensions of the rows, which are "
            "numbers; these are %s, the rows %s",
            type_text(e, &index->type), type_text(e, &rows->type));
    Type at = index->type, to = rows->type;
    while (at.rank < rank)
        at.dims[at.rank++] = dim_const(1);
    to.dims[axis] = length;
    Value *y = build_lookup_add(&e->b, rows, build_reshape(&e->b, index, rank, at.dims), axis, rank,
                                to.dims);
    Val val = val_tensor(e, call, y);
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, y, rows);
    return val;
}

/* ---- along the last axis ---- */

/* A tensor of numbers with a last axis; NULL after a message. */
static Value *numbers_in_rows(Elab *e, const Node *call, Val val)
{
    Value *x = as_tensor(e, call, val);
    if (x && x->type.rank && x->type.dtype != DT_BOOL)
        return x;
    if (x)
        elab_error(e, call, "`%s` takes numbers along a last axis, not %s", call->name,
                   type_text(e, &x->type));
    return NULL;
}

/* The value without its last axis, which has one element. */
static Value *without_last(Elab *e, Value *x)
{
    return x ? build_reshape(&e->b, x, x->type.rank - 1, x->type.dims) : NULL;
}

/* pick(x, index): of x [.., n] the elements at [.., k] or, one of each row, at [..]. */
Val builtin_pick(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]), *index = x ? positions_of(e, call, args[1]) : NULL;
    if (!index)
        return val_error();
    int rank = x->type.rank, missing = rank - index->type.rank;
    if (rank < 1 || missing < 0 || missing > 1)
        return elab_error(e, call,
                          "`pick`: positions in the rows of %s have as many axes as it, or all but "
                          "the last, not %s%s",
                          type_text(e, &x->type), type_text(e, &index->type),
                          args[1].kind == VAL_NUMBER
                              ? "; the same place of each row is `slice(x, -1, n, 1)`"
                              : "");
    for (int i = 0; i < rank - 1; i++)
        if (!dim_equal(index->type.dims[i], x->type.dims[i]) && !dim_is_one(index->type.dims[i]))
            return elab_error(e, call,
                              "`pick`: each row of %s has its own positions, along the same axes, "
                              "but axis %d of %s is %s",
                              type_text(e, &x->type), i, type_text(e, &index->type),
                              dim_text(e, index->type.dims[i], NULL));
    Type at = index->type;
    at.dims[rank - 1] = missing ? dim_const(1) : at.dims[rank - 1];
    Value *y = build_lookup(&e->b, x, build_reshape(&e->b, index, rank, at.dims), rank - 1);
    y = missing ? without_last(e, y) : y;
    Val val = val_tensor(e, call, y);
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, y, missing ? index : x);
    return val;
}

/* top_k(x, k): where the k greatest of each row stand. k is a dimension along positions that have
 * one. */
Val builtin_top_k(Elab *e, const Node *call, Val *args)
{
    Value *x = numbers_in_rows(e, call, args[0]);
    Dim k;
    if (!x || !dim_of(e, call, &args[1], &k))
        return val_error();
    Dim n = x->type.dims[x->type.rank - 1];
    if (symbol_counts_rows(e->module, k.symbol))
        return elab_error(e, call,
                          "`top_k`: %s counts the rows of the batch; k is a number or, along "
                          "positions, a dimension made of theirs, such as `dim C = S / 8 + 1`",
                          dim_text(e, k, NULL));
    if (dim_is_const(k) && (k.size < 1 || (dim_is_const(n) && k.size > n.size)))
        return elab_error_of(e, call, &args[1],
                             "`top_k`: of the %s elements of %s there are no %lld",
                             dim_text(e, n, NULL), type_text(e, &x->type), (long long)k.size);
    Val val = val_tensor(e, call, build_top_k(&e->b, x, k));
    if (val.kind == VAL_TENSOR) {
        copy_dim_names(e, val.tensor, x);
        if (args[1].kind == VAL_NUMBER)
            dim_names(e, val.tensor)[x->type.rank - 1] = (DimName){args[1].text, args[1].origin};
    }
    return val;
}

/* argmax(x): where the greatest of each row stands, the first of them. */
Val builtin_argmax(Elab *e, const Node *call, Val *args)
{
    Value *x = numbers_in_rows(e, call, args[0]);
    Value *y = x ? without_last(e, build_top_k(&e->b, x, dim_const(1))) : NULL;
    return x ? val_tensor(e, call, y) : val_error();
}
