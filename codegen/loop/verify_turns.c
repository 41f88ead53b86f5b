/* Rules of loops whose turns become vectors, or go side by side (LoVector): what jam and vectorise
 * cannot do is refused here; see verify.h. */
#include "codegen/loop/build.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/verify.h"

typedef struct Turns {
    LoVerifier *v;
    bool *varies; /* see lo_mark_varying */
    int lanes, copies;
} Turns;

static bool differs(const Turns *t, const LoOp *x)
{
    return !lo_is_constant(x) && x->kind != LO_param && t->varies[x->id];
}

static bool any_differs(const Turns *t, const LoOp *op)
{
    for (int i = 0; i < op->n_args; i++)
        if (differs(t, op->args[i]))
            return true;
    return false;
}

static bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

static bool check_while(const Turns *t, const LoOp *op)
{
    int n = op->n_args - 1, carried = 0;
    if (differs(t, op->args[n - 1]) || differs(t, op->args[n]))
        return lo_broken(t->v, op,
                         "in a loop that becomes vectors it has as many turns for all lanes");
    for (int i = 0; i < n; i++)
        carried += differs(t, op->args[i]) ? t->copies : 1;
    return carried <= LO_MAX_CARRIED ||
           lo_broken(t->v, op, "as vectors it carries %d values, more than %d", carried,
                     LO_MAX_CARRIED);
}

/* Sums of floats depend on their order: vectors add to as many partial sums as the builder says. */
static bool has_parts(const Turns *t, const LoOp *op)
{
    const LoOp *accumulator = op->args[0];
    if (lo_join_of(accumulator) == LO_JOIN_MAX || !lo_is_float(accumulator->type))
        return true;
    return accumulator->parts == t->lanes * t->copies ||
           lo_broken(t->v, op, "%d lanes add floats to an accumulator of %d partial sums",
                     t->lanes * t->copies, accumulator->parts);
}

static bool check_accumulate(const Turns *t, const LoOp *op)
{
    const LoOp *accumulator = op->args[0];
    if (!differs(t, accumulator) && t->lanes > 1 && !has_parts(t, op))
        return false;
    return differs(t, accumulator) || t->lanes == 1 || lo_is_constant(accumulator->args[0]) ||
           lo_broken(t->v, op, "what lanes are joined to begins with a constant");
}

static bool check_op(const Turns *t, const LoOp *op)
{
    bool any = any_differs(t, op);
    if (op->type != lo_none && op->kind != LO_for)
        return !any || t->lanes == 1 || !lo_is_vector(op->type) ||
               lo_broken(t->v, op, "in a loop that becomes vectors it is a scalar");
    switch (op->kind) {
    case LO_for:
        return !any ||
               lo_broken(t->v, op,
                         "in a loop that becomes vectors its bounds are the same for all lanes");
    case LO_while: return check_while(t, op);
    case LO_if:
        return !any || !op->other || lo_broken(t->v, op, "it has no else where lanes differ");
    case LO_store:
        return differs(t, op->args[1]) ||
               lo_broken(t->v, op, "turns that store to one place are not independent");
    case LO_accumulate: return check_accumulate(t, op);
    case LO_prefetch:
    case LO_prefetch_write:
    case LO_next: return true;
    default:
        return !any ||
               lo_broken(t->v, op,
                         "in a loop that becomes vectors its operands are the same for all lanes");
    }
}

static bool check_block(Turns t, const LoBlock *block)
{
    bool fits = true;
    FOR_LOOP_OPS (op, block) {
        Turns inner = t;
        fits &= check_op(&t, op);
        if (op->kind == LO_for && op->vector.jam) {
            lo_mark_varying(op, t.varies);
            inner.copies *= op->vector.jam;
        }
        if (op->body)
            fits &= check_block(inner, op->body);
        if (op->other)
            fits &= check_block(inner, op->other);
    }
    return fits;
}

static bool check_vector(LoVerifier *v, const LoOp *loop)
{
    LoVector vector = loop->vector;
    if (!is_power_of_two(vector.lanes))
        return lo_broken(v, loop, "lanes are a power of two, not %d", vector.lanes);
    return vector.lanes == 1 || vector.whole || is_power_of_two(vector.jam) ||
           lo_broken(v, loop,
                     "vectors that go together are a power of two where one may be partial, not %d",
                     vector.jam);
}

void lo_verify_turns(LoVerifier *v, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        if (op->kind == LO_for && op->vector.lanes && check_vector(v, op)) {
            bool *varies = ARENA_ARRAY(v->arena, bool, v->function->n_ids + 1);
            lo_mark_varying(op, varies);
            check_block((Turns){v, varies, op->vector.lanes, op->vector.jam ? op->vector.jam : 1},
                        op->body);
        }
        if (op->body)
            lo_verify_turns(v, op->body);
        if (op->other)
            lo_verify_turns(v, op->other);
    }
}
