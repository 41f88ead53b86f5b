/* Builder: each call infers an op's type, unless the caller gives the type, and inserts the op at
 * the builder's place. NULL after an error, which is in the module's diagnostics. A cast, reshape,
 * transpose or broadcast that would change nothing returns its operand, as does a reduction without
 * axes. */
#ifndef IR_BUILDER_H
#define IR_BUILDER_H

#include "ir/graph.h"

typedef struct Builder {
    Function *function;
    Block *block;
    Op *before; /* insert before this op; NULL: at the end */
    Loc loc;    /* given to every new op */
    const char *scope;
} Builder;

Builder builder_at_end(Function *function);
Builder builder_before(Function *function, Block *block, Op *op);
Builder builder_behind(Function *function, Block *block, Op *op);

/* Builds any op with one result. Also NULL if an operand is NULL (its error was reported). */
Value *build(Builder *b, OpKind kind, int n_args, Value *const *args, int n_attrs,
             const Attr *attrs);

static inline Value *build_unary(Builder *b, OpKind kind, Value *x)
{
    return build(b, kind, 1, &x, 0, NULL);
}
static inline Value *build_binary(Builder *b, OpKind kind, Value *x, Value *y)
{
    return build(b, kind, 2, (Value *[]){x, y}, 0, NULL);
}
Value *build_input(Builder *b, const char *name, Type type);
/* The function's op of that param; build_new_param if there is none. */
Value *build_param(Builder *b, const ParamInfo *info);
/* Adds an op of a param for which the function has none, after the params with which its body
 * begins. */
Value *build_new_param(Builder *b, const ParamInfo *info);
Value *build_const(Builder *b, DType dtype, double value);  /* scalar */
Value *build_const_of(Builder *b, Type type, double value); /* splat */
Value *build_iota(Builder *b, Dim dim);
Value *build_size(Builder *b, DType dtype, int symbol);
Value *build_lengths(Builder *b, DType dtype, int symbol);
Value *build_random(Builder *b, Type type, int site);
Value *build_cast(Builder *b, Value *x, DType dtype);
Value *build_dropout(Builder *b, Value *x, double rate, int site);
Value *build_select(Builder *b, Value *condition, Value *x, Value *y);
Value *build_reduce(Builder *b, OpKind kind, Value *x, int n_axes, const int *axes);
Value *build_reshape(Builder *b, Value *x, int rank, const Dim *dims);
/* x, which broadcasts to `from`, under the dimensions of `to`, which type_differs_by_ones. */
Value *build_reshape_like(Builder *b, Value *x, const Type *from, const Type *to);
Value *build_transpose(Builder *b, Value *x, const int *perm);
Value *build_broadcast(Builder *b, Value *x, int rank, const Dim *dims);
Value *build_slice(Builder *b, Value *x, int axis, int64_t start, int64_t size);
Value *build_pad(Builder *b, Value *x, int axis, int64_t start, int64_t size);
Value *build_concat(Builder *b, int n, Value *const *xs, int axis);
Value *build_flip(Builder *b, Value *x, int axis);
/* A product of rows by matrices that are looked up is built by build_by_looked_up. */
Value *build_dot(Builder *b, Value *x, Value *y, int n_batch, const int *batch_a,
                 const int *batch_b, int n_contract, const int *contract_a, const int *contract_b);
/* The product of x and y, as op dot with these attributes (batch_a, batch_b, contract_a,
 * contract_b), built as grouped_dot with what surrounds it, if one side is a gather of matrices,
 * moved, reshaped by ones or cast at most, with one matrix for each row of the other side; so the
 * matrices are not copied for each row. NULL: it is not such a product, and nothing was built. */
Value *build_by_looked_up(Builder *b, Value *x, Value *y, const Attr attrs[4]); /* grouped.c */
/* numpy's matmul, with at least two axes of y: contracts the last axis of x with the last but one
 * of y, and broadcasts leading axes against each other (adding a transpose or reshape where
 * needed). */
Value *build_matmul(Builder *b, Value *x, Value *y);
/* Each row of x by the matrix of w that its index names (op grouped_dot). */
Value *build_grouped_dot(Builder *b, Value *x, Value *w, Value *index, int axis);
Value *build_grouped_outer(Builder *b, Value *x, Value *y, Value *index, int64_t size);
Value *build_gather(Builder *b, Value *table, Value *index);
Value *build_scatter_add(Builder *b, Value *rows, Value *index, int64_t size);
Value *build_lookup(Builder *b, Value *x, Value *index, int axis);
/* Of the greatest elements along the last axis the first k, as top_k says. */
Value *build_top_k(Builder *b, Value *x, Dim k);
Value *build_lookup_add(Builder *b, Value *rows, Value *index, int axis, int rank, const Dim *dims);
/* 0, 1, 2, … along an axis of a type of `rank` dimensions to which it broadcasts. */
Value *build_iota_along(Builder *b, Dim dim, int axis, int rank);
Op *build_output(Builder *b, const char *name, Value *x); /* NULL: x is NULL */
void build_assign(Builder *b, Value *param, Value *x);
void build_keep(Builder *b, Value *kept, Value *x);
/* x, not NULL, summed over the axes along which `shape` was broadcast to x's type. */
Value *build_sum_to(Builder *b, Value *x, const Type *shape);

static inline Attr attr_int(AttrName name, int64_t i) { return (Attr){.name = name, .i = i}; }
static inline Attr attr_float(AttrName name, double f) { return (Attr){.name = name, .f = f}; }
static inline Attr attr_string(AttrName name, const char *s)
{
    return (Attr){.name = name, .s = s};
}
Attr attr_ints(AttrName name, int n, const int *ints);
Attr attr_dims(AttrName name, int rank, const Dim *dims);

#endif
