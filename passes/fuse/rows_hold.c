/* What a group computes again instead of reading it, what of it is needed, and what it gives. */
#include "passes/fuse/rows.h"

static Presence presence(const Value *value, void *context)
{
    return info_of(context, value)->in_memory ? STORED : NOT_STORED;
}

RowHeld *find_held(FusedRows *rows, RowGroup *group, int index)
{
    RowInfo *info = &rows->info[index];
    if (info->group >= 0 && &rows->groups[info->group] == group)
        return &info->held;
    for (size_t i = 0; i < group->again.count; i++)
        if (group->again.data[i].index == index)
            return &group->again.data[i];
    return NULL;
}

/* Computes the value again in the group, with what is above it as far as that is
 * worth it; the rest is read, and so in memory from now on. */
static void compute_again(FusedRows *rows, Recompute *r, RowGroup *group, Value *value)
{
    bool again;
    recompute_cost(r, value, 0, &again);
    RowInfo *info = info_of(rows, value);
    if (!again) {
        info->in_memory |= !find_held(rows, group, info->index);
        return;
    }
    if (find_held(rows, group, info->index))
        return;
    vec_push(rows->arena, group->again, ((RowHeld){info->index, false}));
    for (int i = 0; i < info->op->n_args; i++)
        if (!reads_elsewhere(info->op, i) &&
            !find_held(rows, group, info_of(rows, info->op->args[i])->index))
            compute_again(rows, r, group, info->op->args[i]);
}

void choose_recomputed(FusedRows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        int g = rows->info[i].group;
        if (g < 0)
            continue;
        RowGroup *group = &rows->groups[g];
        Recompute r = {.module = rows->function->module,
                       .space = &group->space,
                       .presence = presence,
                       .context = rows,
                       .any_op = true};
        Op *op = rows->info[i].op;
        for (int a = 0; a < op->n_args; a++)
            if (!reads_elsewhere(op, a) &&
                !find_held(rows, group, info_of(rows, op->args[a])->index) &&
                (op->kind != OP_gather || is_generator(op->args[a]->op)))
                compute_again(rows, &r, group, op->args[a]);
    }
}

static void need_outside(FusedRows *rows, Value *value);

static void need_within(FusedRows *rows, RowGroup *group, RowHeld *held)
{
    if (held->live)
        return;
    held->live = true;
    Op *op = rows->info[held->index].op;
    for (int i = 0; i < op->n_args; i++) {
        RowHeld *above = find_held(rows, group, info_of(rows, op->args[i])->index);
        if (above && !reads_elsewhere(op, i))
            need_within(rows, group, above);
        else
            need_outside(rows, op->args[i]);
    }
}

/* Somebody outside its group reads the value. */
static void need_outside(FusedRows *rows, Value *value)
{
    RowInfo *info = info_of(rows, value);
    if (info->group < 0)
        return;
    RowGroup *group = &rows->groups[info->group];
    for (size_t i = 0; i < group->outputs.count; i++)
        if (group->outputs.data[i] == value)
            return;
    vec_push(rows->arena, group->outputs, value);
    need_within(rows, group, &info->held);
}

void choose_outputs(FusedRows *rows)
{
    for (int i = 0; i < rows->n; i++)
        if (rows->info[i].group < 0)
            for (int a = 0; a < rows->info[i].op->n_args; a++)
                need_outside(rows, rows->info[i].op->args[a]);
}
