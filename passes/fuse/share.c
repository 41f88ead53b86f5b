/* What the fusion passes share: classes of ops, reach, building regions. */
#include "passes/clone.h"
#include "passes/pass.h"
#include "passes/fuse/fuse.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

bool is_generator(const Op *op)
{
    switch (op->kind) {
    case OP_const:
    case OP_iota:
    case OP_size:
    case OP_lengths: return true;
    default: return false;
    }
}

bool is_column_reduction(const Module *module, const Op *op)
{
    return op_family(op) == FAMILY_reduce && !is_row_reduction(module, op);
}

bool is_row_op(const Module *module, const Op *op)
{
    switch (op_family(op)) {
    case FAMILY_elementwise: return true;
    case FAMILY_reduce: return is_row_reduction(module, op);
    default:
        return op->kind == OP_gather || op->kind == OP_lookup || op->kind == OP_broadcast ||
               op->kind == OP_random;
    }
}

bool reads_elsewhere(const Op *op, int arg) { return op->kind == OP_lookup && arg == 0; }

const Type *op_space(const Op *op)
{
    return op_family(op) == FAMILY_reduce ? &op->args[0]->type : &op->results[0].type;
}

/* Positions of one reach are neighbours: a join makes neighbouring ones one. */
Reach reach_new(Arena *arena, int n)
{
    Reach reach = {ARENA_ARRAY(arena, int, n + 1)};
    for (int p = 0; p < n; p++)
        reach.to[p] = p;
    return reach;
}

int reach_of(const Reach *reach, int position)
{
    int *to = reach->to, p = position;
    while (to[p] != p)
        p = to[p] = to[to[p]];
    return p;
}

void reach_join(Reach *reach, int first, int last)
{
    int end = reach_of(reach, last);
    for (int p = reach_of(reach, first); p < end; p = reach_of(reach, p + 1))
        reach->to[p] = end;
}

static bool finds_source(const Needs *needs, const Op *op, const Op *source)
{
    const OpPlace *to = side_of_op(&needs->marks, source);
    OpPlace *place = side_of_op(&needs->marks, op);
    if (op == source)
        return true;
    if (place->visited == needs->question ||
        reach_of(&needs->reach, place->position) < to->position)
        return false;
    place->visited = needs->question;
    for (int i = 0; i < op->n_args; i++)
        if (finds_source(needs, op->args[i]->op, source))
            return true;
    return false;
}

bool needs_op(Needs *needs, const Op *op, const Op *source)
{
    needs->question++;
    return finds_source(needs, op, source);
}

typedef struct Capture {
    VEC(Value *) inputs;
} Capture;

static void capture(Arena *arena, Capture *captured, Value *value)
{
    for (size_t i = 0; i < captured->inputs.count; i++)
        if (captured->inputs.data[i] == value)
            return;
    vec_push(arena, captured->inputs, value);
}

Op *build_region(Function *function, OpKind kind, const Members *members, int n_outputs,
                 Value *const *outputs, Op *position, SideTable *copies)
{
    Arena *arena = function->module->arena;
    Block *body = block_of_region(arena);
    Capture captured = {0};
    for (size_t i = 0; i < members->ops.count; i++) {
        Op *op = members->ops.data[i];
        for (int a = 0; a < op->n_args; a++)
            if (!side_of_value(copies, op->args[a]) || reads_elsewhere(op, a))
                capture(arena, &captured, op->args[a]);
        Op *copy = clone_op(function, op, copies);
        for (int a = 0; a < op->n_args; a++)
            if (reads_elsewhere(op, a) && copy->args[a] != op->args[a])
                op_set_arg(copy, a, op->args[a]);
        block_append(body, copy);
    }
    Value **yielded = ARENA_ARRAY(arena, Value *, n_outputs + 1);
    for (int i = 0; i < n_outputs; i++)
        yielded[i] = side_of_value(copies, outputs[i]);
    block_append(body, op_new(function, OP_yield, n_outputs, yielded, 0));
    Op *region =
        op_new(function, kind, (int)captured.inputs.count, captured.inputs.data, n_outputs);
    region->body = body;
    region->loc = vec_last(members->ops)->loc;
    region->scope = vec_last(members->ops)->scope;
    for (int i = 0; i < n_outputs; i++)
        region->results[i].type = outputs[i]->type;
    for (size_t i = 0; i < members->ops.count; i++)
        for (int r = 0; r < members->ops.data[i]->n_results; r++)
            side_set_value(copies, &members->ops.data[i]->results[r], NULL);
    block_insert_before(&function->body, position, region);
    return region;
}

const char *describe_members(const Members *members, Arena *arena)
{
    Text text = {0};
    const char *last = "";
    for (size_t i = 0; i < members->ops.count && text.length < 100; i++) {
        const Op *op = members->ops.data[i];
        const char *name = op_info[op->kind].name;
        if (is_generator(op) || op->kind == OP_broadcast || !strcmp(name, last))
            continue;
        text_add(&text, "%s%s", text.length ? "+" : "", name);
        last = name;
    }
    const char *copy = arena_strdup(arena, text.data ? text.data : "nothing");
    text_free(&text);
    return copy;
}
