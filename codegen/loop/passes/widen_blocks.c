/* Writes the blocks of a loop for several turns at once: loops, ifs, and which copies are written
 * when; see widen.c.
 *
 * Vectors of a loop are written side by side, op by op. With one lane (pass jam) a run of ops that
 * differ between copies is written copy by copy, so that what a copy needs stands close to its
 * use. */
#include "codegen/loop/passes/widen.h"

#include <assert.h>

Widen widen_start(LoModule *module, LoOp *loop, Wide *values, bool *varies, int lanes)
{
    Widen w = {.loop = loop, .values = values, .varies = varies, .lanes = lanes};
    lo_reopen(&w.lo, module, loop->block->function, loop);
    lo_mark_varying(loop, varies);
    return w;
}

bool widen_is_inside(const Widen *w, const LoOp *op)
{
    for (const LoBlock *b = op->block; b; b = b->parent ? b->parent->block : NULL)
        if (b->parent == w->loop)
            return true;
    return false;
}

/* ---- loops of the body ---- */

static void widen_block(Widen *w, const LoBlock *block);

static void widen_for(Widen *w, const LoOp *op)
{
    Wide start = widen_of(w, op->args[0]), end = widen_of(w, op->args[1]);
    assert(start.kind == WIDE_UNIFORM && end.kind == WIDE_UNIFORM);
    LoLoop loop = lo_for_open(&w->lo, start.scalar, end.scalar, op->number, op->name);
    loop.index->vector = op->vector;
    w->values[op->id] = widen_uniform(loop.index);
    widen_block(w, op->body);
    lo_for_close(&w->lo, &loop);
}

/* What is carried, as it is before the loop or at the end of a turn: `x` lists it. A value that
 * varies has a copy of each vector. Gives how many there are. */
static int list_carried(Widen *w, const LoOp *loop, LoOp *const *x, LoValue *list)
{
    int n = 0;
    for (int i = 0; i < loop->n_args - 1; i++) {
        Wide value = widen_of(w, x[i]);
        bool varies = w->varies[loop->args[i]->id];
        for (int u = 0; u < (varies ? w->copies : 1); u++) {
            assert(n < LO_MAX_CARRIED && (varies || value.kind == WIDE_UNIFORM));
            list[n++] = varies ? widen_vector(w, &value, u) : value.scalar;
        }
    }
    return n;
}

static void widen_while(Widen *w, const LoOp *op)
{
    LoValue first[LO_MAX_CARRIED], state[LO_MAX_CARRIED];
    LoWhile loop = {.n = 0};
    int n_args = op->n_args - 1, k = 0;
    for (int i = 0; i < n_args; i++)
        first[i] = op->args[i]->args[0];
    int n = list_carried(w, op, first, state);
    for (int i = 0; i < n - 1; i++)
        loop.values[loop.n++] = &state[i];
    assert(!w->varies[op->args[n_args - 1]->id]);
    lo_while_open(&w->lo, &loop, &state[n - 1], widen_of(w, op->args[n_args]).scalar);
    loop.op->name = op->name;
    loop.op->unroll = op->unroll;
    for (int i = 0; i < n_args; i++) {
        Wide *carry = &w->values[op->args[i]->id];
        if (w->varies[op->args[i]->id]) {
            carry->kind = WIDE_VECTOR;
            for (int u = 0; u < w->copies; u++)
                carry->vectors[u] = loop.carries[k++];
        } else {
            *carry = widen_uniform(loop.carries[k++]);
        }
    }
    widen_block(w, op->body);
    list_carried(w, op, op->body->last->args, state);
    lo_while_close(&w->lo, &loop);
}

/* ---- ifs ---- */

/* Of a condition that differs between lanes it is the mask that does it. */
static void widen_if(Widen *w, const LoOp *op)
{
    Wide condition = widen_of(w, op->args[0]);
    LoValue before[LO_MAX_JAM];
    if (condition.kind == WIDE_UNIFORM) {
        LoIf branch = lo_if_open(&w->lo, condition.scalar);
        widen_block(w, op->body);
        if (op->other) {
            lo_else(&w->lo, &branch);
            widen_block(w, op->other);
        }
        lo_if_close(&w->lo, &branch);
        return;
    }
    bool inner = w->inner;
    assert(!op->other);
    w->inner = true;
    for (int u = 0; u < w->copies; u++) {
        before[u] = w->mask[u];
        w->mask[u] = widen_both(w, before[u], widen_vector(w, &condition, u));
    }
    widen_block(w, op->body);
    for (int u = 0; u < w->copies; u++)
        w->mask[u] = before[u];
    w->inner = inner;
}

/* ---- blocks ---- */

static bool varies(const Widen *w, const LoOp *op)
{
    bool result = op->type != lo_none && w->varies[op->id];
    for (int i = 0; i < op->n_args && !result; i++)
        result = !lo_is_constant(op->args[i]) && op->args[i]->kind != LO_param &&
                 w->varies[op->args[i]->id];
    return result;
}

/* Straight ops from this one on that differ between copies: the op after the last of them. */
static const LoOp *end_of_run(const Widen *w, const LoOp *op)
{
    while (op && !op->body && op->kind != LO_carry && op->kind != LO_next && varies(w, op))
        op = op->after;
    return op;
}

/* A copy after the other. */
static void widen_run(Widen *w, const LoOp *first, const LoOp *end)
{
    for (int u = 0; u < w->copies; u++) {
        w->from = u;
        w->to = u + 1;
        for (const LoOp *op = first; op != end; op = op->after)
            widen_op(w, op);
    }
    w->from = 0;
    w->to = w->copies;
}

static void widen_block(Widen *w, const LoBlock *block)
{
    for (const LoOp *op = block->first, *after; op; op = after) {
        const LoOp *end = w->lanes == 1 ? end_of_run(w, op) : op;
        after = end == op ? op->after : end;
        w->lo.origin = op->origin;
        if (end != op) {
            widen_run(w, op, end);
            continue;
        }
        switch (op->kind) {
        case LO_for: widen_for(w, op); break;
        case LO_while: widen_while(w, op); break;
        case LO_if: widen_if(w, op); break;
        case LO_carry:
        case LO_next:
        case LO_seam: break; /* carries are their while's */
        default: widen_op(w, op);
        }
    }
}

/* ---- the loop ---- */

void widen_body(Widen *w, LoValue index)
{
    const LoOp *loop = w->loop;
    w->values[loop->id] =
        (Wide){.kind = WIDE_LINEAR, .scalar = index, .step = lo_i64_of(&w->lo, 1)};
    w->from = 0;
    w->to = w->copies;
    widen_block(w, loop->body);
    w->lo.origin = loop->origin;
    w->values[loop->id] = (Wide){0};
}

static bool is_one_turn(LoValue start, LoValue end, int turn)
{
    return lo_is_int(start) && lo_is_int(end) && end->number - start->number == turn;
}

void widen_turns(Widen *w, LoValue start, LoValue end, int copies, bool partial)
{
    Lo *lo = &w->lo;
    w->copies = copies;
    for (int u = 0; u < copies; u++)
        w->mask[u] = NULL;
    if (!partial && is_one_turn(start, end, copies * w->lanes)) {
        widen_body(w, start);
        return;
    }
    LoLoop wide = lo_for_open(lo, start, end, (int64_t)copies * w->lanes, w->loop->name);
    if (partial)
        w->mask[0] = lo_lanes_below(lo, lo_isub(lo, end, wide.index), 0, w->lanes);
    widen_body(w, wide.index);
    lo_for_close(lo, &wide);
}
