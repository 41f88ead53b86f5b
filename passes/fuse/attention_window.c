/* The window of keys that a query can see, as distances δ = key − query, of a cover (ir/cover.h):
 *
 *   |query - key| <= 8                 δ from −8 to 8
 *   key <= query                       δ up to 0
 *   key <= query + keys - queries      from the end, δ up to 0: the last query stands at the last
 *                                      key, as where decode_step reads many positions at once
 *   |query - key| <= 8 or key < 4      any δ, with gaps: kernels look at the formula */
#include "ir/cover.h"
#include "passes/fuse/attention.h"

static const Window everywhere = {.from = -WINDOW_OPEN, .to = WINDOW_OPEN},
                    nowhere = {.from = WINDOW_OPEN, .to = -WINDOW_OPEN};

static bool is_open(Window w) { return w.from <= -WINDOW_OPEN && w.to >= WINDOW_OPEN; }
static bool is_empty(Window w) { return w.from > w.to; }

/* A window of the distances from one to the other, made of two that count them alike; else, how far
 * both are apart differs from row to row. */
static Window joined(Window a, Window b, int64_t from, int64_t to)
{
    Window w = everywhere;
    if (is_open(a) || is_open(b) || a.from_end == b.from_end)
        w = (Window){.from = from, .to = to, .from_end = is_open(a) ? b.from_end : a.from_end};
    w.gaps = a.gaps || b.gaps;
    return w;
}

static Window both(Window a, Window b)
{
    return joined(a, b, a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to);
}

/* All from the first to the last that either has. */
static Window either(Window a, Window b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    Window w = joined(a, b, a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to);
    w.gaps |= b.from > a.to + 1 || a.from > b.to + 1;
    return w;
}

/* ---- comparisons ---- */

/* Where x <= 0. */
static Window not_positive(CoverLinear x)
{
    Window w = everywhere;
    w.from_end = x.keys != 0;
    w.gaps = !x.ok || x.key + x.query != 0 || (x.key != 1 && x.key != -1) ||
             x.keys + x.queries != 0 || (w.from_end && x.key + x.keys != 0);
    if (!w.gaps && x.key == 1)
        w.to = -x.constant;
    else if (!w.gaps)
        w.from = x.constant;
    return w;
}

/* Where x <= y, or x < y. */
static Window where_less(const Value *x, const Value *y, bool strict, const Type *scores)
{
    CoverLinear slack = {.constant = strict, .ok = true}, right = cover_linear(y, scores);
    CoverLinear least = cover_combine(slack, right, -1), zero = {.ok = true};
    if (x->op->kind != OP_abs)
        return not_positive(cover_combine(least, cover_linear(x, scores), 1));
    CoverLinear inner = cover_linear(x->op->args[0], scores);
    return both(not_positive(cover_combine(least, inner, 1)),
                not_positive(cover_combine(least, cover_combine(zero, inner, -1), 1)));
}

static Window window_of_cover(const Cover *c, const Type *scores)
{
    switch (c->kind) {
    case COVER_ALL: return everywhere;
    case COVER_NONE: return nowhere;
    case COVER_BOTH: return both(window_of_cover(c->a, scores), window_of_cover(c->b, scores));
    case COVER_EITHER: return either(window_of_cover(c->a, scores), window_of_cover(c->b, scores));
    case COVER_LESS: return where_less(c->x, c->y, true, scores);
    case COVER_UP_TO: return where_less(c->x, c->y, false, scores);
    case COVER_EQUAL:
        return both(where_less(c->x, c->y, false, scores), where_less(c->y, c->x, false, scores));
    }
    return everywhere;
}

/* NULL: the members need no key. */
static const Cover *cover_of_members(const Fuser *f, const FusedScores *s, size_t n,
                                     Op *const *members, const Type *scores)
{
    Covers covers = {.arena = f->arena, .scores = scores};
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
    return cover;
}

Window window_of(const Fuser *f, const FusedScores *s, size_t n, Op *const *members)
{
    const Cover *cover = cover_of_members(f, s, n, members, &s->type);
    Window window = cover ? window_of_cover(cover, &s->type) : nowhere;
    if (window.gaps) { /* if kernels can look at them */
        cover = cover_of_members(f, s, n, members, NULL);
        window.gaps = window_of_cover(cover, NULL).gaps;
        window.stride = window.gaps ? cover_stride(cover).n : 0;
    }
    window.from_end &= !is_open(window);
    return window;
}
