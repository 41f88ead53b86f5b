/* Which keys a query can see, read off the scores' ops: with δ = key − query,
 *
 *   select (le (abs (sub %query, %key)), 8), %scores, -inf      δ from −8 to 8
 *   select (le %key, %query), %scores, -inf                     δ up to 0
 *
 * Elsewhere the scores are -inf, their exponentials 0, and whatever is multiplied by
 * these, so that a sum, a maximum or a product over the keys may leave them out. It is
 * taken for granted that what meets a zero or an -inf is finite. */
#include "passes/fuse/attention.h"

#include <math.h>

static const Window everywhere = {-WINDOW_OPEN, WINDOW_OPEN}, nowhere = {WINDOW_OPEN, -WINDOW_OPEN};

enum { DEEPEST = 32 };

static Window both(Window a, Window b)
{
    return (Window){a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to};
}

static bool is_empty(Window w) { return w.from > w.to; }

/* All from the first to the last that either has. */
static Window either(Window a, Window b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    return (Window){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

/* ---- masks ---- */

/* key × the key's position + query × the query's + constant; ok: the value is that. */
typedef struct Linear {
    int64_t key, query, constant;
    bool ok;
} Linear;

static const Linear unknown = {0};

static Linear combine(Linear a, Linear b, int64_t sign)
{
    return (Linear){a.key + sign * b.key, a.query + sign * b.query, a.constant + sign * b.constant,
                    a.ok && b.ok};
}

/* A position along the last axis of the scores, or the last but one. */
static Linear position_of(const Value *v)
{
    int rank = v->type.rank, axis = type_long_dim(&v->type);
    return (Linear){
        .key = axis == rank - 1, .query = axis == rank - 2, .ok = axis >= 0 && axis >= rank - 2};
}

static Linear linear_of(const Value *v, int depth)
{
    const Op *op = v->op;
    if (depth == 0 || v->type.dtype != DT_I32)
        return unknown;
    switch (op->kind) {
    case OP_iota: return position_of(v);
    case OP_const: return (Linear){.constant = (int64_t)op_float(op, ATTR_value), .ok = true};
    case OP_broadcast: return linear_of(op->args[0], depth - 1);
    case OP_neg: return combine((Linear){.ok = true}, linear_of(op->args[0], depth - 1), -1);
    case OP_add:
    case OP_sub:
        return combine(linear_of(op->args[0], depth - 1), linear_of(op->args[1], depth - 1),
                       op->kind == OP_add ? 1 : -1);
    default: return unknown;
    }
}

/* Where x <= 0. */
static Window not_positive(Linear x)
{
    if (!x.ok || x.key + x.query != 0 || (x.key != 1 && x.key != -1))
        return everywhere;
    return x.key == 1 ? (Window){-WINDOW_OPEN, -x.constant} : (Window){x.constant, WINDOW_OPEN};
}

/* Where a <= b, or a < b. */
static Window where_less(const Value *a, const Value *b, bool strict)
{
    Linear slack = {.constant = strict, .ok = true}, right = linear_of(b, DEEPEST);
    if (a->op->kind != OP_abs)
        return not_positive(combine(combine(linear_of(a, DEEPEST), right, -1), slack, 1));
    Linear inner = linear_of(a->op->args[0], DEEPEST),
           negative = combine((Linear){.ok = true}, inner, -1);
    return both(not_positive(combine(combine(inner, right, -1), slack, 1)),
                not_positive(combine(combine(negative, right, -1), slack, 1)));
}

static Window where_true(const Value *mask, int depth)
{
    const Op *op = mask->op;
    if (depth == 0)
        return everywhere;
    switch (op->kind) {
    case OP_broadcast: return where_true(op->args[0], depth - 1);
    case OP_and:
        return both(where_true(op->args[0], depth - 1), where_true(op->args[1], depth - 1));
    case OP_or:
        return either(where_true(op->args[0], depth - 1), where_true(op->args[1], depth - 1));
    case OP_le:
    case OP_lt: return where_less(op->args[0], op->args[1], op->kind == OP_lt);
    case OP_not: {
        const Op *inner = op->args[0]->op;
        if (inner->kind != OP_le && inner->kind != OP_lt)
            return everywhere;
        return where_less(inner->args[1], inner->args[0], inner->kind == OP_le);
    }
    default: return everywhere;
    }
}

/* ---- scores ---- */

static bool is_const(const Value *v, double value)
{
    return v->op->kind == OP_const && op_float(v->op, ATTR_value) == value;
}

/* Where a value may be other than -inf. */
static Window where_finite(const Value *v, int depth)
{
    const Op *op = v->op;
    if (depth == 0)
        return everywhere;
    if (is_const(v, -INFINITY))
        return nowhere;
    switch (op->kind) {
    case OP_select:
        return either(both(where_true(op->args[0], DEEPEST), where_finite(op->args[1], depth - 1)),
                      where_finite(op->args[2], depth - 1));
    case OP_add:
        return both(where_finite(op->args[0], depth - 1), where_finite(op->args[1], depth - 1));
    case OP_sub:
    case OP_cast: return where_finite(op->args[0], depth - 1);
    default: return everywhere;
    }
}

/* Where a value may be other than 0. */
static Window where_not_zero(const Value *v, int depth)
{
    const Op *op = v->op;
    if (depth == 0)
        return everywhere;
    if (is_const(v, 0))
        return nowhere;
    switch (op->kind) {
    case OP_select:
        return either(
            both(where_true(op->args[0], DEEPEST), where_not_zero(op->args[1], depth - 1)),
            where_not_zero(op->args[2], depth - 1));
    case OP_exp: return where_finite(op->args[0], depth - 1);
    case OP_mul:
        return both(where_not_zero(op->args[0], depth - 1), where_not_zero(op->args[1], depth - 1));
    case OP_add:
    case OP_sub:
        return either(where_not_zero(op->args[0], depth - 1),
                      where_not_zero(op->args[1], depth - 1));
    case OP_div:
    case OP_neg:
    case OP_dropout:
    case OP_cast: return where_not_zero(op->args[0], depth - 1);
    default: return everywhere;
    }
}

Window window_of(const Fuser *f, const FusedScores *s, size_t n, Op *const *members)
{
    Window window = nowhere;
    for (size_t i = 0; i < n; i++) {
        const Op *op = members[i];
        if (op->kind == OP_reduce_max)
            window = either(window, where_finite(op->args[0], DEEPEST));
        else if (op->kind == OP_reduce_sum)
            window = either(window, where_not_zero(op->args[0], DEEPEST));
        else if (node_of(f, op)->part == PART_PRODUCT)
            window = either(window, where_not_zero(op->args[scores_side(op, s)], DEEPEST));
    }
    return window;
}
