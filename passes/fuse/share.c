/* What the fusion passes share: classes of ops, costs, building regions. */
#include "passes/clone.h"
#include "passes/expand.h"
#include "passes/fuse/fuse.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Cost of an op that is small beside reading an operand from memory; what is in the
 * first-level cache is read for less (codegen/emit/sweeps.c). */
enum { CHEAP = 8 };

bool is_generator(const Op *op)
{
    switch (op->kind) {
    case OP_const: case OP_iota: case OP_size: case OP_lengths: return true;
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
    default: return op->kind == OP_gather || op->kind == OP_broadcast || op->kind == OP_random;
    }
}

bool is_cheap(const Op *op)
{
    return op_info[op->kind].cost <= CHEAP &&
           (op_family(op) == FAMILY_elementwise || op->kind == OP_broadcast || is_generator(op));
}

const Type *op_space(const Op *op)
{
    return op_family(op) == FAMILY_reduce ? &op->args[0]->type : &op->results[0].type;
}

bool fills_space(const Type *type, const Type *space)
{
    int extra = space->rank - type->rank;
    for (int i = 0; i < space->rank; i++)
        if (!dim_is_one(space->dims[i]) && (i < extra || dim_is_one(type->dims[i - extra])))
            return false;
    return true;
}

/* One value a row: the space with its last dimension as 1. */
static bool is_row_value(const Type *type, const Type *space)
{
    if (type->rank != space->rank || type->rank == 0 || !dim_is_one(type->dims[type->rank - 1]))
        return false;
    for (int i = 0; i + 1 < type->rank; i++)
        if (!dim_equal(type->dims[i], space->dims[i]))
            return false;
    return true;
}

enum { DEEPEST = 24 };
#define NEAR 0.25 /* a tie, but for a few values a row */

double recompute_cost(const Recompute *r, const Value *value, int depth, bool *again)
{
    const Op *op = value->op;
    *again = is_generator(op);
    if (*again)
        return 0;
    bool full = fills_space(&value->type, r->space), row = is_row_value(&value->type, r->space);
    Presence presence = r->presence(value, r->context);
    if (value->type.dtype == DT_BF16) /* rounded in order to be stored: always read */
        return full ? 0.5 : 0;
    double read = full ? (presence ? 1 : 2.5) : presence == STORED ? 0 : 0.1;
    bool possible = depth < DEEPEST && (is_cheap(op) || (r->any_op && is_row_op(r->module, op))) &&
                    op_family(op) != FAMILY_reduce && op->kind != OP_gather;
    if (!possible || (!full && !is_cheap(op)))
        return read;
    double compute = is_cheap(op) ? 0 : 0.4;
    for (int i = 0; i < op->n_args; i++) {
        bool deeper;
        double cost = recompute_cost(r, op->args[i], depth + 1, &deeper);
        /* Smaller than a row's value: computed again for every row that reads it,
         * only worth it when it comes from nothing. */
        if (!full && !row && !(deeper && cost == 0))
            return read;
        compute += cost;
        if (compute > read + NEAR)
            return read;
    }
    *again = presence == STORED ? compute < read : compute <= read + NEAR;
    return *again ? compute : read;
}

int *reach_new(Arena *arena, int n)
{
    int *reach = ARENA_ARRAY(arena, int, n + 1);
    for (int p = 0; p < n; p++)
        reach[p] = p;
    return reach;
}

void reach_join(int *reach, int first, int last)
{
    int to = reach[last];
    for (int p = first; p < last && reach[p] < to; p++)
        reach[p] = to;
    for (int p = first - 1; p >= 0 && reach[p] >= first && reach[p] < to; p--)
        reach[p] = to;
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
                 Value *const *outputs, Op *position)
{
    Arena *arena = function->module->arena;
    Block *body = block_of_region(arena);
    SideTable copies = side_new(arena);
    Capture captured = {0};
    for (size_t i = 0; i < members->ops.count; i++) {
        Op *op = members->ops.data[i];
        for (int a = 0; a < op->n_args; a++)
            if (!side_of_value(&copies, op->args[a]))
                capture(arena, &captured, op->args[a]);
        block_append(body, clone_op(function, op, &copies));
    }
    Value **yielded = ARENA_ARRAY(arena, Value *, n_outputs + 1);
    for (int i = 0; i < n_outputs; i++)
        yielded[i] = side_of_value(&copies, outputs[i]);
    block_append(body, op_new(function, OP_yield, n_outputs, yielded, 0));
    Op *region = op_new(function, kind, (int)captured.inputs.count, captured.inputs.data, n_outputs);
    region->body = body;
    region->loc = vec_last(members->ops)->loc;
    region->scope = vec_last(members->ops)->scope;
    for (int i = 0; i < n_outputs; i++)
        region->results[i].type = outputs[i]->type;
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
