/* fuse_rows: elementwise ops and row reductions over the same rows become one
 * region, read once and written once.
 *
 *   %2 = add %0, %bias : f32[B, S~, 2048]            %3 = row(%0, %bias) {
 *   %3 = relu %2                               ⇒       %2 = add %0, %bias
 *                                                      %3 = relu %2;  yield %3 }
 *
 * 1. Grouping: an op joins the groups of its operands where the rows are the same
 *    and no path between them leaves the group (that would make a cycle).
 * 2. Recomputing: a value that a group would have to store for another one (the
 *    forward for the backward, mostly) is computed again there when that costs
 *    less (fuse.h).
 * 3. Only what somebody outside needs is kept in a group and given by it.
 *
 * softmax(mask(scale · scores)), bias + ReLU, dropout + residual + LayerNorm,
 * GELU, the loss with its gradient and Adam are all instances of this. */
#include "passes/clone.h"
#include "passes/fuse/fuse.h"
#include "ir/infer.h"

#include <stdint.h>
#include <stdlib.h>

bool pass_fuse_rows(Function *function, PassContext *context);

enum { LARGEST_GROUP = 240, MOST_EDGES = 48 };

/* An op that a group holds: a member, or one computed again here. */
typedef struct Held {
    int index;
    bool live; /* needed here */
} Held;

/* What is known of one op. */
typedef struct Info {
    Op *op;
    int index;     /* position in the function */
    int group;     /* of a row op; -1 of others */
    Held held;     /* by its group */
    int visited;   /* by search number `visited` */
    bool in_memory;
} Info;

typedef struct Group {
    VEC(int) members;  /* indices; empty once merged into another */
    VEC(Held) again;
    Type space;
    int last;          /* greatest member index */
    VEC(Value *) outputs;
} Group;

typedef struct Rows {
    Function *function;
    PassContext *context;
    Arena *arena;
    Info *info;
    SideTable of_op; /* op → its Info */
    Group *groups;
    int *reach; /* fuse.h */
    int n, search;
} Rows;

static Info *info_of(const Rows *rows, const Value *value)
{
    return side_of_op(&rows->of_op, value->op);
}

/* The same rows: equal but for the last dimension, which one may have as 1 if it is columns.
 * (Of [B, T~] and [B, 1] it is rows: a sentence of no tokens has none that would store its one.) */
static bool same_rows(const Module *module, const Type *a, const Type *b, Type *space)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i + 1 < a->rank; i++)
        if (!dim_equal(a->dims[i], b->dims[i]))
            return false;
    if (!shape_broadcast(a, b, space) || type_same_shape(a, b))
        return type_same_shape(a, b);
    Layout layout = layout_of(module, space);
    const Axis *last = &layout.axes[layout.n - 1];
    return last->batch_dim < 0 && last->dim == space->rank - 1;
}

static void visit_all(Rows *rows)
{
    const Module *module = rows->function->module;
    FOR_OPS(op, &rows->function->body)
        rows->n++;
    rows->info = ARENA_ARRAY(rows->arena, Info, rows->n + 1);
    rows->groups = ARENA_ARRAY(rows->arena, Group, rows->n + 1);
    rows->reach = reach_new(rows->arena, rows->n);
    int index = 0;
    FOR_OPS(op, &rows->function->body) {
        Info *info = &rows->info[index];
        bool row = is_row_op(module, op);
        *info = (Info){.op = op, .index = index, .group = row ? index : -1, .held = {index, false}};
        side_set_op(&rows->of_op, op, info);
        if (row) {
            Group *group = &rows->groups[index];
            vec_push(rows->arena, group->members, index);
            group->space = *op_space(op);
            group->last = index;
        }
        index++;
    }
    /* In memory anyway: from or for an op that is no row op. */
    for (int i = 0; i < rows->n; i++) {
        Info *info = &rows->info[i];
        if (info->group >= 0)
            continue;
        info->in_memory |= !is_generator(info->op);
        for (int a = 0; a < info->op->n_args; a++)
            info_of(rows, info->op->args[a])->in_memory = true;
    }
}

/* Whether an op outside groups a and b, not before `first`, lies on a path from
 * one of them to the op at `index` (which is outside, too). A group of others is done as
 * one: it needs what any of its members needs. */
static bool reaches(Rows *rows, int index, int a, int b, int first)
{
    Info *info = &rows->info[index];
    if (info->group >= 0 && (info->group == a || info->group == b))
        return true;
    int last = info->group >= 0 ? rows->groups[info->group].last : index;
    if (rows->reach[last] < first || info->visited == rows->search)
        return false;
    info->visited = rows->search;
    if (info->group < 0) {
        for (int i = 0; i < info->op->n_args; i++)
            if (reaches(rows, info_of(rows, info->op->args[i])->index, a, b, first))
                return true;
        return false;
    }
    const Group *group = &rows->groups[info->group];
    for (size_t m = 0; m < group->members.count; m++) {
        Info *member = &rows->info[group->members.data[m]];
        member->visited = rows->search;
        for (int i = 0; i < member->op->n_args; i++) {
            Info *above = info_of(rows, member->op->args[i]);
            if (above->group != info->group && reaches(rows, above->index, a, b, first))
                return true;
        }
    }
    return false;
}

static int first_of(const Rows *rows, int group)
{
    int first = rows->n;
    for (size_t m = 0; m < rows->groups[group].members.count; m++)
        if (rows->groups[group].members.data[m] < first)
            first = rows->groups[group].members.data[m];
    return first;
}

static bool would_cycle(Rows *rows, int a, int b)
{
    int first = first_of(rows, a) < first_of(rows, b) ? first_of(rows, a) : first_of(rows, b);
    const int pair[] = {a, b};
    rows->search++;
    for (int p = 0; p < 2; p++) {
        const Group *group = &rows->groups[pair[p]];
        for (size_t m = 0; m < group->members.count; m++) {
            const Op *op = rows->info[group->members.data[m]].op;
            for (int i = 0; i < op->n_args; i++) {
                Info *above = info_of(rows, op->args[i]);
                bool inside = above->group >= 0 && (above->group == a || above->group == b);
                if (inside ? op->kind == OP_gather : reaches(rows, above->index, a, b, first))
                    return true;
            }
        }
    }
    return false;
}

/* MISS_NONE if the groups may be one. */
static Miss why_apart(Rows *rows, int a, int b, Type *space)
{
    if (!same_rows(rows->function->module, &rows->groups[a].space, &rows->groups[b].space, space))
        return MISS_ROW_SPACE;
    if (rows->groups[a].members.count + rows->groups[b].members.count > LARGEST_GROUP)
        return MISS_ROW_MANY;
    if (would_cycle(rows, a, b))
        return MISS_ROW_BETWEEN;
    return MISS_NONE;
}

static void merge(Rows *rows, int a, int b, const Type *space)
{
    Group *into = &rows->groups[a], *from = &rows->groups[b];
    int first = first_of(rows, a) < first_of(rows, b) ? first_of(rows, a) : first_of(rows, b);
    for (size_t i = 0; i < from->members.count; i++) {
        rows->info[from->members.data[i]].group = a;
        vec_push(rows->arena, into->members, from->members.data[i]);
    }
    from->members.count = 0;
    into->space = *space;
    if (from->last > into->last)
        into->last = from->last;
    reach_join(rows->reach, first, into->last);
}

static void form_groups(Rows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        Op *op = rows->info[i].op;
        for (int a = 0; rows->info[i].group >= 0 && a < op->n_args; a++) {
            int mine = rows->info[i].group, theirs = info_of(rows, op->args[a])->group;
            Type space;
            if (theirs < 0 || theirs == mine || op->kind == OP_gather)
                continue;
            if (why_apart(rows, theirs, mine, &space) == MISS_NONE)
                merge(rows, theirs, mine, &space);
        }
    }
}

static Presence presence(const Value *value, void *context)
{
    return info_of(context, value)->in_memory ? STORED : NOT_STORED;
}

/* The op in the group, as a member or computed again; NULL if it is not there. */
static Held *find_held(Rows *rows, Group *group, int index)
{
    Info *info = &rows->info[index];
    if (info->group >= 0 && &rows->groups[info->group] == group)
        return &info->held;
    for (size_t i = 0; i < group->again.count; i++)
        if (group->again.data[i].index == index)
            return &group->again.data[i];
    return NULL;
}

/* Computes the value again in the group, with what is above it as far as that is
 * worth it; the rest is read, and so in memory from now on. */
static void compute_again(Rows *rows, const Recompute *r, Group *group, Value *value)
{
    bool again;
    recompute_cost(r, value, 0, &again);
    Info *info = info_of(rows, value);
    if (!again) {
        info->in_memory |= !find_held(rows, group, info->index);
        return;
    }
    if (find_held(rows, group, info->index))
        return;
    vec_push(rows->arena, group->again, ((Held){info->index, false}));
    for (int i = 0; i < info->op->n_args; i++)
        if (!find_held(rows, group, info_of(rows, info->op->args[i])->index))
            compute_again(rows, r, group, info->op->args[i]);
}

static void choose_recomputed(Rows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        int g = rows->info[i].group;
        if (g < 0)
            continue;
        Group *group = &rows->groups[g];
        Recompute r = {.module = rows->function->module, .space = &group->space,
                       .presence = presence, .context = rows, .any_op = true};
        Op *op = rows->info[i].op;
        for (int a = 0; a < op->n_args; a++)
            if (!find_held(rows, group, info_of(rows, op->args[a])->index) &&
                (op->kind != OP_gather || is_generator(op->args[a]->op)))
                compute_again(rows, &r, group, op->args[a]);
    }
}

static void need_outside(Rows *rows, Value *value);

static void need_within(Rows *rows, Group *group, Held *held)
{
    if (held->live)
        return;
    held->live = true;
    Op *op = rows->info[held->index].op;
    for (int i = 0; i < op->n_args; i++) {
        Held *above = find_held(rows, group, info_of(rows, op->args[i])->index);
        if (above)
            need_within(rows, group, above);
        else
            need_outside(rows, op->args[i]);
    }
}

/* Somebody outside its group reads the value. */
static void need_outside(Rows *rows, Value *value)
{
    Info *info = info_of(rows, value);
    if (info->group < 0)
        return;
    Group *group = &rows->groups[info->group];
    for (size_t i = 0; i < group->outputs.count; i++)
        if (group->outputs.data[i] == value)
            return;
    vec_push(rows->arena, group->outputs, value);
    need_within(rows, group, &info->held);
}

static void choose_outputs(Rows *rows)
{
    for (int i = 0; i < rows->n; i++)
        if (rows->info[i].group < 0)
            for (int a = 0; a < rows->info[i].op->n_args; a++)
                need_outside(rows, rows->info[i].op->args[a]);
}

static bool is_single(const Type *space)
{
    for (int i = 0; i < space->rank; i++)
        if (!dim_is_one(space->dims[i]))
            return false;
    return true;
}

static void report_groups(Rows *rows)
{
    Report *report = rows->context->report;
    for (int i = 0; report && i < rows->n; i++) {
        const Op *op = rows->info[i].op;
        int mine = rows->info[i].group;
        for (int a = 0; mine >= 0 && a < op->n_args; a++) {
            int theirs = info_of(rows, op->args[a])->group;
            Type space;
            if (op->args[a]->op->kind == OP_column)
                report_miss(report, op, MISS_ROW_COLUMN, "column into %s", op_info[op->kind].name);
            if (theirs < 0 || theirs == mine ||
                find_held(rows, &rows->groups[mine], info_of(rows, op->args[a])->index))
                continue;
            if (is_single(&rows->groups[theirs].space))
                continue; /* one number for all rows: it has to be there before them */
            Miss why = op->kind == OP_gather ? MISS_ROW_GATHER
                                             : why_apart(rows, theirs, mine, &space);
            if (why != MISS_NONE)
                report_miss(report, op, why, "%s into %s", op_info[op->args[a]->op->kind].name,
                            op_info[op->kind].name);
        }
    }
}

static int compare_positions(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* What the group holds and needs, in function order. */
static Members live_members(Rows *rows, const Group *group)
{
    VEC(int) live = {0};
    Members members = {0};
    for (size_t m = 0; m < group->members.count; m++)
        if (rows->info[group->members.data[m]].held.live)
            vec_push(rows->arena, live, group->members.data[m]);
    for (size_t i = 0; i < group->again.count; i++)
        if (group->again.data[i].live)
            vec_push(rows->arena, live, group->again.data[i].index);
    qsort(live.data, live.count, sizeof *live.data, compare_positions);
    for (size_t i = 0; i < live.count; i++)
        vec_push(rows->arena, members.ops, rows->info[live.data[i]].op);
    return members;
}

typedef struct Built {
    Op *region;
    Group *group;
} Built;

static void build_groups(Rows *rows)
{
    VEC(Built) built = {0};
    Op *before = NULL;
    for (int g = 0; g < rows->n; g++) {
        Group *group = &rows->groups[g];
        if (!group->outputs.count)
            continue;
        Members members = live_members(rows, group);
        before = rows->info[group->last].op;
        Op *region = build_region(rows->function, OP_row, &members, (int)group->outputs.count,
                                  group->outputs.data, before);
        vec_push(rows->arena, built, ((Built){region, group}));
        if (rows->context->report && members.ops.count > 1)
            report_op(rows->context->report, region, "row: %s", describe_members(&members, rows->arena));
    }
    for (size_t i = 0; i < built.count; i++)
        for (int v = 0; v < built.data[i].region->n_results; v++)
            value_replace(built.data[i].group->outputs.data[v], &built.data[i].region->results[v]);
}

bool pass_fuse_rows(Function *function, PassContext *context)
{
    Rows rows = {.function = function, .context = context, .arena = function->module->arena,
                 .of_op = side_new(function->module->arena)};
    visit_all(&rows);
    form_groups(&rows);
    choose_recomputed(&rows);
    choose_outputs(&rows);
    report_groups(&rows);
    build_groups(&rows);
    remove_dead(function);
    order_ops(function);
    return true;
}
