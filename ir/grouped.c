/* A product by matrices that are looked up becomes grouped_dot; see builder.h.
 *
 *   %w = gather %table, %index : f32[B, T~, K, D, F]       %y = grouped_dot %x, %table, %index
 *   %y = dot %x, %w {batch: B, T; contract: D}         ⇒            {axis = 1} : f32[B, T~, K, F]
 *
 * where %x is [B, T~, D], or has further axes of rows; the columns F may be several axes. */
#include "ir/builder.h"

enum { NO_AXIS = -1 };

typedef struct Axes {
    int n, axis[MAX_RANK];
} Axes;

static void add_axis(Axes *axes, int axis) { axes->axis[axes->n++] = axis; }

/* A product of a side that has matrices with the other one, x. An axis of the table or of the index
 * that is in none of the lists is 1. */
typedef struct RowProduct {
    Value *x, *table, *index;
    DType dtype;             /* of the product */
    int of_gather[MAX_RANK]; /* of each axis of the side with matrices: the gather's, or NO_AXIS */
    Axes shared, shared_x;   /* batch axes of the product: of the index, of x */
    Axes rows_x;             /* further axes of x */
    Axes repeats;            /* further axes of the index, for which rows of x are repeated */
    Axes summed, summed_x;   /* of the table, in its order; of x */
    Axes columns;            /* of the table, in its order */
    Axes order;              /* of the free axes of the side with matrices: places in
                                 `repeats` and then `columns` */
} RowProduct;

/* The gather whose result `side` is, but for transposes, casts and axes of length 1; NULL: there is
 * none. of_gather[i]: the axis of the gather's result that is axis i of `side`, or NO_AXIS. */
static const Op *find_gather(const Value *side, int of_gather[MAX_RANK])
{
    const Value *v = side;
    for (int i = 0; i < side->type.rank; i++)
        of_gather[i] = i;
    for (; v->op->kind != OP_gather; v = v->op->args[0]) {
        const Op *op = v->op;
        int from[MAX_RANK];
        const bool moves = op->kind == OP_reshape || op->kind == OP_transpose;
        if ((!moves && op->kind != OP_cast) ||
            (op->kind == OP_reshape && !type_differs_by_ones(&op->args[0]->type, &v->type, from)))
            return NULL;
        for (int i = 0; moves && i < side->type.rank; i++)
            if (of_gather[i] != NO_AXIS)
                of_gather[i] = op->kind == OP_reshape ? from[of_gather[i]]
                                                      : op_attr(op, ATTR_perm)->ints[of_gather[i]];
    }
    return v->op;
}

static int rank_of_index(const RowProduct *r) { return r->index->type.rank; }

/* Axes that the attributes name; false if one of them is of the other kind. */
static bool find_named(RowProduct *r, const Attr *batch, const Attr *batch_x, const Attr *contract,
                       const Attr *contract_x)
{
    for (int i = 0; i < batch->n; i++) {
        const int axis = r->of_gather[batch->ints[i]];
        if (axis == NO_AXIS || axis >= rank_of_index(r))
            return false;
        add_axis(&r->shared, axis);
        add_axis(&r->shared_x, batch_x->ints[i]);
    }
    for (int axis = 1; axis < r->table->type.rank; axis++)
        for (int i = 0; i < contract->n; i++)
            if (r->of_gather[contract->ints[i]] == rank_of_index(r) + axis - 1) {
                add_axis(&r->summed, axis);
                add_axis(&r->summed_x, contract_x->ints[i]);
            }
    return contract->n > 0 && r->summed.n == contract->n;
}

/* The axes that no attribute names; false if rows would be repeated for a dimension that x lacks
 * and that is not constant. */
static bool find_free(RowProduct *r, const Type *side, const Attr *batch, const Attr *contract)
{
    Axes free = {0};
    for (int i = 0; i < side->rank; i++) {
        const int axis = r->of_gather[i];
        if (attr_lists(batch, i) || attr_lists(contract, i))
            continue;
        if (axis == NO_AXIS ||
            (axis < rank_of_index(r) && !dim_is_const(r->index->type.dims[axis])))
            return false;
        if (axis < rank_of_index(r))
            add_axis(&r->repeats, axis);
        add_axis(&free, axis);
    }
    for (int axis = 0; axis < rank_of_index(r) + r->table->type.rank - 1; axis++)
        for (int i = 0; axis >= rank_of_index(r) && i < free.n; i++)
            if (free.axis[i] == axis)
                add_axis(&r->columns, axis - rank_of_index(r) + 1);
    for (int i = 0; i < free.n; i++) {
        const bool repeats = free.axis[i] < rank_of_index(r);
        const int wanted = repeats ? free.axis[i] : free.axis[i] - rank_of_index(r) + 1;
        const Axes *among = repeats ? &r->repeats : &r->columns;
        int at = 0;
        while (among->axis[at] != wanted)
            at++;
        add_axis(&r->order, repeats ? at : r->repeats.n + at);
    }
    return r->columns.n > 0;
}

static void add_dims(Type *to, const Type *from, const Axes *axes)
{
    for (int i = 0; i < axes->n; i++)
        to->dims[to->rank++] = from->dims[axes->axis[i]];
}

static bool has_constant_dims(const Type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i]))
            return false;
    return true;
}

/* The rows of the result: what both sides have, what x has, what the index has. False if the type
 * rule does not take them. */
static bool find_rows(const Module *module, const RowProduct *r, Type *rows)
{
    int ragged = 0;
    if (!has_constant_dims(&r->table->type) ||
        r->shared.n + r->rows_x.n + r->repeats.n + r->columns.n > MAX_RANK)
        return false;
    *rows = type_scalar(DT_I32);
    add_dims(rows, &r->x->type, &r->shared_x);
    add_dims(rows, &r->x->type, &r->rows_x);
    add_dims(rows, &r->index->type, &r->repeats);
    for (int i = 0; i < rows->rank; i++)
        ragged += symbol_is_ragged(module, rows->dims[i].symbol);
    return ragged <= 1;
}

static bool find_product(const Module *module, RowProduct *r, const Value *side, const Attr *batch,
                         const Attr *batch_x, const Attr *contract, const Attr *contract_x,
                         Type *rows)
{
    const Op *gather = find_gather(side, r->of_gather);
    if (!gather || gather->args[0]->type.rank < 3)
        return false;
    r->table = gather->args[0];
    r->index = gather->args[1];
    r->dtype = side->type.dtype;
    if (!find_named(r, batch, batch_x, contract, contract_x) ||
        !find_free(r, &side->type, batch, contract))
        return false;
    for (int i = 0; i < r->x->type.rank; i++)
        if (!attr_lists(batch_x, i) && !attr_lists(contract_x, i))
            add_axis(&r->rows_x, i);
    return find_rows(module, r, rows);
}

/* ---- building ---- */

/* The value with these axes in front, in this order, and its others, which are 1, behind. */
static Value *with_axes(Builder *b, Value *x, const Axes *first, const Axes *second,
                        const Axes *third)
{
    int perm[MAX_RANK], n = 0;
    bool used[MAX_RANK] = {0};
    const Axes *lists[] = {first, second, third};
    for (int l = 0; l < 3; l++)
        for (int i = 0; lists[l] && i < lists[l]->n; i++)
            used[perm[n++] = lists[l]->axis[i]] = true;
    for (int i = 0; i < x->type.rank; i++)
        if (!used[i])
            perm[n++] = i;
    return build_transpose(b, x, perm);
}

static int64_t product_of_dims(const Type *type, const Axes *axes)
{
    int64_t n = 1;
    for (int i = 0; i < axes->n; i++)
        n *= type->dims[axes->axis[i]].size;
    return n;
}

/* [X…, D], with 1 for what rows are repeated for. */
static Value *rows_of_x(Builder *b, const RowProduct *r)
{
    Type type = type_scalar(r->x->type.dtype);
    add_dims(&type, &r->x->type, &r->shared_x);
    add_dims(&type, &r->x->type, &r->rows_x);
    for (int i = 0; i < r->repeats.n; i++)
        type.dims[type.rank++] = dim_const(1);
    type.dims[type.rank++] = dim_const(product_of_dims(&r->table->type, &r->summed));
    return build_reshape(b, with_axes(b, r->x, &r->shared_x, &r->rows_x, &r->summed_x), type.rank,
                         type.dims);
}

/* [X…] */
static Value *index_of_rows(Builder *b, const RowProduct *r, const Type *rows)
{
    Type type = type_scalar(DT_I32);
    add_dims(&type, &r->index->type, &r->shared);
    for (int i = 0; i < r->rows_x.n; i++)
        type.dims[type.rank++] = dim_const(1);
    add_dims(&type, &r->index->type, &r->repeats);
    Value *index = build_reshape(b, with_axes(b, r->index, &r->shared, &r->repeats, NULL),
                                 type.rank, type.dims);
    return build_broadcast(b, index, rows->rank, rows->dims);
}

/* [E, D, F], or [E, F, D] where the columns come first, and the axis of D. */
static Value *matrices_of(Builder *b, const RowProduct *r, int *axis)
{
    const Type *table = &r->table->type;
    const bool columns_first = r->columns.axis[r->columns.n - 1] < r->summed.axis[0];
    const bool columns_last = r->summed.axis[r->summed.n - 1] < r->columns.axis[0];
    const Axes first = {1, {0}};
    Value *w = build_cast(b, r->table, r->dtype);
    if (!columns_first && !columns_last)
        w = with_axes(b, w, &first, &r->summed, &r->columns);
    Dim dims[] = {table->dims[0], dim_const(product_of_dims(table, &r->summed)),
                  dim_const(product_of_dims(table, &r->columns))};
    *axis = columns_first ? 2 : 1;
    return build_reshape(b, w, 3, columns_first ? (Dim[]){dims[0], dims[2], dims[1]} : dims);
}

/* The result's axes as the dot has them: of X the shared ones, then of the first side the free
 * ones, then of the second. */
static Value *as_dot(Builder *b, const RowProduct *r, const Type *rows, Value *y, bool x_first)
{
    Type type = *rows;
    int perm[MAX_RANK], n = 0;
    if (!y)
        return NULL;
    type.dtype = y->type.dtype;
    add_dims(&type, &r->table->type, &r->columns);
    y = build_reshape(b, y, type.rank, type.dims);
    while (n < r->shared.n)
        perm[n] = n, n++;
    for (int i = 0; x_first && i < r->rows_x.n; i++)
        perm[n++] = r->shared.n + i;
    for (int i = 0; i < r->order.n; i++)
        perm[n++] = r->shared.n + r->rows_x.n + r->order.axis[i];
    for (int i = 0; !x_first && i < r->rows_x.n; i++)
        perm[n++] = r->shared.n + i;
    return build_transpose(b, y, perm);
}

Value *build_by_looked_up(Builder *b, Value *x, Value *y, const Attr attrs[4])
{
    const Module *module = b->function->module;
    for (int side = 1; side >= 0; side--) {
        RowProduct r = {.x = side ? x : y};
        Type rows;
        int axis;
        if (!find_product(module, &r, side ? y : x, &attrs[side], &attrs[!side], &attrs[2 + side],
                          &attrs[2 + !side], &rows))
            continue;
        Value *w = matrices_of(b, &r, &axis);
        Value *product =
            build_grouped_dot(b, rows_of_x(b, &r), w, index_of_rows(b, &r, &rows), axis);
        product = product ? build_cast(b, product, r.dtype) : NULL;
        return as_dot(b, &r, &rows, product, side == 1);
    }
    return NULL;
}
