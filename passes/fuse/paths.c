/* Paths: two searches at once, up from an op and down from its source, and a tree.
 *
 * The tree: each op stands below the operand that is defined last. Ops are numbered so that an op
 * and all below it have consecutive numbers; what stands below the source needs it. The searches
 * end where they meet, at the first op that the tree connects with the other end, or when one of
 * the two has no op left. */
#include "passes/fuse/paths.h"

typedef struct PathNode {
    const Op *op;
    struct PathNode *above; /* in the tree; NULL: no operands */
    int position;
    int number, below; /* in the tree: its number; how many ops stand below, itself included */
    int next;          /* number of the next op that is put below it */
    int from_op, from_source; /* the last questions whose searches came here */
} PathNode;

static PathNode *node_of(const Paths *paths, const Op *op) { return side_of_op(&paths->nodes, op); }

static PathNode *last_operand(const Paths *paths, const Op *op)
{
    PathNode *last = NULL;
    for (int i = 0; i < op->n_args; i++) {
        PathNode *node = node_of(paths, op->args[i]->op);
        last = !last || node->position > last->position ? node : last;
    }
    return last;
}

Paths paths_new(const Function *function, Arena *arena)
{
    Paths paths = {.arena = arena, .nodes = side_new(arena)};
    int n = 0, next = 0;
    FOR_OPS (op, &function->body)
        n++;
    PathNode *nodes = ARENA_ARRAY(arena, PathNode, n + 1);
    n = 0;
    FOR_OPS (op, &function->body) {
        nodes[n] =
            (PathNode){.op = op, .above = last_operand(&paths, op), .position = n, .below = 1};
        side_set_op(&paths.nodes, op, &nodes[n++]);
    }
    for (int i = n - 1; i >= 0; i--)
        if (nodes[i].above)
            nodes[i].above->below += nodes[i].below;
    for (int i = 0; i < n; i++) {
        int *from = nodes[i].above ? &nodes[i].above->next : &next;
        nodes[i].number = *from;
        nodes[i].next = *from + 1;
        *from += nodes[i].below;
    }
    return paths;
}

static bool stands_below(const PathNode *node, const PathNode *source)
{
    return node->number >= source->number && node->number < source->number + source->below;
}

/* Up from the next op: true when the source is found. */
static bool step_up(Paths *paths, const PathNode *source)
{
    const Op *op = vec_last(paths->up)->op;
    paths->up.count--;
    for (int i = 0; i < op->n_args; i++) {
        PathNode *node = node_of(paths, op->args[i]->op);
        if (stands_below(node, source) || node->from_source == paths->question)
            return true;
        if (node->position < source->position || node->from_op == paths->question)
            continue;
        node->from_op = paths->question;
        vec_push(paths->arena, paths->up, node);
    }
    return false;
}

/* Down from the next op: true when one is found that the tree puts above `end`. */
static bool step_down(Paths *paths, const PathNode *end)
{
    const Op *op = vec_last(paths->down)->op;
    paths->down.count--;
    for (int r = 0; r < op->n_results; r++)
        FOR_USES (use, &op->results[r]) {
            PathNode *node = node_of(paths, use->user);
            if (stands_below(end, node) || node->from_op == paths->question)
                return true;
            if (node->position > end->position || node->from_source == paths->question)
                continue;
            node->from_source = paths->question;
            vec_push(paths->arena, paths->down, node);
        }
    return false;
}

bool paths_needs(Paths *paths, const Op *op, const Op *source)
{
    PathNode *from = node_of(paths, source), *end = node_of(paths, op);
    if (stands_below(end, from))
        return true;
    if (end->position < from->position)
        return false;
    paths->question++;
    paths->up.count = paths->down.count = 0;
    vec_push(paths->arena, paths->up, end);
    vec_push(paths->arena, paths->down, from);
    while (paths->up.count && paths->down.count)
        if (step_up(paths, from) || step_down(paths, end))
            return true;
    return false;
}
