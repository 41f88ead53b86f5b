/* Covers of values; see cover.h. */
#include "ir/cover.h"

#include "ir/position_form.h"

#include <math.h>
#include <stdlib.h>

/* What is asked of a value. */
enum { IS_TRUE, IS_FALSE, IS_FINITE, IS_NOT_ZERO };

static const Cover all = {.kind = COVER_ALL}, none = {.kind = COVER_NONE};

static const Cover *cover_of(Covers *c, const Value *v, int what);

/* ---- joining ---- */

static const Cover *new_cover(Covers *c, Cover cover)
{
    Cover *made = ARENA_NEW(c->arena, Cover);
    *made = cover;
    return made;
}

static const Cover *cover_both(Covers *c, const Cover *a, const Cover *b)
{
    if (a == b || b->kind == COVER_ALL || a->kind == COVER_NONE)
        return a;
    if (a->kind == COVER_ALL || b->kind == COVER_NONE)
        return b;
    return new_cover(c, (Cover){.kind = COVER_BOTH, .a = a, .b = b});
}

const Cover *cover_either(Covers *c, const Cover *a, const Cover *b)
{
    if (a == b || b->kind == COVER_NONE || a->kind == COVER_ALL)
        return a;
    if (a->kind == COVER_NONE || b->kind == COVER_ALL)
        return b;
    return new_cover(c, (Cover){.kind = COVER_EITHER, .a = a, .b = b});
}

/* ---- numbers ---- */

const Value *cover_operand(const Value *v)
{
    while (v->op->kind == OP_broadcast ||
           (v->op->kind == OP_cast && v->op->args[0]->type.dtype == v->type.dtype))
        v = v->op->args[0];
    return v;
}

bool cover_const(const Value *v, double *x)
{
    v = cover_operand(v);
    if (v->op->kind != OP_const)
        return false;
    *x = op_float(v->op, ATTR_value);
    return true;
}

int64_t cover_remainder(const Value *v, const Value **x)
{
    double n = 0, factor = 0;
    const Value *whole = v->op->kind == OP_sub ? cover_operand(v->op->args[1]) : v;
    if (v->op->kind != OP_sub || whole->op->kind != OP_mul ||
        !cover_const(whole->op->args[1], &factor))
        return 0;
    const Value *quotient = cover_operand(whole->op->args[0]);
    if (quotient->op->kind == OP_floor)
        quotient = cover_operand(quotient->op->args[0]);
    else if (v->type.dtype != DT_I32)
        return 0;
    *x = cover_operand(v->op->args[0]);
    if (quotient->op->kind != OP_div || cover_operand(quotient->op->args[0]) != *x ||
        !cover_const(quotient->op->args[1], &n) || n != factor || n < 1 || n > 1e6 || n != floor(n))
        return 0;
    return (int64_t)n;
}

bool cover_is_position(const Value *v)
{
    const Op *op = v->op->kind == OP_reshape ? v->op->args[0]->op : v->op;
    return op->kind == OP_iota && type_long_dim(&v->type) >= 0;
}

/* Which of the scores' axes the lengths are of, counted from the last: 0 keys, 1 queries; -1: none
 * of both, or the value is no lengths. */
static int axis_of_lengths(const Value *v, const Type *scores)
{
    for (int back = 0; scores && v->op->kind == OP_lengths && back < 2; back++)
        if (dim_equal(scores->dims[scores->rank - 1 - back],
                      dim_symbol((int)op_int(v->op, ATTR_dim))))
            return back;
    return -1;
}

/* The greatest magnitude that the value may have; INFINITY: it is no formula, or may overflow. */
static double magnitude(const Value *v, const Type *scores, int depth)
{
    double n = 0, x = INFINITY;
    v = cover_operand(v);
    const Op *op = v->op;
    DType type = v->type.dtype;
    if (depth == 0 || (type != DT_I32 && type != DT_F32 && type != DT_F64))
        return INFINITY;
    switch (op->kind) {
    case OP_iota:
    case OP_reshape:
        x = cover_is_position(v) ? MOST_POSITION
            : scores             ? magnitude(op->args[0], scores, depth - 1)
                                 : INFINITY;
        break;
    case OP_lengths: x = axis_of_lengths(v, scores) >= 0 ? MOST_POSITION : INFINITY; break;
    case OP_const: x = fabs(op_float(op, ATTR_value)); break;
    case OP_cast:
        x = op->args[0]->type.dtype == DT_I32 ? magnitude(op->args[0], scores, depth - 1)
                                              : INFINITY;
        break;
    case OP_neg:
    case OP_abs:
    case OP_floor: x = magnitude(op->args[0], scores, depth - 1); break;
    case OP_add:
    case OP_sub:
        x = magnitude(op->args[0], scores, depth - 1) + magnitude(op->args[1], scores, depth - 1);
        break;
    case OP_max:
    case OP_min:
        x = fmax(magnitude(op->args[0], scores, depth - 1),
                 magnitude(op->args[1], scores, depth - 1));
        break;
    case OP_mul:
        if (cover_const(op->args[1], &n))
            x = fabs(n) * magnitude(op->args[0], scores, depth - 1);
        break;
    case OP_div:
        if (cover_const(op->args[1], &n) && n > 0)
            x = magnitude(op->args[0], scores, depth - 1) / n;
        break;
    default: break;
    }
    return x < (type == DT_I32 ? 0x1p31 : 1e30) ? x : INFINITY;
}

bool cover_is_formula(const Value *v, const Type *scores)
{
    return magnitude(v, scores, 8) < INFINITY;
}

CoverLinear cover_combine(CoverLinear a, CoverLinear b, int64_t sign)
{
    return (CoverLinear){.key = a.key + sign * b.key,
                         .query = a.query + sign * b.query,
                         .keys = a.keys + sign * b.keys,
                         .queries = a.queries + sign * b.queries,
                         .constant = a.constant + sign * b.constant,
                         .ok = a.ok && b.ok};
}

/* A position along the last axis of the scores, or the last but one. */
static CoverLinear linear_position(const Value *v)
{
    int from_last = v->type.rank - 1 - type_long_dim(&v->type);
    return (CoverLinear){.key = from_last == 0, .query = from_last == 1, .ok = from_last <= 1};
}

static CoverLinear linear_lengths(const Value *v, const Type *scores)
{
    int back = axis_of_lengths(v, scores);
    return (CoverLinear){.keys = back == 0, .queries = back == 1, .ok = back >= 0};
}

/* A number of each row may have ones around it; positions would be along other axes. */
static CoverLinear linear_reshaped(CoverLinear x)
{
    x.ok = x.ok && x.key == 0 && x.query == 0;
    return x;
}

CoverLinear cover_linear(const Value *v, const Type *scores)
{
    v = cover_operand(v);
    const Op *op = v->op;
    if (cover_is_position(v))
        return linear_position(v);
    switch (op->kind) {
    case OP_const: return (CoverLinear){.constant = (int64_t)op_float(op, ATTR_value), .ok = true};
    case OP_lengths: return linear_lengths(v, scores);
    case OP_reshape: return linear_reshaped(cover_linear(op->args[0], scores));
    case OP_neg:
        return cover_combine((CoverLinear){.ok = true}, cover_linear(op->args[0], scores), -1);
    case OP_add:
    case OP_sub:
        return cover_combine(cover_linear(op->args[0], scores), cover_linear(op->args[1], scores),
                             op->kind == OP_add ? 1 : -1);
    default: return (CoverLinear){0};
    }
}

/* ---- strides ---- */

/* Of x = y, where one of both is a remainder by n, or both are: then x − y is a multiple of n. */
static CoverStride stride_of(const Cover *c)
{
    const Value *x = c->x, *y = c->y;
    if (c->kind != COVER_EQUAL)
        return (CoverStride){0};
    int64_t n = cover_remainder(x, &x), m = cover_remainder(y, &y);
    CoverLinear difference = cover_combine(cover_linear(x, NULL), cover_linear(y, NULL), -1);
    int64_t step = n ? n : m;
    if ((n && m && n != m) || step < LEAST_STRIDE || !difference.ok ||
        difference.key + difference.query != 0 || labs((long)difference.key) != 1)
        return (CoverStride){0};
    int64_t rest = -difference.query * difference.constant % step;
    return (CoverStride){step, rest < 0 ? rest + step : rest};
}

CoverStride cover_stride(const Cover *c)
{
    if (c->kind != COVER_BOTH && c->kind != COVER_EITHER)
        return stride_of(c);
    CoverStride found = cover_stride(c->a);
    return found.n ? found : cover_stride(c->b);
}

const Cover *cover_assume(Covers *c, const Cover *cover, CoverStride stride, bool holds)
{
    if (cover->kind == COVER_BOTH || cover->kind == COVER_EITHER)
        return (cover->kind == COVER_BOTH ? cover_both : cover_either)(
            c, cover_assume(c, cover->a, stride, holds), cover_assume(c, cover->b, stride, holds));
    CoverStride own = stride_of(cover);
    bool asks = own.n && own.n == stride.n && own.rest == stride.rest;
    return !asks ? cover : holds ? &all : &none;
}

/* ---- comparisons ---- */

static const Cover *compared(Covers *c, CoverKind kind, const Value *x, const Value *y)
{
    if (!cover_is_formula(x, c->scores) || !cover_is_formula(y, c->scores))
        return &all;
    return new_cover(c, (Cover){.kind = kind, .x = cover_operand(x), .y = cover_operand(y)});
}

/* ---- masks ---- */

/* Whether a reshape leaves the last two axes as they are. */
static bool keeps_queries_and_keys(const Type *from, const Type *to)
{
    for (int back = 1; back <= 2; back++)
        if (from->rank < back || to->rank < back ||
            !dim_equal(from->dims[from->rank - back], to->dims[to->rank - back]))
            return false;
    return true;
}

static const Cover *mask_cover(Covers *c, const Value *mask, bool wanted)
{
    const Op *op = mask->op;
    int what = wanted ? IS_TRUE : IS_FALSE;
    switch (op->kind) {
    case OP_const: return (op_float(op, ATTR_value) != 0) == wanted ? &all : &none;
    case OP_broadcast: return cover_of(c, op->args[0], what);
    case OP_reshape:
        return c->scores && keeps_queries_and_keys(&op->args[0]->type, &mask->type)
                   ? cover_of(c, op->args[0], what)
                   : &all;
    case OP_not: return cover_of(c, op->args[0], wanted ? IS_FALSE : IS_TRUE);
    case OP_and:
    case OP_or:
        return ((op->kind == OP_and) == wanted ? cover_both : cover_either)(
            c, cover_of(c, op->args[0], what), cover_of(c, op->args[1], what));
    case OP_lt:
        return wanted ? compared(c, COVER_LESS, op->args[0], op->args[1])
                      : compared(c, COVER_UP_TO, op->args[1], op->args[0]);
    case OP_le:
        return wanted ? compared(c, COVER_UP_TO, op->args[0], op->args[1])
                      : compared(c, COVER_LESS, op->args[1], op->args[0]);
    case OP_eq: return wanted ? compared(c, COVER_EQUAL, op->args[0], op->args[1]) : &all;
    default: return &all;
    }
}

/* ---- scores ---- */

static const Cover *selected(Covers *c, const Op *op, int what)
{
    const Cover *yes =
        cover_both(c, cover_of(c, op->args[0], IS_TRUE), cover_of(c, op->args[1], what));
    const Cover *no =
        cover_both(c, cover_of(c, op->args[0], IS_FALSE), cover_of(c, op->args[2], what));
    return cover_either(c, yes, no);
}

static const Cover *finite(Covers *c, const Value *v)
{
    const Op *op = v->op;
    if (value_is_const(v, -INFINITY))
        return &none;
    switch (op->kind) {
    case OP_select: return selected(c, op, IS_FINITE);
    case OP_add: return cover_both(c, cover_finite(c, op->args[0]), cover_finite(c, op->args[1]));
    case OP_sub:
    case OP_cast: return cover_finite(c, op->args[0]);
    default: return &all;
    }
}

static const Cover *not_zero(Covers *c, const Value *v)
{
    const Op *op = v->op;
    if (value_is_const(v, 0))
        return &none;
    switch (op->kind) {
    case OP_select: return selected(c, op, IS_NOT_ZERO);
    case OP_exp: return cover_finite(c, op->args[0]);
    case OP_mul:
        return cover_both(c, cover_not_zero(c, op->args[0]), cover_not_zero(c, op->args[1]));
    case OP_add:
    case OP_sub:
        return cover_either(c, cover_not_zero(c, op->args[0]), cover_not_zero(c, op->args[1]));
    case OP_cast:
        if (op->args[0]->type.dtype == DT_BOOL)
            return cover_of(c, op->args[0], IS_TRUE);
        return cover_not_zero(c, op->args[0]);
    case OP_div:
    case OP_neg:
    case OP_abs:
    case OP_relu:
    case OP_dropout: return cover_not_zero(c, op->args[0]);
    default: return &all;
    }
}

static const Cover *cover_of(Covers *c, const Value *v, int what)
{
    for (size_t i = 0; i < c->known.count; i++)
        if (c->known.data[i].value == v && c->known.data[i].what == what)
            return c->known.data[i].cover;
    if (c->depth == MAX_COVER_DEPTH)
        return &all;
    c->depth++;
    const Cover *cover = what == IS_FINITE     ? finite(c, v)
                         : what == IS_NOT_ZERO ? not_zero(c, v)
                                               : mask_cover(c, v, what == IS_TRUE);
    c->depth--;
    vec_push(c->arena, c->known, ((struct CoverOf){v, what, cover}));
    return cover;
}

const Cover *cover_finite(Covers *c, const Value *v) { return cover_of(c, v, IS_FINITE); }
const Cover *cover_not_zero(Covers *c, const Value *v) { return cover_of(c, v, IS_NOT_ZERO); }
