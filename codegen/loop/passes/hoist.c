/* Pass hoist: what does not change in a loop goes before it (loop-invariant code motion).
 *
 *   for i64 %5 = … {                     f32 %8 = load fixed %3
 *     f32 %8 = load fixed %3             f32x16 %9 = splat %8
 *     f32x16 %9 = splat %8         →     for i64 %5 = … {
 *     f32x16 %10 = mul %7, %9              f32x16 %10 = mul %7, %9
 *     …                                    …
 *
 * An op goes before the outermost loop around it in which none of its operands changes. On its way
 * it may leave an `if`, when it is pure, or a load of memory that may be read in any case. If the
 * loop has no turns, the op is executed for nothing. Loads leave a `for` if their memory is fixed
 * (LoMemory). */
#include "codegen/loop/passes/passes.h"

static bool stands_in(const LoOp *x, const LoBlock *block)
{
    for (const LoBlock *b = x->block; b; b = b->parent ? b->parent->block : NULL)
        if (b == block)
            return true;
    return false;
}

/* Whether the value is of this loop: its index, or a variable that it changes. */
static bool is_of(const LoOp *x, const LoOp *loop)
{
    for (int i = 0; loop->kind == LO_while && i + 1 < loop->n_args; i++)
        if (x == loop->args[i])
            return true;
    return x == loop;
}

static bool depends_on(const LoOp *op, const LoOp *around)
{
    for (int i = 0; i < op->n_args; i++)
        if (is_of(op->args[i], around) || stands_in(op->args[i], around->body) ||
            (around->other && stands_in(op->args[i], around->other)))
            return true;
    return false;
}

/* Whether the op may be executed before this one although it stands in it. */
static bool may_leave(const LoOp *op, const LoOp *around)
{
    bool allowed = lo_is_pure(op) || (op->kind == LO_load && op->memory == LO_GIVEN) ||
                   (op->kind == LO_load && op->memory == LO_FIXED && around->kind == LO_for);
    return allowed && !depends_on(op, around);
}

static void hoist_op(LoOp *op)
{
    LoOp *target = NULL;
    for (LoOp *around = op->block->parent; around && may_leave(op, around);
         around = around->block->parent)
        if (around->kind != LO_if)
            target = around;
    if (!target)
        return;
    lo_remove(op);
    lo_insert(op, target->block, target);
}

static void hoist_block(LoBlock *block)
{
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        hoist_op(op);
        if (op->body)
            hoist_block(op->body);
        if (op->other)
            hoist_block(op->other);
    }
}

void lo_hoist(LoModule *module, const CodeTarget *target)
{
    (void)target;
    for (size_t i = 0; i < module->functions.count; i++)
        hoist_block(module->functions.data[i]->body);
}
