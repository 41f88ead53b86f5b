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

#include <stdlib.h>
#include <string.h>

bool pass_fuse_columns(Function *function, PassContext *context);

/* What is known of an op. Stored: comes from, or goes to, an op no row region holds.
 * Likely stored: read by a row op that also depends on a later product or the like,
 * as what the backward reads of the forward. */
typedef struct Mark {
    OpPlace place;
    int level; /* ops that no row region holds on the longest path to it */
    Presence presence;
    bool fused; /* of a reduction: a region has it */
} Mark;

typedef VEC(Op *) OpList;

/* The reductions of a value, and those of what an op makes of it; some may be so no more. */
typedef struct Readers {
    OpList at_once, near;
} Readers;

typedef struct ColumnCandidate {
    int position;
    Op *op;
} ColumnCandidate;

typedef struct ColumnGroup {
    Function *function;
    PassContext *context;
    Arena *arena;
    Needs needs;       /* its marks: op → Mark */
    SideTable readers; /* value → its Readers */
    SideTable copies;  /* for build_region */
    OpList reductions; /* in order */
    VEC(ColumnCandidate) candidates;
} ColumnGroup;

static Mark *mark_of(const ColumnGroup *c, const Op *op) { return side_of_op(&c->needs.marks, op); }

static Presence presence(const Value *value, void *context)
{
    return mark_of(context, value->op)->presence;
}

static void mark_op(ColumnGroup *c, const Op *op, int position)
{
    const Module *module = c->function->module;
    bool row = is_row_op(module, op) || is_generator(op);
    int level = 0;
    for (int i = 0; i < op->n_args; i++)
        if (mark_of(c, op->args[i]->op)->level > level)
            level = mark_of(c, op->args[i]->op)->level;
    for (int i = 0; i < op->n_args; i++) {
        Mark *mark = mark_of(c, op->args[i]->op);
        if ((!row && !is_column_reduction(module, op)) || reads_elsewhere(op, i))
            mark->presence = STORED;
        else if (level > mark->level && mark->presence == NOT_STORED &&
                 op_family(op) != FAMILY_reduce)
            mark->presence = LIKELY_STORED;
    }
    Mark *mark = ARENA_NEW(c->arena, Mark);
    *mark = (Mark){{position, 0}, level + !row, .presence = row ? NOT_STORED : STORED};
    side_set_op(&c->needs.marks, op, mark);
}

/* Adds the op and, before it, the ops above it that are worth computing again. */
static void take_in(Arena *arena, Recompute *r, Members *members, Op *op, bool root)
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
        if (deeper && !reads_elsewhere(op, i))
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

enum { MOST_REDUCTIONS = 5 }; /* as of a convolution of 4 taps and its bias */

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
static Miss why_apart(ColumnGroup *c, const Op *op, int n, Op *const *group)
{
    if (!type_same_shape(&group[0]->args[0]->type, &op->args[0]->type))
        return MISS_COLUMN_ROWS;
    if (!same_columns(group[0], op))
        return MISS_COLUMN_AXES;
    if (n == MOST_REDUCTIONS)
        return MISS_COLUMN_MANY;
    for (int i = 0; i < n; i++) /* the earlier one by way of a region may need the later one, too */
        if (needs_op(&c->needs, op, group[i]) || needs_op(&c->needs, group[i], op))
            return MISS_COLUMN_CHAIN;
    return MISS_NONE;
}

/* ---- who reads what ---- */

static Readers *readers_of(ColumnGroup *c, const Value *value)
{
    if (!side_of_value(&c->readers, value))
        side_set_value(&c->readers, value, ARENA_NEW(c->arena, Readers));
    return side_of_value(&c->readers, value);
}

static void add_near(ColumnGroup *c, Op *reduction)
{
    const Op *above = reduction->args[0]->op;
    for (int i = 0; i < above->n_args; i++)
        vec_push(c->arena, readers_of(c, above->args[i])->near, reduction);
}

static void add_reduction(ColumnGroup *c, Op *op)
{
    vec_push(c->arena, c->reductions, op);
    vec_push(c->arena, readers_of(c, op->args[0])->at_once, op);
    add_near(c, op);
}

/* What read `from` reads a result of the region now. */
static void move_readers(ColumnGroup *c, const Value *from, const Value *to)
{
    Readers *readers = readers_of(c, from);
    side_set_value(&c->readers, to, readers);
    for (size_t i = 0; i < readers->at_once.count; i++)
        add_near(c, readers->at_once.data[i]);
}

/* Those of the list behind `first` become candidates; the others are asked for no more. */
static void add_candidates(ColumnGroup *c, const Op *first, OpList *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        Op *op = list->data[i];
        const Mark *mark = mark_of(c, op);
        if (mark->fused || mark->place.position <= mark_of(c, first)->place.position)
            continue;
        list->data[kept++] = op;
        vec_push(c->arena, c->candidates, ((ColumnCandidate){mark->place.position, op}));
    }
    list->count = kept;
}

static int compare_candidates(const void *a, const void *b)
{
    const ColumnCandidate *x = a, *y = b;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* The reductions behind `first` that may share what it reads (share_reads), in order; some come
 * twice. */
static void find_candidates(ColumnGroup *c, const Op *first)
{
    const Op *above = first->args[0]->op;
    c->candidates.count = 0;
    add_candidates(c, first, &readers_of(c, first->args[0])->at_once);
    add_candidates(c, first, &readers_of(c, first->args[0])->near);
    for (int i = 0; i < above->n_args; i++) {
        add_candidates(c, first, &readers_of(c, above->args[i])->at_once);
        if (!is_generator(above->args[i]->op))
            add_candidates(c, first, &readers_of(c, above->args[i])->near);
    }
    if (c->candidates.count)
        qsort(c->candidates.data, c->candidates.count, sizeof *c->candidates.data,
              compare_candidates);
}

/* ---- groups ---- */

/* The reductions that join `first`: same rows, sharing something they read, and
 * not depending on one another. */
static int gather_group(ColumnGroup *c, Op *first, Op **group)
{
    int n = 0;
    const Op *last = group[n++] = first;
    find_candidates(c, first);
    for (size_t i = 0; i < c->candidates.count; i++) {
        Op *op = c->candidates.data[i].op;
        if (op == last || !share_reads(first, op))
            continue;
        last = op;
        Miss why = why_apart(c, op, n, group);
        if (why == MISS_NONE)
            group[n++] = op;
        else
            report_miss(c->context->report, op, why, "%s with %s", op_info[op->kind].name,
                        op_info[first->kind].name);
    }
    return n;
}

static void fuse_group(ColumnGroup *c, int n, Op **group)
{
    Recompute r = {.module = c->function->module,
                   .space = &group[0]->args[0]->type,
                   .presence = presence,
                   .context = c};
    Members members = {0};
    Value *outputs[MOST_REDUCTIONS];
    for (int i = 0; i < n; i++) {
        take_in(c->arena, &r, &members, group[i], true);
        outputs[i] = op_result(group[i]);
    }
    Op *region =
        build_region(c->function, OP_column, &members, n, outputs, group[n - 1], &c->copies);
    mark_op(c, region, mark_of(c, group[n - 1])->place.position);
    if (c->context->report && members.ops.count > 1)
        report_op(c->context->report, region, "column: %s", describe_members(&members, c->arena));
    for (int i = 0; i < n; i++) {
        value_replace(outputs[i], &region->results[i]);
        move_readers(c, outputs[i], &region->results[i]);
        mark_of(c, group[i])->fused = true;
        block_remove(&c->function->body, group[i]);
    }
}

bool pass_fuse_columns(Function *function, PassContext *context)
{
    Arena *arena = function->module->arena;
    ColumnGroup c = {.function = function,
                     .context = context,
                     .arena = arena,
                     .needs = {.marks = side_new(arena)},
                     .readers = side_new(arena),
                     .copies = side_new(arena)};
    int position = 0;
    FOR_OPS (op, &function->body) {
        mark_op(&c, op, position++);
        if (is_column_reduction(function->module, op))
            add_reduction(&c, op);
    }
    c.needs.reach = reach_new(arena, position);
    for (size_t i = 0; i < c.reductions.count; i++) {
        Op *group[MOST_REDUCTIONS], *op = c.reductions.data[i];
        if (mark_of(&c, op)->fused)
            continue;
        int n = gather_group(&c, op, group);
        if (n > 1)
            reach_join(&c.needs.reach, mark_of(&c, group[0])->place.position,
                       mark_of(&c, group[n - 1])->place.position);
        fuse_group(&c, n, group);
    }
    remove_dead(function);
    order_ops(function); /* a user of a group's first may stand before its region */
    return true;
}
