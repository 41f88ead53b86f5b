/* The window of keys that a query can see, as distances δ = key − query, of a cover (ir/cover.h):
 *
 *   |query - key| <= 8                 δ from −8 to 8
 *   key <= query                       δ up to 0
 *   |query - key| <= 8 or key < 4      any δ, with gaps: kernels look at the formula */
#include "ir/cover.h"
#include "passes/fuse/attention.h"

static const Window everywhere = {-WINDOW_OPEN, WINDOW_OPEN, false, 0},
                    nowhere = {WINDOW_OPEN, -WINDOW_OPEN, false, 0};

static Window both(Window a, Window b)
{
    return (Window){a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to, a.gaps || b.gaps,
                    0};
}

static bool is_empty(Window w) { return w.from > w.to; }

/* All from the first to the last that either has. */
static Window either(Window a, Window b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    bool apart = b.from > a.to + 1 || a.from > b.to + 1;
    return (Window){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to,
                    a.gaps || b.gaps || apart, 0};
}

/* ---- comparisons ---- */

/* Where x <= 0. */
static Window not_positive(CoverLinear x)
{
    if (!x.ok || x.key + x.query != 0 || (x.key != 1 && x.key != -1))
        return (Window){-WINDOW_OPEN, WINDOW_OPEN, true, 0};
    return x.key == 1 ? (Window){-WINDOW_OPEN, -x.constant, false, 0}
                      : (Window){x.constant, WINDOW_OPEN, false, 0};
}

/* Where x <= y, or x < y. */
static Window where_less(const Value *x, const Value *y, bool strict)
{
    CoverLinear slack = {.constant = strict, .ok = true}, right = cover_linear(y);
    CoverLinear least = cover_combine(slack, right, -1), zero = {.ok = true};
    if (x->op->kind != OP_abs)
        return not_positive(cover_combine(least, cover_linear(x), 1));
    CoverLinear inner = cover_linear(x->op->args[0]);
    return both(not_positive(cover_combine(least, inner, 1)),
                not_positive(cover_combine(least, cover_combine(zero, inner, -1), 1)));
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
    Window window = cover ? window_of_cover(cover) : nowhere;
    window.stride = cover && window.gaps ? cover_stride(cover).n : 0;
    return window;
}
