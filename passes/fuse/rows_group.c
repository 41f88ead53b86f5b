/* Which row ops go together: those over the same rows, where no path leaves the group and comes
 * back. */
#include "passes/fuse/rows.h"

#include "ir/infer.h"

enum { LARGEST_GROUP = 240 };

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

/* Whether one of the two reads from memory what is computed in either. */
static bool reads_as_stored(const FusedRows *rows, int a, int b)
{
    const int pair[] = {a, b};
    for (int p = 0; p < 2; p++) {
        const RowGroup *group = &rows->groups[pair[p]];
        for (size_t m = 0; m < group->members.count; m++) {
            const Op *op = rows->info[group->members.data[m]].op;
            for (int i = 0; i < op->n_args; i++) {
                int above = info_of(rows, op->args[i])->group;
                if ((above == a || above == b) && (op->kind == OP_gather || reads_elsewhere(op, i)))
                    return true;
            }
        }
    }
    return false;
}

Miss why_groups_apart(FusedRows *rows, int a, int b, Type *space)
{
    if (!same_rows(rows->function->module, &rows->groups[a].space, &rows->groups[b].space, space))
        return MISS_ROW_SPACE;
    if (rows->groups[a].members.count + rows->groups[b].members.count > LARGEST_GROUP)
        return MISS_ROW_MANY;
    if (reads_as_stored(rows, a, b) || rows_path(rows, a, b) || rows_path(rows, b, a))
        return MISS_ROW_BETWEEN;
    return MISS_NONE;
}

static void merge(FusedRows *rows, int a, int b, const Type *space)
{
    RowGroup *into = &rows->groups[a], *from = &rows->groups[b];
    for (size_t i = 0; i < from->members.count; i++) {
        rows->info[from->members.data[i]].group = a;
        vec_push(rows->arena, into->members, from->members.data[i]);
    }
    from->members.count = 0;
    into->space = *space;
    if (from->first < into->first)
        into->first = from->first;
    if (from->last > into->last)
        into->last = from->last;
    reach_join(&rows->reach, into->first, into->last);
}

void form_groups(FusedRows *rows)
{
    for (int i = 0; i < rows->n; i++) {
        Op *op = rows->info[i].op;
        for (int a = 0; rows->info[i].group >= 0 && a < op->n_args; a++) {
            int mine = rows->info[i].group, theirs = info_of(rows, op->args[a])->group;
            Type space;
            if (theirs < 0 || theirs == mine || op->kind == OP_gather || reads_elsewhere(op, a))
                continue;
            if (why_groups_apart(rows, theirs, mine, &space) == MISS_NONE)
                merge(rows, theirs, mine, &space);
        }
    }
}
