/* Gradients of gather and lookup, and of their adjoints scatter_add and lookup_add.
 *
 * Positions that count a sentence's own up or down, position(T) - 3 or lengths(T) - 1 -
 * position(T), name each element once, if at all. Then the adjoint is a lookup, too, at the inverse
 * positions:
 *
 *   y = lookup x, p - 3   ⇒   dx = lookup dy, p + 3
 *
 * So the gradient of a convolution is one, and fuses like it. */
#include "passes/grad/grad.h"

#include <assert.h>
#include <stdlib.h>

void grad_gather(Grad *g, Op *op, Value *dy)
{
    Dim rows = op->args[0]->type.dims[0];
    assert(dim_is_const(rows));
    grad_give(g, op, 0, build_scatter_add(&g->b, dy, op->args[1], rows.size));
}

void grad_scatter_add(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, build_gather(&g->b, dy, op->args[1]));
}

/* ---- positions along an axis ---- */

/* IndexLine: a value as slope × (0, 1, 2, … along an axis) + rest. */
typedef struct IndexLine {
    int slope;
    Value *rest; /* does not change along the axis; NULL: 0 */
} IndexLine;

/* Axes are counted from the right, from 1. */
static Dim dim_at(const Value *v, int axis)
{
    return axis <= v->type.rank ? v->type.dims[v->type.rank - axis] : dim_const(1);
}

/* IndexSearch: how many values were looked at; a graph may reach one in very many ways. */
enum { MOST_INDEX_STEPS = 64 };
typedef struct IndexSearch {
    Builder *b;
    int steps;
} IndexSearch;

static bool find_index_line(IndexSearch *s, Value *v, int axis, IndexLine *line);

static Value *combine(Builder *b, OpKind kind, Value *x, Value *y)
{
    if (!y)
        return x;
    if (!x)
        return kind == OP_sub ? build_unary(b, OP_neg, y) : y;
    return build_binary(b, kind, x, y);
}

static bool find_operands_index_line(IndexSearch *s, const Op *op, int axis, IndexLine *line)
{
    IndexLine x, y;
    if (!find_index_line(s, op->args[0], axis, &x) || !find_index_line(s, op->args[1], axis, &y))
        return false;
    line->slope = op->kind == OP_sub ? x.slope - y.slope : x.slope + y.slope;
    line->rest = combine(s->b, op->kind, x.rest, y.rest);
    return true;
}

static bool find_index_line(IndexSearch *s, Value *v, int axis, IndexLine *line)
{
    Op *op = v->op;
    if (s->steps++ == MOST_INDEX_STEPS)
        return false;
    *line = (IndexLine){0, v};
    if (dim_is_one(dim_at(v, axis)))
        return true;
    switch (op->kind) {
    case OP_iota: *line = (IndexLine){1, NULL}; return true;
    case OP_add:
    case OP_sub: return find_operands_index_line(s, op, axis, line);
    case OP_neg:
        if (!find_index_line(s, op->args[0], axis, line))
            return false;
        *line = (IndexLine){-line->slope, combine(s->b, OP_sub, NULL, line->rest)};
        return true;
    case OP_broadcast: return find_index_line(s, op->args[0], axis, line);
    case OP_reshape: {
        const Type *from = &op->args[0]->type;
        int dims[MAX_RANK];
        if (!type_differs_by_ones(from, &v->type, dims) ||
            !find_index_line(s, op->args[0], from->rank - dims[v->type.rank - axis], line))
            return false;
        if (line->rest)
            line->rest = build_reshape_like(s->b, line->rest, from, &v->type);
        return true;
    }
    default: return false;
    }
}

/* For each position of what was looked up in the place where it was found; outside: nowhere. NULL:
 * a position may be looked up twice. */
static Value *inverse_positions(Grad *g, const Op *op, const Value *dy)
{
    const Module *module = g->b.function->module;
    int axis = (int)op_int(op, ATTR_axis), rank = dy->type.rank;
    Dim along = dy->type.dims[axis];
    IndexSearch search = {.b = &g->b};
    IndexLine line;
    if (symbol_is_ragged(module, along.symbol) &&
        type_find_dim(&dy->type, module->symbols.data[along.symbol].batch) < 0)
        return NULL;
    if (!find_index_line(&search, op->args[1], rank - axis, &line) || abs(line.slope) != 1)
        return NULL;
    Value *position = build_iota_along(&g->b, op->args[0]->type.dims[axis], axis, rank);
    return line.slope > 0 ? combine(&g->b, OP_sub, position, line.rest)
                          : combine(&g->b, OP_sub, line.rest, position);
}

void grad_lookup(Grad *g, Op *op, Value *dy)
{
    int axis = (int)op_int(op, ATTR_axis);
    Value *inverse = inverse_positions(g, op, dy);
    if (inverse) {
        grad_give(g, op, 0, build_lookup(&g->b, dy, inverse, axis));
        return;
    }
    Type to = dy->type;
    to.dims[axis] = op->args[0]->type.dims[axis];
    grad_give(g, op, 0, build_lookup_add(&g->b, dy, op->args[1], axis, to.rank, to.dims));
}

void grad_lookup_add(Grad *g, Op *op, Value *dy)
{
    grad_give(g, op, 0, build_lookup(&g->b, dy, op->args[1], (int)op_int(op, ATTR_axis)));
}

/* Ops that are only made after differentiation, or end a function. */
void grad_none(Grad *g, Op *op, Value *dy) { assert(!"differentiated"); }
