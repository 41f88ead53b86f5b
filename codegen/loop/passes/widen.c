/* Writes the ops of a loop for several turns at once; see jam.c and vectorise.c. */
#include "codegen/loop/passes/widen.h"

#include <assert.h>

#define FOR_COPIES(u, w) for (int u = (w)->from; u < (w)->to; u++)

/* ---- what operands have become ---- */

Wide widen_of(const Widen *w, LoValue x)
{
    bool outside = lo_is_constant(x) || x->kind == LO_param || w->values[x->id].kind == WIDE_NONE;
    return outside ? widen_uniform(x) : w->values[x->id];
}

static LoType widened(const Widen *w, LoType type)
{
    return w->lanes == 1 ? type : lo_vector(type, w->lanes);
}

/* Lane numbers of copy u times the step, of the step's type. */
static LoValue lane_steps(Widen *w, LoValue step, int u)
{
    Lo *lo = &w->lo;
    LoType vector = lo_vector(step->type, w->lanes);
    LoValue numbers = lo_iota_of(lo, step->type, w->lanes);
    if (u)
        numbers = lo_add(lo, numbers, lo_int(lo, vector, (int64_t)u * w->lanes));
    bool is_one = lo_is_int(step) && step->number == 1;
    return is_one ? numbers : lo_mul(lo, numbers, lo_splat(lo, step, w->lanes));
}

/* A linear value's scalar at the first lane of copy u. */
static LoValue first_of_copy(Widen *w, const Wide *x, int u)
{
    Lo *lo = &w->lo;
    if (u == 0)
        return x->scalar;
    LoValue by = lo_mul(lo, x->step, lo_int(lo, x->step->type, (int64_t)u * w->lanes));
    return x->scalar->type == lo_ptr ? lo_at(lo, x->element, x->scalar, by)
                                     : lo_add(lo, x->scalar, by);
}

LoValue widen_vector(Widen *w, const Wide *x, int u)
{
    Lo *lo = &w->lo;
    if (x->kind == WIDE_VECTOR)
        return x->vectors[u];
    if (x->kind == WIDE_UNIFORM)
        return w->lanes == 1 ? x->scalar : lo_splat(lo, x->scalar, w->lanes);
    if (w->lanes == 1)
        return first_of_copy(w, x, u);
    if (x->scalar->type == lo_ptr)
        return lo_at(lo, x->element, x->scalar, lane_steps(w, x->step, u));
    return lo_add(lo, lo_splat(lo, first_of_copy(w, x, u), w->lanes), lane_steps(w, x->step, 0));
}

/* Vectors of an op: of the copies before these, those that it has. */
static Wide vectors_of(const Widen *w, const LoOp *op)
{
    Wide out = w->values[op->id];
    out.kind = WIDE_VECTOR;
    return out;
}

/* ---- indices ---- */

static LoValue step_of(Widen *w, const Wide *x, LoType type)
{
    return x->kind == WIDE_LINEAR ? x->step : lo_int(&w->lo, type, 0);
}

static Wide linear(LoValue scalar, LoValue step)
{
    return (Wide){.kind = WIDE_LINEAR, .scalar = scalar, .step = step};
}

/* Sums and differences of linear values, and products with what is uniform, are linear. */
static bool widen_index(Widen *w, const LoOp *op, const Wide *a, const Wide *b, Wide *out)
{
    Lo *lo = &w->lo;
    LoType type = op->type;
    bool integers = !lo_is_float(type) && a->kind != WIDE_VECTOR && b->kind != WIDE_VECTOR;
    if (!integers)
        return false;
    switch (op->kind) {
    case LO_iadd:
    case LO_add:
        *out = linear((op->kind == LO_add ? lo_add : lo_iadd)(lo, a->scalar, b->scalar),
                      lo_add(lo, step_of(w, a, type), step_of(w, b, type)));
        return true;
    case LO_isub:
    case LO_sub:
        *out = linear((op->kind == LO_sub ? lo_sub : lo_isub)(lo, a->scalar, b->scalar),
                      lo_sub(lo, step_of(w, a, type), step_of(w, b, type)));
        return true;
    case LO_imul:
    case LO_mul:
        if (a->kind == WIDE_LINEAR && b->kind == WIDE_LINEAR)
            return false;
        *out = linear((op->kind == LO_mul ? lo_mul : lo_imul)(lo, a->scalar, b->scalar),
                      a->kind == WIDE_LINEAR ? lo_mul(lo, a->step, b->scalar)
                                             : lo_mul(lo, a->scalar, b->step));
        return true;
    default: return false;
    }
}

static Wide widen_at(Widen *w, const LoOp *op, const Wide *base, const Wide *index)
{
    Lo *lo = &w->lo;
    Wide out = vectors_of(w, op);
    if (base->kind == WIDE_UNIFORM && index->kind == WIDE_LINEAR)
        return (Wide){.kind = WIDE_LINEAR,
                      .scalar = lo_at(lo, op->element, base->scalar, index->scalar),
                      .step = index->step,
                      .element = op->element};
    if (base->kind == WIDE_LINEAR && index->kind != WIDE_VECTOR &&
        (index->kind == WIDE_UNIFORM || base->element == op->element)) {
        out = *base;
        out.scalar = lo_at(lo, op->element, base->scalar, index->scalar);
        if (index->kind == WIDE_LINEAR)
            out.step = lo_add(lo, base->step, index->step);
        return out;
    }
    FOR_COPIES (u, w)
        out.vectors[u] = lo_at(lo, op->element,
                               base->kind == WIDE_UNIFORM ? base->scalar : widen_vector(w, base, u),
                               widen_vector(w, index, u));
    return out;
}

/* ---- memory ---- */

/* Scratch has room for a whole vector after its last element. */
static bool is_scratch(const LoOp *pointer)
{
    while (pointer->kind == LO_at)
        pointer = pointer->args[0];
    return pointer->kind == LO_scratch;
}

/* Whether the lanes' elements lie one after the other. */
static bool is_contiguous(const Wide *pointer, LoType type)
{
    return pointer->kind == WIDE_LINEAR && lo_is_int(pointer->step) && pointer->step->number == 1 &&
           lo_bits(pointer->element) * lo_lanes(pointer->element) == lo_bits(type);
}

/* The lanes of copy u that an access touches; `own`: the op's mask, or NULL. */
static LoValue access_mask(Widen *w, const LoOp *op, int own, int u, bool whole)
{
    LoValue mask = NULL;
    if (op->n_args > own) {
        Wide x = widen_of(w, op->args[own]);
        mask = widen_vector(w, &x, u);
    }
    return whole ? mask : widen_both(w, mask, w->mask[u]);
}

static Wide widen_load(Widen *w, const LoOp *op)
{
    Lo *lo = &w->lo;
    Wide out = vectors_of(w, op), pointer = widen_of(w, op->args[0]);
    LoType type = widened(w, op->type);
    bool contiguous = is_contiguous(&pointer, op->type);
    FOR_COPIES (u, w) {
        LoValue at = contiguous ? first_of_copy(w, &pointer, u) : widen_vector(w, &pointer, u);
        LoValue mask = access_mask(w, op, 1, u, contiguous && !w->inner && is_scratch(op->args[0]));
        out.vectors[u] =
            mask ? lo_masked_load(lo, type, at, mask, op->align) : lo_load(lo, type, at, op->align);
        lo_reads(out.vectors[u], op->memory);
    }
    return out;
}

static void widen_store(Widen *w, const LoOp *op)
{
    Lo *lo = &w->lo;
    Wide value = widen_of(w, op->args[0]), pointer = widen_of(w, op->args[1]);
    bool contiguous = is_contiguous(&pointer, op->args[0]->type);
    assert(pointer.kind != WIDE_UNIFORM && "turns that store to one place depend on each other");
    FOR_COPIES (u, w) {
        LoValue at = contiguous ? first_of_copy(w, &pointer, u) : widen_vector(w, &pointer, u);
        LoValue mask = access_mask(w, op, 2, u, contiguous && !w->inner && is_scratch(op->args[1]));
        LoValue x = widen_vector(w, &value, u);
        if (mask)
            lo_masked_store(lo, x, at, mask, op->align);
        else
            lo_store(lo, x, at, op->align);
    }
}

/* ---- sums ---- */

static void widen_accumulate(Widen *w, const LoOp *op)
{
    Lo *lo = &w->lo;
    Wide x = widen_of(w, op->args[1]), accumulator = widen_of(w, op->args[0]);
    bool inside = widen_is_inside(w, op->args[0]);
    FOR_COPIES (u, w) {
        int part = inside ? u : accumulator.vectors[w->part + u] ? w->part + u : 0;
        LoValue to =
            accumulator.kind == WIDE_VECTOR ? accumulator.vectors[part] : accumulator.scalar;
        LoValue term = widen_vector(w, &x, u);
        bool is_lanes_own = accumulator.kind == WIDE_VECTOR && inside && !w->inner;
        if (w->mask[u] && !is_lanes_own)
            term = lo_select(lo, w->mask[u], term,
                             lo_identity(lo, lo_join_of(op->args[0]), term->type));
        lo_accumulate(lo, to, term);
    }
}

/* ---- ops ---- */

static bool is_uniform(const Widen *w, const LoOp *op)
{
    for (int i = 0; i < op->n_args; i++)
        if (widen_of(w, op->args[i]).kind != WIDE_UNIFORM)
            return false;
    return op->kind != LO_accumulator && op->kind != LO_accumulate;
}

static LoValue copy_op(Widen *w, const LoOp *op, LoType type, LoValue *args)
{
    LoOp copy = *op;
    copy.type = type;
    return lo_append(&w->lo, copy, op->n_args, args);
}

static Wide copy_uniform(Widen *w, const LoOp *op)
{
    LoValue args[LO_MAX_LANES];
    assert(op->n_args <= LO_MAX_LANES);
    for (int i = 0; i < op->n_args; i++)
        args[i] = widen_of(w, op->args[i]).scalar;
    return widen_uniform(copy_op(w, op, op->type, args));
}

/* An op of lanes. */
static Wide widen_lanes(Widen *w, const LoOp *op)
{
    Wide out = vectors_of(w, op), x[3];
    assert(op->n_args <= 3);
    for (int i = 0; i < op->n_args; i++)
        x[i] = widen_of(w, op->args[i]);
    FOR_COPIES (u, w) {
        LoValue args[3];
        for (int i = 0; i < op->n_args; i++)
            args[i] = widen_vector(w, &x[i], u);
        out.vectors[u] = copy_op(w, op, widened(w, op->type), args);
    }
    return out;
}

static Wide widen_value(Widen *w, const LoOp *op)
{
    Wide out, a = op->n_args > 0 ? widen_of(w, op->args[0]) : (Wide){0};
    Wide b = op->n_args > 1 ? widen_of(w, op->args[1]) : (Wide){0};
    if (is_uniform(w, op))
        return copy_uniform(w, op);
    if (op->kind == LO_at)
        return widen_at(w, op, &a, &b);
    if (op->kind == LO_load)
        return widen_load(w, op);
    if (op->kind == LO_trunc && a.kind == WIDE_LINEAR)
        return linear(lo_trunc(&w->lo, a.scalar, op->type), lo_trunc(&w->lo, a.step, op->type));
    if (op->n_args == 2 && widen_index(w, op, &a, &b, &out))
        return out;
    return widen_lanes(w, op);
}

/* An address of every vector, not of every lane; of addresses that lie anyhow none. */
static void widen_prefetch(Widen *w, const LoOp *op)
{
    Wide pointer = widen_of(w, op->args[0]);
    FOR_COPIES (u, w) {
        bool scattered = w->lanes > 1 && pointer.kind == WIDE_VECTOR;
        LoValue at = scattered                     ? NULL
                     : pointer.kind == WIDE_VECTOR ? pointer.vectors[u]
                                                   : first_of_copy(w, &pointer, u);
        if (at)
            copy_op(w, op, lo_none, &at);
    }
}

void widen_op(Widen *w, const LoOp *op)
{
    w->lo.origin = op->origin;
    switch (op->kind) {
    case LO_store: widen_store(w, op); break;
    case LO_accumulate: widen_accumulate(w, op); break;
    default:
        if (op->type != lo_none) {
            /* one for all copies */
            bool written = w->from > 0 && w->values[op->id].kind != WIDE_VECTOR;
            if (!written)
                w->values[op->id] = widen_value(w, op);
        } else if (is_uniform(w, op)) {
            copy_uniform(w, op);
        } else {
            widen_prefetch(w, op);
        }
    }
}
