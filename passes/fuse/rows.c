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
#include "passes/fuse/rows.h"

#include "passes/clone.h"

#include <stdlib.h>

bool pass_fuse_rows(Function *function, PassContext *context);

static void visit_all(FusedRows *rows)
{
    const Module *module = rows->function->module;
    FOR_OPS (op, &rows->function->body)
        rows->n++;
    rows->info = ARENA_ARRAY(rows->arena, RowInfo, rows->n + 1);
    rows->groups = ARENA_ARRAY(rows->arena, RowGroup, rows->n + 1);
    rows->reach = reach_new(rows->arena, rows->n);
    int index = 0;
    FOR_OPS (op, &rows->function->body) {
        RowInfo *info = &rows->info[index];
        bool row = is_row_op(module, op);
        *info =
            (RowInfo){.op = op, .index = index, .group = row ? index : -1, .held = {index, false}};
        side_set_op(&rows->of_op, op, info);
        if (row) {
            RowGroup *group = &rows->groups[index];
            vec_push(rows->arena, group->members, index);
            group->space = *op_space(op);
            group->first = group->last = index;
        }
        index++;
    }
}

/* In memory anyway: from or for an op that is no row op, or read elsewhere. */
static void mark_stored(FusedRows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        RowInfo *info = &rows->info[i];
        bool other = info->group < 0;
        info->in_memory |= other && !is_generator(info->op);
        for (int a = 0; a < info->op->n_args; a++)
            if (other || reads_elsewhere(info->op, a))
                info_of(rows, info->op->args[a])->in_memory = true;
    }
}

static bool is_single(const Type *space)
{
    for (int i = 0; i < space->rank; i++)
        if (!dim_is_one(space->dims[i]))
            return false;
    return true;
}

/* Why the op and what it reads are not in one group, if they are not. */
static void report_operand(FusedRows *rows, const Op *op, int mine, int arg)
{
    const Value *operand = op->args[arg];
    const RowInfo *above = info_of(rows, operand);
    const char *name = op_info[op->kind].name;
    Type space;
    if (above->op->kind == OP_column)
        report_miss(rows->context->report, op, MISS_ROW_COLUMN, "column into %s", name);
    if (above->group < 0 || above->group == mine ||
        find_held(rows, &rows->groups[mine], above->index) ||
        is_single(
            &rows->groups[above->group].space)) /* one number for all rows comes before them */
        return;
    Miss why = op->kind == OP_gather ? MISS_ROW_GATHER : MISS_ROW_LOOKUP;
    if (op->kind != OP_gather && !reads_elsewhere(op, arg))
        why = why_groups_apart(rows, above->group, mine, &space);
    if (why != MISS_NONE)
        report_miss(rows->context->report, op, why, "%s into %s", op_info[above->op->kind].name,
                    name);
}

static void report_groups(FusedRows *rows)
{
    for (int i = 0; rows->context->report && i < rows->n; i++) {
        const RowInfo *info = &rows->info[i];
        for (int a = 0; info->group >= 0 && a < info->op->n_args; a++)
            report_operand(rows, info->op, info->group, a);
    }
}

static int compare_positions(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* What the group holds and needs, in function order. */
static Members live_members(FusedRows *rows, const RowGroup *group)
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
    RowGroup *group;
} Built;

static void build_groups(FusedRows *rows)
{
    VEC(Built) built = {0};
    SideTable copies = side_new(rows->arena);
    for (int g = 0; g < rows->n; g++) {
        RowGroup *group = &rows->groups[g];
        if (!group->outputs.count)
            continue;
        Members members = live_members(rows, group);
        Op *region = build_region(rows->function, OP_row, &members, (int)group->outputs.count,
                                  group->outputs.data, rows->info[group->last].op, &copies);
        vec_push(rows->arena, built, ((Built){region, group}));
        if (rows->context->report && members.ops.count > 1)
            report_op(rows->context->report, region, "row: %s",
                      describe_members(&members, rows->arena));
    }
    for (size_t i = 0; i < built.count; i++)
        for (int v = 0; v < built.data[i].region->n_results; v++)
            value_replace(built.data[i].group->outputs.data[v], &built.data[i].region->results[v]);
}

bool pass_fuse_rows(Function *function, PassContext *context)
{
    FusedRows rows = {.function = function,
                      .context = context,
                      .arena = function->module->arena,
                      .of_op = side_new(function->module->arena)};
    visit_all(&rows);
    mark_stored(&rows);
    form_groups(&rows);
    choose_recomputed(&rows);
    choose_outputs(&rows);
    report_groups(&rows);
    build_groups(&rows);
    remove_dead(function);
    order_ops(function);
    return true;
}
