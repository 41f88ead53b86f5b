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

/* Value.scratch: a Mark. Stored: comes from, or goes to, an op no row region
 * holds. Likely stored: read by a row op that also depends on a later product or
 * the like, as what the backward reads of the forward. */
typedef struct Mark {
    int level; /* ops that no row region holds on the longest path to it */
    Presence presence;
} Mark;

static Presence presence(const Value *value, void *context)
{
    return ((Mark *)value->scratch)->presence;
}

static bool row_like(const Module *module, const Op *op)
{
    return is_row_op(module, op) || is_generator(op);
}

static void mark_presence(Function *function)
{
    const Module *module = function->module;
    FOR_OPS(op, &function->body) {
        bool row = row_like(module, op);
        int level = 0;
        for (int i = 0; i < op->n_args; i++) {
            Mark *mark = op->args[i]->scratch;
            level = mark->level > level ? mark->level : level;
        }
        for (int i = 0; i < op->n_args; i++) {
            Mark *mark = op->args[i]->scratch;
            if (!row && !is_column_reduction(module, op))
                mark->presence = STORED;
            else if (level > mark->level && mark->presence == NOT_STORED && op_family(op) != FAMILY_reduce)
                mark->presence = LIKELY_STORED;
        }
        for (int i = 0; i < op->n_results; i++) {
            Mark *mark = op->results[i].scratch = ARENA_NEW(module->arena, Mark);
            *mark = (Mark){level + !row, row ? NOT_STORED : STORED};
        }
    }
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

static Op *next_reduction(const Function *function)
{
    FOR_OPS(op, &function->body)
        if (is_column_reduction(function->module, op))
            return op;
    return NULL;
}

static void fuse_group(Function *function, PassContext *context, int n, Op **group)
{
    Arena *arena = function->module->arena;
    mark_presence(function);
    Recompute r = {.module = function->module, .space = &group[0]->args[0]->type, .presence = presence};
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
        function_replace_uses(function, outputs[i], &region->results[i]);
        block_remove(&function->body, group[i]);
    }
    order_ops(function); /* a user of the first may stand before the last */
}

bool pass_fuse_columns(Function *function, PassContext *context)
{
    uintptr_t mark = 0;
    FOR_OPS(op, &function->body)
        op->scratch = NULL;
    for (Op *op; (op = next_reduction(function));) {
        Op *group[MOST_REDUCTIONS];
        int n = gather_group(function, op, group, &mark);
        fuse_group(function, context, n, group);
    }
    remove_dead(function);
    return true;
}
