/* Paths between groups of row ops: two searches at once, up from one and down from the other, an
 * operand or a use at a time. They end where they meet, or when one of them has nothing left. So
 * groups that little stands between, as between most that may be merged, are soon found apart, and
 * ones that a few steps connect, as all updates are by the norm of the gradients, soon together. */
#include "passes/fuse/rows.h"

/* A node is a group, which is computed as one and so needs what any of its members needs, or an op
 * of none. Its number: the group's, or the op's position. */
static int node_of(const FusedRows *rows, const Op *op)
{
    const RowInfo *info = side_of_op(&rows->of_op, op);
    return info->group >= 0 ? info->group : info->index;
}

static bool is_group(const FusedRows *rows, int node) { return rows->info[node].group >= 0; }

static int first_of(const FusedRows *rows, int node)
{
    return is_group(rows, node) ? rows->groups[node].first : node;
}

static int last_of(const FusedRows *rows, int node)
{
    return is_group(rows, node) ? rows->groups[node].last : node;
}

/* The op that a search looks at, or NULL when it has none left. */
static const Op *op_at(const FusedRows *rows, RowSearch *search)
{
    for (; search->node < search->nodes.count; search->node++, search->member = 0) {
        int node = search->nodes.data[search->node];
        const RowGroup *group = is_group(rows, node) ? &rows->groups[node] : NULL;
        if (search->member < (group ? group->members.count : 1))
            return rows->info[group ? group->members.data[search->member] : node].op;
    }
    return NULL;
}

static int node_at(const RowSearch *search) { return search->nodes.data[search->node]; }

static void begin_search(FusedRows *rows, RowSearch *search, int node)
{
    search->nodes.count = 0;
    search->node = search->member = 0;
    search->edge = 0;
    search->use = NULL;
    vec_push(rows->arena, search->nodes, node);
}

typedef enum PathStep { PATH_ON, PATH_FOUND, PATH_END } PathStep;

/* Looks at the next operand of what `below` needs. */
static PathStep step_up(FusedRows *rows, int above, int below)
{
    RowSearch *up = &rows->up;
    const Op *op = op_at(rows, up);
    for (; op && up->edge == op->n_args; op = op_at(rows, up)) {
        up->edge = 0;
        up->member++;
    }
    if (!op)
        return PATH_END;
    int node = node_of(rows, op->args[up->edge++]->op);
    RowInfo *info = &rows->info[node];
    if (node == above)
        return node_at(up) == below ? PATH_ON : PATH_FOUND;
    if (node == below || info->up == rows->search ||
        reach_of(&rows->reach, last_of(rows, node)) < first_of(rows, above))
        return PATH_ON;
    info->up = rows->search;
    vec_push(rows->arena, up->nodes, node);
    return info->down == rows->search ? PATH_FOUND : PATH_ON;
}

/* The next use of what a search down looks at, or NULL. */
static const Use *next_use(const FusedRows *rows, RowSearch *down)
{
    down->use = down->use ? down->use->next : NULL;
    for (const Op *op; !down->use && (op = op_at(rows, down));) {
        if (down->edge < op->n_results) {
            down->use = op->results[down->edge++].first_use;
        } else {
            down->edge = 0;
            down->member++;
        }
    }
    return down->use;
}

/* Looks at the next use of what needs `above`. */
static PathStep step_down(FusedRows *rows, int above, int below)
{
    RowSearch *down = &rows->down;
    const Use *use = next_use(rows, down);
    if (!use)
        return PATH_END;
    int node = node_of(rows, use->user);
    RowInfo *info = &rows->info[node];
    if (node == below)
        return node_at(down) == above ? PATH_ON : PATH_FOUND;
    if (node == above || info->down == rows->search ||
        first_of(rows, node) > reach_of(&rows->reach, last_of(rows, below)))
        return PATH_ON;
    info->down = rows->search;
    vec_push(rows->arena, down->nodes, node);
    return info->up == rows->search ? PATH_FOUND : PATH_ON;
}

bool rows_path(FusedRows *rows, int above, int below)
{
    rows->search++;
    begin_search(rows, &rows->up, below);
    begin_search(rows, &rows->down, above);
    PathStep step = PATH_ON;
    while (step == PATH_ON) {
        step = step_up(rows, above, below);
        if (step == PATH_ON)
            step = step_down(rows, above, below);
    }
    return step == PATH_FOUND;
}
