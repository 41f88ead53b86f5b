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

/* Op.scratch: a Mark. Stored: comes from, or goes to, an op no row region holds.
 * Likely stored: read by a row op that also depends on a later product or the like,
 * as what the backward reads of the forward. */
typedef struct Mark {
    int level; /* ops that no row region holds on the longest path to it */
    Presence presence;
    int position;      /* in the function as it came */
    uintptr_t visited; /* by the question of that number */
} Mark;

static Mark *mark_of(const Value *value) { return value->op->scratch; }

static Presence presence(const Value *value, void *context) { return mark_of(value)->presence; }

static void mark_op(const Module *module, Op *op)
{
    bool row = is_row_op(module, op) || is_generator(op);
    int level = 0;
    for (int i = 0; i < op->n_args; i++)
        if (mark_of(op->args[i])->level > level)
            level = mark_of(op->args[i])->level;
    for (int i = 0; i < op->n_args; i++) {
        Mark *mark = mark_of(op->args[i]);
        if (!row && !is_column_reduction(module, op))
            mark->presence = STORED;
        else if (level > mark->level && mark->presence == NOT_STORED && op_family(op) != FAMILY_reduce)
            mark->presence = LIKELY_STORED;
    }
    Mark *mark = op->scratch = ARENA_NEW(module->arena, Mark);
    *mark = (Mark){.level = level + !row, .presence = row ? NOT_STORED : STORED};
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

/* Questions of what depends on what; each has a number of its own. */
typedef struct Search {
    int *reach; /* fuse.h */
    uintptr_t question;
} Search;

/* Whether the op, or the region that it is in by now, or anything above is `source`. */
static bool depends_on(const Search *search, const Op *op, const Op *source)
{
    if (op == source)
        return true;
    if (op->n_results && op->results[0].moved_to)
        op = op->results[0].moved_to->op;
    Mark *mark = op->scratch;
    if (mark->visited == search->question ||
        search->reach[mark->position] < mark_of(&source->results[0])->position)
        return false;
    mark->visited = search->question;
    for (int i = 0; i < op->n_args; i++)
        if (depends_on(search, op->args[i]->op, source))
            return true;
    return false;
}

enum { MOST_REDUCTIONS = 4 };

/* Whether two reductions read the same value, or one op away from it. What every
 * region makes for itself (a zero of two layers' ReLUs) is nothing shared. */
static bool share_reads(const Op *a, const Op *b)
{
    const Op *above_a = a->args[0]->op, *above_b = b->args[0]->op;
    bool shares = a->args[0] == b->args[0];
    for (int i = 0; i < above_b->n_args; i++)
        shares |= above_b->args[i] == a->args[0];
    for (int i = 0; i < above_a->n_args; i++) {
        shares |= above_a->args[i] == b->args[0];
        for (int j = 0; j < above_b->n_args; j++)
            shares |= above_a->args[i] == above_b->args[j] && !is_generator(above_a->args[i]->op);
    }
    return shares;
}

/* MISS_NONE if `op`, which reads what `first` reads, may join the group. */
static Miss why_apart(const Op *op, int n, Op *const *group, Search *search)
{
    if (!type_same_shape(&group[0]->args[0]->type, &op->args[0]->type))
        return MISS_COLUMN_ROWS;
    if (!same_columns(group[0], op))
        return MISS_COLUMN_AXES;
    if (n == MOST_REDUCTIONS)
        return MISS_COLUMN_MANY;
    for (int i = 0; i < n; i++) {
        search->question++;
        if (depends_on(search, op, group[i]))
            return MISS_COLUMN_CHAIN;
        search->question++; /* the earlier one by way of a region may need the later one, too */
        if (depends_on(search, group[i], op))
            return MISS_COLUMN_CHAIN;
    }
    return MISS_NONE;
}

/* The reductions that join `first`: same rows, sharing something they read, and
 * not depending on one another. */
static int gather_group(Function *function, PassContext *context, Op *first, Op **group,
                        Search *search)
{
    int n = 0;
    group[n++] = first;
    for (Op *op = first->next; op; op = op->next) {
        if (!is_column_reduction(function->module, op) || !share_reads(first, op))
            continue;
        Miss why = why_apart(op, n, group, search);
        if (why == MISS_NONE)
            group[n++] = op;
        else
            report_miss(context->report, op, why, "%s with %s", op_info[op->kind].name,
                        op_info[first->kind].name);
    }
    return n;
}

static void fuse_group(Function *function, PassContext *context, int n, Op **group)
{
    Arena *arena = function->module->arena;
    Recompute r = {.module = function->module, .space = &group[0]->args[0]->type, .presence = presence};
    Members members = {0};
    Value *outputs[MOST_REDUCTIONS];
    for (int i = 0; i < n; i++) {
        take_in(arena, &r, &members, group[i], true);
        outputs[i] = op_result(group[i]);
    }
    Op *region = build_region(function, OP_column, &members, n, outputs, group[n - 1]);
    mark_op(function->module, region);
    mark_of(&region->results[0])->position = mark_of(outputs[n - 1])->position;
    if (context->report && members.ops.count > 1)
        report_op(context->report, region, "column: %s", describe_members(&members, arena));
    for (int i = 0; i < n; i++) {
        outputs[i]->moved_to = &region->results[i];
        block_remove(&function->body, group[i]);
    }
}

bool pass_fuse_columns(Function *function, PassContext *context)
{
    int position = 0;
    FOR_OPS(op, &function->body) {
        mark_op(function->module, op);
        ((Mark *)op->scratch)->position = position++;
    }
    Search search = {.reach = reach_new(function->module->arena, position)};
    for (Op *op = function->body.first, *next; op; op = next) {
        next = op->next;
        if (!is_column_reduction(function->module, op))
            continue;
        Op *group[MOST_REDUCTIONS];
        int n = gather_group(function, context, op, group, &search);
        for (int i = 1; i < n; i++)
            if (group[i] == next)
                next = next->next;
        if (n > 1)
            reach_join(search.reach, mark_of(op_result(group[0]))->position,
                       mark_of(op_result(group[n - 1]))->position);
        fuse_group(function, context, n, group);
    }
    function_settle(function);
    remove_dead(function);
    order_ops(function); /* a user of a group's first may stand before its region */
    return true;
}
