/* The window of keys that a query can see, as distances δ = key − query, of a cover (ir/cover.h):
 *
 *   |query - key| <= 8                 δ from −8 to 8
 *   key <= query                       δ up to 0
 *   |query - key| <= 8 or key < 4      any δ, with gaps: kernels look at the formula */
#include "ir/cover.h"
#include "passes/fuse/attention.h"

static const Window everywhere = {-WINDOW_OPEN, WINDOW_OPEN, false},
                    nowhere = {WINDOW_OPEN, -WINDOW_OPEN, false};

static Window both(Window a, Window b)
{
    return (Window){a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to, a.gaps || b.gaps};
}

static bool is_empty(Window w) { return w.from > w.to; }

/* All from the first to the last that either has. */
static Window either(Window a, Window b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    bool apart = b.from > a.to + 1 || a.from > b.to + 1;
    return (Window){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to,
                    a.gaps || b.gaps || apart};
}

/* ---- comparisons ---- */

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
    int from_last = v->type.rank - 1 - type_long_dim(&v->type);
    return (Linear){.key = from_last == 0, .query = from_last == 1, .ok = from_last <= 1};
}

/* Of a formula. */
static Linear linear_of(const Value *v)
{
    v = cover_operand(v);
    const Op *op = v->op;
    if (cover_is_position(v))
        return position_of(v);
    switch (op->kind) {
    case OP_const: return (Linear){.constant = (int64_t)op_float(op, ATTR_value), .ok = true};
    case OP_neg: return combine((Linear){.ok = true}, linear_of(op->args[0]), -1);
    case OP_add:
    case OP_sub:
        return combine(linear_of(op->args[0]), linear_of(op->args[1]), op->kind == OP_add ? 1 : -1);
    default: return unknown;
    }
}

/* Where x <= 0. */
static Window not_positive(Linear x)
{
    if (!x.ok || x.key + x.query != 0 || (x.key != 1 && x.key != -1))
        return (Window){-WINDOW_OPEN, WINDOW_OPEN, true};
    return x.key == 1 ? (Window){-WINDOW_OPEN, -x.constant, false}
                      : (Window){x.constant, WINDOW_OPEN, false};
}

/* Where x <= y, or x < y. */
static Window where_less(const Value *x, const Value *y, bool strict)
{
    Linear slack = {.constant = strict, .ok = true}, right = linear_of(y);
    if (x->op->kind != OP_abs)
        return not_positive(combine(combine(linear_of(x), right, -1), slack, 1));
    Linear inner = linear_of(x->op->args[0]), negative = combine((Linear){.ok = true}, inner, -1);
    return both(not_positive(combine(combine(inner, right, -1), slack, 1)),
                not_positive(combine(combine(negative, right, -1), slack, 1)));
}

static Window window_of_cover(const Cover *c)
{
    switch (c->kind) {
    case COVER_ALL: return everywhere;
    case COVER_NONE: return nowhere;
    case COVER_BOTH: return both(window_of_cover(c->a), window_of_cover(c->b));
    case COVER_EITHER: return either(window_of_cover(c->a), window_of_cover(c->b));
    case COVER_LESS: return where_less(c->x, c->y, true);
    case COVER_UP_TO: return where_less(c->x, c->y, false);
    case COVER_EQUAL: return both(where_less(c->x, c->y, false), where_less(c->y, c->x, false));
    }
    return everywhere;
}

Window window_of(const Fuser *f, const FusedScores *s, size_t n, Op *const *members)
{
    Covers covers = {.arena = f->arena};
    const Cover *cover = NULL;
    for (size_t i = 0; i < n; i++) {
        const Op *op = members[i];
        const Cover *read = NULL;
        if (op->kind == OP_reduce_max)
            read = cover_finite(&covers, op->args[0]);
        else if (op->kind == OP_reduce_sum)
            read = cover_not_zero(&covers, op->args[0]);
        else if (node_of(f, op)->part == PART_PRODUCT)
            read = cover_not_zero(&covers, op->args[scores_side(op, s)]);
        if (read)
            cover = cover ? cover_either(&covers, cover, read) : read;
    }
    return cover ? window_of_cover(cover) : nowhere;
}
