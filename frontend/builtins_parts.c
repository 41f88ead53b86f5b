/* Parts of an axis: slice, concat, split. Where a length is known only when a batch arrives, parts
 * are looked up by position:
 *
 *   concat([a, b], 1)   lookup(a, position(C)) + lookup(b, position(C) - length of a)
 *   slice(x, 1, 2, S)   lookup(x, position(S) + 2)
 *
 * Outside a lookup gives zeros. C is the dimension of which the model says that it is as long as
 * the parts are together: `dim C = 1 + S`. */
#include "frontend/elab.h"
#include "ir/position_form.h"
#include "ir/text.h"

enum { MAX_PARTS = 1024 };

/* ---- forms: lengths in terms of given dimensions ---- */

static bool sum_of_dims(const Module *module, int n, const Dim *dims, LengthSum *sum)
{
    *sum = (LengthSum){0};
    for (int i = 0; i < n; i++)
        if (!length_sum_add(module, sum, dims[i], 1))
            return false;
    return true;
}

/* The first dimension that is as long as the parts are together; false after a message. */
static bool find_sum(Elab *e, const Node *call, int n, const Dim *parts, Dim *sum)
{
    LengthSum wanted, sum_of_one;
    DimFormula formula;
    const bool ok = sum_of_dims(e->module, n, parts, &wanted);
    for (int s = 0; ok && s < (int)e->module->symbols.count; s++) {
        *sum = dim_symbol(s);
        if (sum_of_dims(e->module, 1, sum, &sum_of_one) && length_sum_equal(&sum_of_one, &wanted))
            return true;
    }
    if (!ok || !length_sum_formula(&wanted, 1, &formula)) {
        elab_error(e, call, "`%s`: a dimension is made of at most %d others", call->name,
                   MAX_DIM_TERMS);
        return false;
    }
    const char *makes = "";
    for (int i = 0; i < wanted.n; i++)
        if (counts_rows(e, wanted.terms[i].symbol))
            makes = arena_printf(e->arena, ", and none can be: `%s` counts the rows of a batch",
                                 e->module->symbols.data[wanted.terms[i].symbol].name);
    if (!*makes)
        makes = arena_printf(e->arena, "; `dim C = %s` makes one",
                             ir_formula_text(e->module, &formula, e->arena));
    elab_error(e, call, "`%s`: no dimension is as long as the parts together%s",
               expression_text(e->arena, call), makes);
    return false;
}

/* ---- parts by position ---- */

/* The first `n` lengths of `dims` together, as whole numbers [.., B, ..] among dimensions of 1;
 * NULL: 0. */
static Value *offset_of(Elab *e, int n, const Dim *dims, const Type *type)
{
    int64_t fixed = 0;
    Value *sum = NULL;
    for (int i = 0; i < n; i++) {
        Value *length = dim_is_const(dims[i]) ? NULL : length_of(e, dims[i].symbol, type);
        fixed += dims[i].size;
        sum = sum && length ? build_binary(&e->b, OP_add, sum, length) : length ? length : sum;
    }
    Value *rest = fixed ? build_const(&e->b, DT_I32, (double)fixed) : NULL;
    return sum && rest ? build_binary(&e->b, OP_add, sum, rest) : sum ? sum : rest;
}

/* x looked up along an axis at the positions of `along` plus or minus an offset. */
static Value *part_along(Elab *e, Value *x, int axis, Dim along, OpKind kind, Value *offset)
{
    Value *at = build_iota_along(&e->b, along, axis, x->type.rank);
    return build_lookup(&e->b, x, offset ? build_binary(&e->b, kind, at, offset) : at, axis);
}

/* x stretched along axes of length 1; the axis itself stays. */
static Value *stretched(Elab *e, Value *x, int axis, const Type *to)
{
    Dim dims[MAX_RANK];
    for (int i = 0; i < to->rank; i++)
        dims[i] = i == axis ? x->type.dims[i] : to->dims[i];
    return build_broadcast(&e->b, x, to->rank, dims);
}

/* Parts of any lengths, one after the other. */
static Val join_parts(Elab *e, const Node *call, int n, Value **parts, int axis)
{
    Dim lengths[MAX_PARTS], sum;
    Type type = parts[0]->type;
    Value *joined = NULL;
    for (int i = 0; i < n; i++) {
        bool fits = true;
        for (int k = 0; fits && k < type.rank; k++) {
            Dim dim = parts[i]->type.dims[k];
            fits = k == axis || dim_equal(dim, type.dims[k]) || dim_is_one(dim) ||
                   dim_is_one(type.dims[k]);
            type.dims[k] = dim_is_one(type.dims[k]) ? dim : type.dims[k];
        }
        if (!fits)
            return elab_error(e, call, "`%s`: %s does not continue %s along axis %d",
                              expression_text(e->arena, call), type_text(e, &parts[i]->type),
                              type_text(e, &parts[0]->type), axis);
        lengths[i] = parts[i]->type.dims[axis];
    }
    if (!find_sum(e, call, n, lengths, &sum))
        return val_error();
    int batch = e->module->symbols.data[sum.symbol].batch;
    if (batch != NO_SYMBOL && type_find_dim(&type, batch) < 0)
        return elab_error(e, call, "`%s`: no part has the dimension %s, over which %s is ragged",
                          expression_text(e->arena, call), e->module->symbols.data[batch].name,
                          dim_text(e, sum, NULL));
    for (int i = 0; i < n; i++) {
        Value *x = stretched(e, parts[i], axis, &type);
        Value *y = x ? part_along(e, x, axis, sum, OP_sub, offset_of(e, i, lengths, &type)) : NULL;
        OpKind kind = type.dtype == DT_BOOL ? OP_or : OP_add;
        joined = joined && y ? build_binary(&e->b, kind, joined, y) : y;
    }
    return val_tensor(e, call, joined);
}

/* ---- the functions ---- */

/* A number or a dimension, as a length. */
static bool length_given(Elab *e, const Node *call, const Val *val, const char *what, Dim *dim)
{
    int64_t size;
    if (val->kind == VAL_DIM) {
        *dim = dim_symbol(val->symbol);
        return true;
    }
    if (val->kind == VAL_TENSOR) {
        elab_error(e, call,
                   "`%s`: %s is a whole number or a dimension, not %s; `dim U = 2 * S` declares a "
                   "dimension made of others",
                   call->name, what, val_text(e, val));
        return false;
    }
    if (!known_int(e, call, val, what, &size))
        return false;
    *dim = dim_const(size);
    return true;
}

static Val window_of(Elab *e, const Node *call, Value *x, int axis, int64_t start, int64_t size)
{
    int64_t whole = x->type.dims[axis].size;
    if (start < 0 || size < 1 || start > whole || size > whole - start)
        return elab_error(e, call, "`%s`: elements %lld to %lld are not all within %s",
                          expression_text(e->arena, call), (long long)start,
                          (long long)(start + size - 1),
                          dim_text(e, x->type.dims[axis], dim_names(e, x) + axis));
    Value *y = size == whole ? x : build_slice(&e->b, x, axis, start, size);
    if (y)
        copy_dim_names(e, y, x);
    return val_tensor(e, call, y);
}

/* `size` elements behind the lengths of n dimensions. */
static Val part_of(Elab *e, const Node *call, Value *x, int axis, int n, const Dim *before,
                   Dim size)
{
    bool fixed = dim_is_const(x->type.dims[axis]) && dim_is_const(size);
    int64_t start = 0;
    for (int i = 0; i < n; i++) {
        fixed = fixed && dim_is_const(before[i]);
        start += before[i].size;
    }
    if (fixed)
        return window_of(e, call, x, axis, start, size.size);
    if (start < 0 || (dim_is_const(size) && size.size < 1))
        return elab_error(e, call, "`%s`: elements %lld to %lld are not all within %s",
                          expression_text(e->arena, call), (long long)start,
                          (long long)(start + size.size - 1),
                          dim_text(e, x->type.dims[axis], NULL));
    int own = axis;
    Value *from = with_batch(e, x, &own);
    Value *y =
        from ? part_along(e, from, own, size, OP_add, offset_of(e, n, before, &from->type)) : NULL;
    if (y)
        copy_dim_names(e, y, x);
    return val_tensor(e, call, y);
}

Val builtin_slice(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    int axis;
    Dim start, size;
    if (!x || !axis_of(e, call, &args[1], x->type.rank, &axis) ||
        !length_given(e, call, &args[2], "the start", &start) ||
        !length_given(e, call, &args[3], "the size", &size))
        return val_error();
    return part_of(e, call, x, axis, 1, &start, size);
}

Val builtin_concat(Elab *e, const Node *call, Val *args)
{
    Val last = val_number(-1, call->loc);
    if (args[0].kind != VAL_LIST || args[0].n < 1 || args[0].n > MAX_PARTS)
        return elab_error(e, call,
                          "`concat` takes a list of tensors, as in `concat([a, b])`, not %s",
                          val_text(e, &args[0]));
    int n = args[0].n, axis;
    Value **parts = ARENA_ARRAY(e->arena, Value *, n);
    bool floats = false, fixed = true;
    for (int i = 0; i < n; i++) {
        parts[i] = as_tensor(e, call, args[0].items[i]);
        if (!parts[i])
            return val_error();
        floats |= dtype_is_float(parts[i]->type.dtype);
    }
    for (int i = 0; floats && i < n; i++)
        parts[i] = as_float(e, call, args[0].items[i]);
    for (int i = 1; i < n; i++)
        if (parts[i]->type.rank != parts[0]->type.rank)
            return elab_error(
                e, call,
                "`%s`: all parts must have the same number of axes, unlike %s and %s; "
                "`reshape` or `broadcast` adds axes",
                expression_text(e->arena, call), type_text(e, &parts[0]->type),
                type_text(e, &parts[i]->type));
    if (!axis_of(e, call, args[1].kind == VAL_NONE ? &last : &args[1], parts[0]->type.rank, &axis))
        return val_error();
    for (int i = 0; i < n; i++)
        fixed = fixed && dim_is_const(parts[i]->type.dims[axis]);
    for (int i = 1; i < n && fixed; i++) {
        bool fits = true;
        for (int k = 0; fits && k < parts[0]->type.rank; k++)
            fits = k == axis || dim_equal(parts[i]->type.dims[k], parts[0]->type.dims[k]);
        if (!fits)
            return elab_error(e, call, "`%s`: %s does not continue %s along axis %d",
                              expression_text(e->arena, call), type_text(e, &parts[i]->type),
                              type_text(e, &parts[0]->type), axis);
    }
    Val val = n == 1  ? val_tensor(e, call, parts[0])
              : fixed ? val_tensor(e, call, build_concat(&e->b, n, parts, axis))
                      : join_parts(e, call, n, parts, axis);
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, val.tensor, parts[0]);
    return val;
}

/* The lengths of the parts that are asked for: equal ones, or those of a list, which together are
 * the axis. How many; 0 after a message. */
static int sizes_of(Elab *e, const Node *call, const Val *val, const Value *x, int axis, Dim *sizes)
{
    Dim whole = x->type.dims[axis];
    LengthSum all, sum;
    int64_t n;
    if (val->kind != VAL_LIST) {
        if (!known_int(e, call, val, "the number of parts", &n))
            return 0;
        bool even = dim_is_const(whole) && n >= 1 && n <= MAX_PARTS && whole.size % n == 0;
        if (!even) {
            elab_error(e, call, "`%s`: %s cannot be cut into %lld equal parts%s",
                       expression_text(e->arena, call),
                       dim_text(e, whole, dim_names(e, (Value *)x) + axis), (long long)n,
                       dim_is_const(whole) ? ""
                                           : "; `split(x, [1, S], axis)` says how long they are");
            return 0;
        }
        for (int i = 0; i < n; i++)
            sizes[i] = dim_const(whole.size / n);
        return (int)n;
    }
    bool ok = val->n >= 1 && val->n <= MAX_PARTS;
    for (int i = 0; ok && i < val->n; i++)
        if (!length_given(e, call, &val->items[i], "the length of a part", &sizes[i]))
            return 0;
    if (ok && sum_of_dims(e->module, val->n, sizes, &sum) &&
        sum_of_dims(e->module, 1, &whole, &all) && length_sum_equal(&sum, &all))
        return val->n;
    elab_error(e, call, "`%s`: the parts together are not as long as %s",
               expression_text(e->arena, call), dim_text(e, whole, NULL));
    return 0;
}

Val builtin_split(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    Val last = val_number(-1, call->loc);
    Dim sizes[MAX_PARTS];
    int axis;
    if (!x || !axis_of(e, call, args[2].kind == VAL_NONE ? &last : &args[2], x->type.rank, &axis))
        return val_error();
    int n = sizes_of(e, call, &args[1], x, axis, sizes);
    Val list = {.kind = VAL_LIST, .n = n, .items = ARENA_ARRAY(e->arena, Val, n + 1)};
    for (int i = 0; i < n; i++)
        list.items[i] = part_of(e, call, x, axis, i, sizes, sizes[i]);
    return n ? list : val_error();
}
