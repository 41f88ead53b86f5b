/* The proof that attention weights only look back: followed from the weights up to
 * the mask that makes them so.
 *
 *   softmax(select(key position <= query position and …, scores, -inf)), or relu(…)
 *   select(key position <= query position and …, weights, 0)
 *
 * Between these and the weights' use stand only ops that keep zeros. */
#include "passes/causal.h"

/* Axes are counted as in a type of `rank` dimensions to which the value broadcasts,
 * right-aligned; where that is in v's own type, or -1. */
static int own_axis(const Value *v, int axis, int rank)
{
    int own = axis - (rank - v->type.rank);
    return own >= 0 && own < v->type.rank ? own : -1;
}

/* v is the position along `time`, laid out along the axis. */
static bool is_position(const Value *v, int time, int axis, int rank)
{
    while (v->op->kind == OP_cast || v->op->kind == OP_broadcast)
        v = v->op->args[0];
    int own = own_axis(v, axis, rank);
    return v->op->kind == OP_iota && own >= 0 && v->type.dims[own].symbol == time;
}

/* The mask is false wherever key > query. */
static bool implies_causal(const Value *mask, int time, int query, int key, int rank)
{
    const Op *op = mask->op;
    switch (op->kind) {
    case OP_broadcast: return implies_causal(op->args[0], time, query, key, rank);
    case OP_reshape: { /* ones may come and go before both axes */
        const Value *x = op->args[0];
        int q = own_axis(x, query, rank), k = own_axis(x, key, rank);
        return q >= 0 && k >= 0 && x->type.dims[q].symbol == time &&
               x->type.dims[k].symbol == time && implies_causal(x, time, query, key, rank);
    }
    case OP_and:
        return implies_causal(op->args[0], time, query, key, rank) ||
               implies_causal(op->args[1], time, query, key, rank);
    case OP_le:
    case OP_lt:
        return is_position(op->args[0], time, key, rank) &&
               is_position(op->args[1], time, query, rank);
    case OP_not: {
        const Op *inner = op->args[0]->op;
        return (inner->kind == OP_le || inner->kind == OP_lt) &&
               is_position(inner->args[0], time, query, rank) &&
               is_position(inner->args[1], time, key, rank);
    }
    default: return false;
    }
}

static bool is_minus_infinity(const Value *v)
{
    return v->op->kind == OP_const && op_float(v->op, ATTR_value) <= -1e9;
}

static bool is_zero(const Value *v)
{
    while (v->op->kind == OP_cast || v->op->kind == OP_broadcast)
        v = v->op->args[0];
    return v->op->kind == OP_const && op_float(v->op, ATTR_value) == 0;
}

/* Scores that are -inf wherever key > query. */
static bool is_masked(const Value *v, int time, int query, int key)
{
    const Op *op = v->op;
    int rank = v->type.rank;
    switch (op->kind) {
    case OP_select:
        return (is_minus_infinity(op->args[2]) &&
                implies_causal(op->args[0], time, query, key, rank)) ||
               (is_minus_infinity(op->args[2]) && op->args[1]->type.rank == rank &&
                is_masked(op->args[1], time, query, key));
    case OP_add:
    case OP_sub:
        return (op->args[0]->type.rank == rank && is_masked(op->args[0], time, query, key)) ||
               (op->kind == OP_add && op->args[1]->type.rank == rank &&
                is_masked(op->args[1], time, query, key));
    default: return false;
    }
}

bool is_causal(const Value *v, int time, int query, int key)
{
    const Op *op = v->op;
    switch (op->kind) {
    case OP_softmax: return key == v->type.rank - 1 && is_masked(op->args[0], time, query, key);
    case OP_relu: return is_masked(op->args[0], time, query, key);
    case OP_select:
        return is_zero(op->args[2]) && implies_causal(op->args[0], time, query, key, v->type.rank);
    case OP_cast: return is_causal(op->args[0], time, query, key);
    case OP_mul:
    case OP_div:
        return (op->args[0]->type.rank == v->type.rank &&
                is_causal(op->args[0], time, query, key)) ||
               (op->kind == OP_mul && op->args[1]->type.rank == v->type.rank &&
                is_causal(op->args[1], time, query, key));
    case OP_reshape: { /* ones may come and go before both axes */
        const Value *x = op->args[0];
        int q = own_axis(x, query, v->type.rank), k = own_axis(x, key, v->type.rank);
        return q >= 0 && k >= 0 && x->type.dims[q].symbol == time &&
               x->type.dims[k].symbol == time && is_causal(x, time, q, k);
    }
    case OP_transpose: {
        const Attr *perm = op_attr(op, ATTR_perm);
        return is_causal(op->args[0], time, perm->ints[query], perm->ints[key]);
    }
    default: return false;
    }
}
