/* Facts about ops that passes need; see passes.h. */
#include "codegen/loop/passes/passes.h"

/* A quotient by what may be 0 must not be computed where it is not asked for. */
static bool may_trap(const LoOp *op)
{
    bool divides =
        op->kind == LO_div || op->kind == LO_rem || op->kind == LO_udiv || op->kind == LO_urem;
    return divides && !lo_is_float(op->type) && !lo_is_constant(op->args[1]);
}

bool lo_is_pure(const LoOp *op)
{
    switch (op->kind) {
    case LO_scratch:
    case LO_load:
    case LO_carry:
    case LO_for:
    case LO_accumulator:
    case LO_total: return false;
    default: return op->type != lo_none && !may_trap(op);
    }
}

void lo_resolve_args(LoOp *op)
{
    for (int i = 0; i < op->n_args; i++)
        while (op->args[i]->instead)
            op->args[i] = op->args[i]->instead;
}

/* Marks a value; gives whether it was not marked. */
static bool mark_value(const LoOp *x, bool *varies)
{
    bool is_new = !varies[x->id];
    varies[x->id] = true;
    return is_new;
}

static bool is_marked(const LoOp *x, const bool *varies)
{
    return !lo_is_constant(x) && x->kind != LO_param && varies[x->id];
}

/* Carries that the end of a turn changes so. */
static bool mark_carries(const LoOp *loop, bool *varies)
{
    bool some = false;
    for (int i = 0; i < loop->n_args - 1; i++)
        if (is_marked(loop->body->last->args[i], varies))
            some |= mark_value(loop->args[i], varies);
    return some;
}

static bool mark(const LoBlock *block, bool *varies)
{
    bool some = false;
    FOR_LOOP_OPS (op, block) {
        bool marks = op->kind == LO_accumulator;
        for (int i = 0; i < op->n_args; i++)
            marks |= is_marked(op->args[i], varies);
        if (marks && op->type != lo_none)
            some |= mark_value(op, varies);
        if (op->body)
            some |= mark(op->body, varies);
        if (op->other)
            some |= mark(op->other, varies);
        if (op->kind == LO_while)
            some |= mark_carries(op, varies);
    }
    return some;
}

void lo_mark_varying(const LoOp *loop, bool *varies)
{
    varies[loop->id] = true;
    while (mark(loop->body, varies)) {}
}
