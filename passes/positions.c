/* A forward pass that gives what a model adds or multiplies for positions: values made of positions
 * and params alone, one row a position, where they meet what depends on inputs (sinusoids of
 * Vaswani et al. 2017, section 3.5; angles of Su et al. 2021; learned tables). */
#include "passes/clone.h"
#include "passes/pass.h"

#include <stdlib.h>

enum { LEAST_WIDTH = 4 };

/* [T, D] with ones anywhere: a row of floats for each place of a sequence. */
static bool is_table(const Type *type)
{
    int sides = 0;
    const Dim *found[2];
    for (int i = 0; i < type->rank; i++) {
        const Dim *dim = &type->dims[i];
        if (dim->symbol == NO_SYMBOL && dim->size == 1)
            continue;
        if (sides == 2)
            return false;
        found[sides++] = dim;
    }
    return sides == 2 && dtype_is_float(type->dtype) && found[0]->symbol != NO_SYMBOL &&
           found[1]->symbol == NO_SYMBOL && found[1]->size >= LEAST_WIDTH;
}

static bool reads(const Op *op, const bool *depends)
{
    bool found = op->kind == OP_input;
    for (int i = 0; i < op->n_args; i++)
        found = found || depends[op->args[i]->id];
    return found;
}

/* Whether an op that depends on an input takes it. */
static bool meets_input(const Op *op, const bool *depends)
{
    for (const Use *use = op->results[0].first_use; use; use = use->next)
        if (use->user->n_results && depends[use->user->results[0].id])
            return true;
    return false;
}

/* What made the numbers: the op before those that only change the shape. */
static const Op *maker(const Op *op)
{
    while (op->kind == OP_reshape && op->args[0]->op)
        op = op->args[0]->op;
    return op;
}

size_t expose_positions(Function *forward, PositionOutput **outputs)
{
    Arena *arena = forward->module->arena;
    VEC(PositionOutput) found = {0};
    VEC(Op *) tables = {0};
    int most = 0;
    function_number(forward);
    FOR_OPS (op, &forward->body)
        for (int i = 0; i < op->n_results; i++)
            most = op->results[i].id > most ? op->results[i].id : most;
    bool *depends = ARENA_ARRAY(arena, bool, most + 1);
    FOR_OPS (op, &forward->body)
        for (int i = 0; i < op->n_results; i++)
            depends[op->results[i].id] = reads(op, depends);
    FOR_OPS (op, &forward->body) {
        if (op->n_results == 1 && !depends[op->results[0].id] && is_table(&op->results[0].type) &&
            meets_input(op, depends))
            vec_push(arena, tables, op);
    }
    FOR_OPS (op, &forward->body)
        if (op->kind == OP_output)
            block_remove(&forward->body, op);
    Builder b = builder_at_end(forward);
    forward->name = "positions";
    for (size_t i = 0; i < tables.count; i++) {
        Op *op = tables.data[i];
        PositionOutput one = {.output = arena_printf(arena, "positions.%zu", i),
                              .scope = op->scope ? op->scope : "",
                              .made_by = op_info[maker(op)->kind].name};
        b.loc = op->loc;
        b.scope = op->scope;
        build_output(&b, one.output, op_result(op));
        vec_push(arena, found, one);
    }
    remove_dead(forward);
    *outputs = found.data;
    return found.count;
}
