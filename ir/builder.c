/* Building ops with inferred types. */
#include "ir/builder.h"

#include "ir/infer.h"

#include <assert.h>
#include <string.h>

Builder builder_at_end(Function *function)
{
    return (Builder){.function = function, .block = &function->body};
}

Builder builder_before(Function *function, Block *block, Op *op)
{
    return (Builder){
        .function = function, .block = block, .before = op, .loc = op->loc, .scope = op->scope};
}

Builder builder_behind(Function *function, Block *block, Op *op)
{
    Builder b = builder_before(function, block, op);
    b.before = op->next;
    return b;
}

Attr attr_ints(AttrName name, int n, const int *ints)
{
    Attr attr = {.name = name, .n = n};
    for (int i = 0; i < n; i++)
        attr.ints[i] = ints[i];
    return attr;
}

Attr attr_dims(AttrName name, int rank, const Dim *dims)
{
    Attr attr = {.name = name, .rank = rank};
    for (int i = 0; i < rank; i++)
        attr.dims[i] = dims[i];
    return attr;
}

/* Makes and places the op; `type` is set for the ops whose type is declared. */
static Op *place(Builder *b, OpKind kind, int n_args, Value *const *args, int n_attrs,
                 const Attr *attrs, int n_results)
{
    assert(op_info[kind].arity < 0 || op_info[kind].arity == n_args);
    Op *op = op_new(b->function, kind, n_args, args, n_results);
    for (int i = 0; i < n_attrs; i++)
        op_set_attr(b->function, op, attrs[i]);
    op->loc = b->loc;
    op->scope = b->scope;
    return op;
}

Value *build(Builder *b, OpKind kind, int n_args, Value *const *args, int n_attrs,
             const Attr *attrs)
{
    for (int i = 0; i < n_args; i++)
        if (!args[i])
            return NULL;
    Op *op = place(b, kind, n_args, args, n_attrs, attrs, 1);
    Module *module = b->function->module;
    if (!infer_type(module, op, &op->results[0].type, module->diags))
        return NULL;
    block_insert_before(b->block, b->before, op);
    return op_result(op);
}

static Value *declare(Builder *b, OpKind kind, Type type, int n_attrs, const Attr *attrs)
{
    Op *op = place(b, kind, 0, NULL, n_attrs, attrs, 1);
    op->results[0].type = type;
    block_insert_before(b->block, b->before, op);
    return op_result(op);
}

Value *build_input(Builder *b, const char *name, Type type)
{
    Attr attr = attr_string(ATTR_name, arena_strdup(b->function->module->arena, name));
    return declare(b, OP_input, type, 1, &attr);
}

Value *build_param(Builder *b, const ParamInfo *info)
{
    Value *param = function_param(b->function, info->name);
    return param ? param : build_new_param(b, info);
}

/* The op before which a new param comes: the first behind the params with which the body begins. */
static Op *end_of_params(const Function *function)
{
    Op *last = function->last_param, *end = function->body.first;
    if (last && last->listed && (!last->previous || last->previous->kind == OP_param))
        end = last;
    while (end && end->kind == OP_param)
        end = end->next;
    return end;
}

Value *build_new_param(Builder *b, const ParamInfo *info)
{
    Attr attr = attr_string(ATTR_name, info->name);
    Op *op = place(b, OP_param, 0, NULL, 1, &attr, 1);
    op->results[0].type = info->type;
    block_insert_before(&b->function->body, end_of_params(b->function), op);
    b->function->last_param = op;
    return op_result(op);
}

Value *build_const_of(Builder *b, Type type, double value)
{
    Attr attr = attr_float(ATTR_value, value);
    return declare(b, OP_const, type, 1, &attr);
}

Value *build_const(Builder *b, DType dtype, double value)
{
    return build_const_of(b, type_scalar(dtype), value);
}

Value *build_iota(Builder *b, Dim dim)
{
    return declare(b, OP_iota, type_of(DT_I32, 1, &dim), 0, NULL);
}

Value *build_size(Builder *b, DType dtype, int symbol)
{
    Attr attr = attr_int(ATTR_dim, symbol);
    return declare(b, OP_size, type_scalar(dtype), 1, &attr);
}

Value *build_lengths(Builder *b, DType dtype, int symbol)
{
    Attr attr = attr_int(ATTR_dim, symbol);
    Dim batch = dim_symbol(b->function->module->symbols.data[symbol].batch);
    return declare(b, OP_lengths, type_of(dtype, 1, &batch), 1, &attr);
}

Value *build_random(Builder *b, Type type, int site)
{
    Attr attr = attr_int(ATTR_site, site);
    return declare(b, OP_random, type, 1, &attr);
}

Value *build_cast(Builder *b, Value *x, DType dtype)
{
    if (!x || x->type.dtype == dtype)
        return x;
    Attr attr = attr_int(ATTR_dtype, dtype);
    return build(b, OP_cast, 1, &x, 1, &attr);
}

Value *build_dropout(Builder *b, Value *x, double rate, int site)
{
    Attr attrs[] = {attr_float(ATTR_rate, rate), attr_int(ATTR_site, site)};
    return build(b, OP_dropout, 1, &x, 2, attrs);
}

Value *build_select(Builder *b, Value *condition, Value *x, Value *y)
{
    return build(b, OP_select, 3, (Value *[]){condition, x, y}, 0, NULL);
}

Value *build_reduce(Builder *b, OpKind kind, Value *x, int n_axes, const int *axes)
{
    if (n_axes == 0)
        return x;
    Attr attr = attr_ints(ATTR_axes, n_axes, axes);
    return build(b, kind, 1, &x, 1, &attr);
}

Value *build_reshape(Builder *b, Value *x, int rank, const Dim *dims)
{
    Attr attr = attr_dims(ATTR_shape, rank, dims);
    Type to = x ? type_of(x->type.dtype, rank, dims) : (Type){0};
    if (x && type_equal(&x->type, &to))
        return x;
    return build(b, OP_reshape, 1, &x, 1, &attr);
}

Value *build_reshape_like(Builder *b, Value *x, const Type *from, const Type *to)
{
    int from_dim[MAX_RANK], extra = from->rank - (x ? x->type.rank : 0);
    Dim dims[MAX_RANK];
    if (!x || !type_differs_by_ones(from, to, from_dim))
        return NULL;
    for (int i = 0; i < to->rank; i++) {
        int own = from_dim[i] - extra;
        dims[i] = from_dim[i] >= 0 && own >= 0 ? x->type.dims[own] : dim_const(1);
    }
    return build_reshape(b, x, to->rank, dims);
}

Value *build_transpose(Builder *b, Value *x, const int *perm)
{
    if (!x)
        return NULL;
    bool identity = true;
    for (int i = 0; i < x->type.rank; i++)
        identity &= perm[i] == i;
    Attr attr = attr_ints(ATTR_perm, x->type.rank, perm);
    return identity ? x : build(b, OP_transpose, 1, &x, 1, &attr);
}

Value *build_broadcast(Builder *b, Value *x, int rank, const Dim *dims)
{
    Type to = x ? type_of(x->type.dtype, rank, dims) : (Type){0};
    if (x && type_equal(&x->type, &to))
        return x;
    Attr attr = attr_dims(ATTR_shape, rank, dims);
    return build(b, OP_broadcast, 1, &x, 1, &attr);
}

static Value *build_window(Builder *b, OpKind kind, Value *x, int axis, int64_t start, int64_t size)
{
    Attr attrs[] = {attr_int(ATTR_axis, axis), attr_int(ATTR_start, start),
                    attr_int(ATTR_size, size)};
    return build(b, kind, 1, &x, 3, attrs);
}

Value *build_slice(Builder *b, Value *x, int axis, int64_t start, int64_t size)
{
    return build_window(b, OP_slice, x, axis, start, size);
}

Value *build_pad(Builder *b, Value *x, int axis, int64_t start, int64_t size)
{
    return build_window(b, OP_pad, x, axis, start, size);
}

Value *build_concat(Builder *b, int n, Value *const *xs, int axis)
{
    Attr attr = attr_int(ATTR_axis, axis);
    return build(b, OP_concat, n, xs, 1, &attr);
}

Value *build_flip(Builder *b, Value *x, int axis)
{
    Attr attr = attr_int(ATTR_axis, axis);
    return build(b, OP_flip, 1, &x, 1, &attr);
}

Value *build_dot(Builder *b, Value *x, Value *y, int n_batch, const int *batch_a,
                 const int *batch_b, int n_contract, const int *contract_a, const int *contract_b)
{
    Attr attrs[] = {
        attr_ints(ATTR_batch_a, n_batch, batch_a),
        attr_ints(ATTR_batch_b, n_batch, batch_b),
        attr_ints(ATTR_contract_a, n_contract, contract_a),
        attr_ints(ATTR_contract_b, n_contract, contract_b),
    };
    Value *grouped = x && y ? build_by_looked_up(b, x, y, attrs) : NULL;
    return grouped ? grouped : build(b, OP_dot, 2, (Value *[]){x, y}, 4, attrs);
}

/* A product with leading axes that are broadcast, as one dot: a side leaves out its axes of
 * length 1, which come back after the product. A leading axis that both sides have is a batch
 * axis; one of a single side is a free axis of it. Behind a batch axis, one of length 1 on both
 * sides is a batch axis, too: attention of one head has the form of several. */
typedef struct Matmul {
    int n_lead;                                                   /* leading axes of the result */
    enum { LEAD_BATCH, LEAD_X, LEAD_Y, LEAD_ONE } lead[MAX_RANK]; /* which side has each */
    Dim result[MAX_RANK];
    Dim x[MAX_RANK], y[MAX_RANK]; /* the sides as dot reads them */
    int nx, ny, n_batch, batch_x[MAX_RANK], batch_y[MAX_RANK];
} Matmul;

static void pair_axes(Matmul *m, Dim x, Dim y)
{
    const bool ones = dim_is_one(x) && dim_is_one(y);
    int i = m->n_lead++;
    m->result[i] = x;
    if (ones && !m->n_batch) {
        m->lead[i] = LEAD_ONE;
    } else if (dim_is_one(y) && !ones) {
        m->lead[i] = LEAD_X;
        m->x[m->nx++] = x;
    } else if (dim_is_one(x) && !ones) {
        m->lead[i] = LEAD_Y;
        m->result[i] = m->y[m->ny++] = y;
    } else { /* unequal: dot's rule reports it */
        m->lead[i] = LEAD_BATCH;
        m->batch_x[m->n_batch] = m->nx;
        m->batch_y[m->n_batch++] = m->ny;
        m->x[m->nx++] = x;
        m->y[m->ny++] = y;
    }
}

static Matmul plan_matmul(const Type *x, const Type *y)
{
    Matmul m = {0};
    int lead = (x->rank > y->rank ? x->rank : y->rank) - 2;
    for (int i = 0; i < lead; i++) {
        int ix = i - (lead - (x->rank - 2)), iy = i - (lead - (y->rank - 2));
        pair_axes(&m, ix >= 0 ? x->dims[ix] : dim_const(1), iy >= 0 ? y->dims[iy] : dim_const(1));
    }
    for (int i = 2; i > 0; i--) {
        m.x[m.nx++] = x->dims[x->rank - i];
        m.y[m.ny++] = y->dims[y->rank - i];
    }
    m.result[lead] = x->dims[x->rank - 2];
    m.result[lead + 1] = y->dims[y->rank - 1];
    return m;
}

/* The axes of dot's result in the order of m->result. Dot gives: batch, free x (leading, then
 * rows), free y (leading, then columns). */
static void order_axes(const Matmul *m, int *perm)
{
    int n = 0, next[] = {[LEAD_BATCH] = 0,
                         [LEAD_X] = m->n_batch,
                         [LEAD_Y] = m->n_batch + (m->nx - m->n_batch - 1)};
    for (int i = 0; i < m->n_lead; i++)
        if (m->lead[i] != LEAD_ONE)
            perm[n++] = next[m->lead[i]]++;
    perm[n++] = next[LEAD_X];
    perm[n] = next[LEAD_Y];
}

Value *build_matmul(Builder *b, Value *x, Value *y)
{
    if (!x || !y)
        return NULL;
    int rx = x->type.rank, ry = y->type.rank;
    if (rx < 2 || ry < 2) /* a vector; infer reports an axis that is not there */
        return build_dot(b, x, y, 0, NULL, NULL, 1, (int[]){rx - 1}, (int[]){ry - 2});
    Matmul m = plan_matmul(&x->type, &y->type);
    Value *product =
        build_dot(b, build_reshape(b, x, m.nx, m.x), build_reshape(b, y, m.ny, m.y), m.n_batch,
                  m.batch_x, m.batch_y, 1, (int[]){m.nx - 1}, (int[]){m.ny - 2});
    if (!product)
        return NULL;
    int perm[MAX_RANK];
    order_axes(&m, perm);
    return build_reshape(b, build_transpose(b, product, perm), m.n_lead + 2, m.result);
}

Value *build_grouped_dot(Builder *b, Value *x, Value *w, Value *index, int axis)
{
    Attr attr = attr_int(ATTR_axis, axis);
    return build(b, OP_grouped_dot, 3, (Value *[]){x, w, index}, 1, &attr);
}

Value *build_grouped_outer(Builder *b, Value *x, Value *y, Value *index, int64_t size)
{
    Attr attr = attr_int(ATTR_size, size);
    return build(b, OP_grouped_outer, 3, (Value *[]){x, y, index}, 1, &attr);
}

Value *build_gather(Builder *b, Value *table, Value *index)
{
    return build_binary(b, OP_gather, table, index);
}

Value *build_scatter_add(Builder *b, Value *rows, Value *index, int64_t size)
{
    Attr attr = attr_int(ATTR_size, size);
    return build(b, OP_scatter_add, 2, (Value *[]){rows, index}, 1, &attr);
}

Value *build_lookup(Builder *b, Value *x, Value *index, int axis)
{
    Attr attr = attr_int(ATTR_axis, axis);
    return build(b, OP_lookup, 2, (Value *[]){x, index}, 1, &attr);
}

Value *build_lookup_add(Builder *b, Value *rows, Value *index, int axis, int rank, const Dim *dims)
{
    Attr attrs[] = {attr_int(ATTR_axis, axis), attr_dims(ATTR_shape, rank, dims)};
    return build(b, OP_lookup_add, 2, (Value *[]){rows, index}, 2, attrs);
}

Value *build_top_k(Builder *b, Value *x, Dim k)
{
    if (!x)
        return NULL;
    Type type = x->type;
    if (type.rank)
        type.dims[type.rank - 1] = k;
    Attr attr = attr_dims(ATTR_shape, type.rank, type.dims);
    return build(b, OP_top_k, 1, &x, 1, &attr);
}

Value *build_iota_along(Builder *b, Dim dim, int axis, int rank)
{
    Dim dims[MAX_RANK];
    for (int i = axis; i < rank; i++)
        dims[i - axis] = i == axis ? dim : dim_const(1);
    return build_reshape(b, build_iota(b, dim), rank - axis, dims);
}

static Op *build_effect(Builder *b, OpKind kind, int n_args, Value *const *args, int n_attrs,
                        const Attr *attrs)
{
    for (int i = 0; i < n_args; i++)
        if (!args[i])
            return NULL;
    Module *module = b->function->module;
    Op *op = place(b, kind, n_args, args, n_attrs, attrs, 0);
    Type unused;
    if (!infer_type(module, op, &unused, module->diags))
        return NULL;
    block_insert_before(b->block, b->before, op);
    return op;
}

Op *build_output(Builder *b, const char *name, Value *x)
{
    Attr attr = attr_string(ATTR_name, arena_strdup(b->function->module->arena, name));
    return build_effect(b, OP_output, 1, &x, 1, &attr);
}

void build_assign(Builder *b, Value *param, Value *x)
{
    build_effect(b, OP_assign, 2, (Value *[]){param, x}, 0, NULL);
}

void build_keep(Builder *b, Value *kept, Value *x)
{
    build_effect(b, OP_keep, 2, (Value *[]){kept, x}, 0, NULL);
}

Value *build_sum_to(Builder *b, Value *x, const Type *shape)
{
    int axes[MAX_RANK], n = 0, extra = x->type.rank - shape->rank;
    for (int i = 0; i < x->type.rank; i++)
        if (i < extra || (dim_is_one(shape->dims[i - extra]) && !dim_is_one(x->type.dims[i])))
            axes[n++] = i;
    return build_reshape(b, build_reduce(b, OP_reduce_sum, x, n, axes), shape->rank, shape->dims);
}
