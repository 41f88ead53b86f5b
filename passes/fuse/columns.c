/* fuse_columns: reductions over rows take in the cheap elementwise ops above
 * them, and those over the same rows and columns become one region.
 *
 *   %3 = mul %dy, %1 : f32[B, S~, 512]               %5, %6 = column(%dy, %1) {
 *   %5 = reduce_sum %3 {axes = [0, 1]}          ⇒      %3 = mul %dy, %1
 *   %6 = reduce_sum %dy {axes = [0, 1]}                reduce_sum %3 …; reduce_sum %dy … }
 *
 * The ops taken in are copies; where nobody else uses the original it is dead.
 * What is read and what computed again is chosen by cost (fuse.h). */
#include "passes/clone.h"
#include "passes/fuse/fuse.h"

#include <stdint.h>
#include <string.h>

bool pass_fuse_columns(Function *function, PassContext *context);

/* A value lies in memory anyway if it comes from, or goes to, an op no row
 * region holds. Marked in scratch by mark_in_memory. */
static bool in_memory(const Value *value, void *context) { return value->scratch != NULL; }

static void mark_in_memory(Function *function)
{
    const Module *module = function->module;
    FOR_OPS(op, &function->body)
        for (int i = 0; i < op->n_results; i++)
            op->results[i].scratch = is_row_op(module, op) || is_generator(op) ? NULL : op;
    FOR_OPS(op, &function->body)
        for (int i = 0; i < op->n_args; i++)
            if (!is_row_op(module, op) && !is_column_reduction(module, op))
                op->args[i]->scratch = op;
}

/* Adds the op and, before it, the ops above it that are worth computing again. */
static void take_in(Arena *arena, const Recompute *r, Members *members, Op *op, bool root)
{
    bool again = root, deeper;
    if (!root)
        recompute_cost(r, op_result(op), 0, &again);
    if (!again)
        return;
    for (size_t i = 0; i < members->ops.count; i++)
        if (members->ops.data[i] == op)
            return;
    for (int i = 0; i < op->n_args; i++) {
        recompute_cost(r, op->args[i], 0, &deeper);
        if (deeper)
            take_in(arena, r, members, op->args[i]->op, false);
    }
    vec_push(arena, members->ops, op);
}

static bool same_columns(const Op *a, const Op *b)
{
    const Attr *x = op_attr(a, ATTR_axes), *y = op_attr(b, ATTR_axes);
    return type_same_shape(&a->args[0]->type, &b->args[0]->type) && x->n == y->n &&
           !memcmp(x->ints, y->ints, sizeof(int) * (size_t)x->n);
}

/* Whether `op` or anything above it is `source`; `mark` is new for each question. */
static bool depends_on(Op *op, const Op *source, uintptr_t mark)
{
    if (op == source)
        return true;
    if ((uintptr_t)op->scratch == mark)
        return false;
    op->scratch = (void *)mark;
    for (int i = 0; i < op->n_args; i++)
        if (depends_on(op->args[i]->op, source, mark))
            return true;
    return false;
}

enum { MOST_REDUCTIONS = 4 };

/* The reductions that join `first`: same rows, sharing something they read, and
 * not depending on one another. */
static int gather_group(Function *function, Op *first, Op **group, uintptr_t *mark)
{
    int n = 0;
    group[n++] = first;
    for (Op *op = first->next; op && n < MOST_REDUCTIONS; op = op->next) {
        if (!is_column_reduction(function->module, op) || !same_columns(first, op))
            continue;
        bool shares = op->args[0] == first->args[0], independent = true;
        for (int i = 0; i < op->args[0]->op->n_args; i++)
            shares |= op->args[0]->op->args[i] == first->args[0];
        for (int i = 0; i < first->args[0]->op->n_args; i++) {
            shares |= first->args[0]->op->args[i] == op->args[0];
            for (int j = 0; j < op->args[0]->op->n_args; j++)
                shares |= first->args[0]->op->args[i] == op->args[0]->op->args[j];
        }
        for (int i = 0; shares && independent && i < n; i++)
            independent = !depends_on(op, group[i], ++*mark);
        if (shares && independent)
            group[n++] = op;
    }
    return n;
}

bool pass_fuse_columns(Function *function, PassContext *context)
{
    Module *module = function->module;
    Arena *arena = module->arena;
    FOR_OPS(op, &function->body)
        op->scratch = NULL;
    uintptr_t mark = 0;
    for (Op *op = function->body.first, *next; op; op = next) {
        next = op->next;
        if (!is_column_reduction(module, op))
            continue;
        Op *group[MOST_REDUCTIONS];
        int n = gather_group(function, op, group, &mark);
        mark_in_memory(function);
        Recompute r = {.module = module, .space = &op->args[0]->type, .in_memory = in_memory};
        Members members = {0};
        Value *outputs[MOST_REDUCTIONS];
        for (int i = 0; i < n; i++) {
            take_in(arena, &r, &members, group[i], true);
            outputs[i] = op_result(group[i]);
        }
        Op *region = build_region(function, OP_column, &members, n, outputs, group[n - 1]);
        if (context->report && members.ops.count > 1)
            report_line(context->report, "column: %s", describe_members(&members, arena));
        for (int i = 0; i < n; i++) {
            function_replace_uses(function, op_result(group[i]), &region->results[i]);
            if (group[i] == next)
                next = next->next;
            block_remove(&function->body, group[i]);
        }
    }
    order_ops(function);
    remove_dead(function);
    return true;
}
