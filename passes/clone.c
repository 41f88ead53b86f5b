/* Cloning, dead-code removal, ordering. */
#include "passes/clone.h"

#include <string.h>

Op *clone_op(Function *into, const Op *op, SideTable *copies)
{
    Value *args[op->n_args + 1];
    for (int i = 0; i < op->n_args; i++) {
        Value *copy = copies ? side_of_value(copies, op->args[i]) : NULL;
        args[i] = copy ? copy : op->args[i];
    }
    Op *copy = op_new(into, op->kind, op->n_args, args, op->n_results);
    op_share_attrs(into, copy, op);
    copy->loc = op->loc;
    copy->scope = op->scope;
    for (int i = 0; i < op->n_results; i++) {
        copy->results[i].type = op->results[i].type;
        if (copies)
            side_set_value(copies, &op->results[i], &copy->results[i]);
    }
    if (op->body) {
        copy->body = block_of_region(into->module->arena);
        FOR_OPS (inner, op->body)
            block_append(copy->body, clone_op(into, inner, copies));
    }
    return copy;
}

Function *clone_function(const Function *function, const char *name)
{
    Function *copy = module_add_function(function->module, name);
    SideTable copies = side_new(function->module->arena);
    FOR_OPS (op, &function->body)
        block_append(&copy->body, clone_op(copy, op, &copies));
    return copy;
}

static bool is_dead(const Op *op)
{
    bool used = op_family(op) == FAMILY_effect || op->kind == OP_append;
    for (int i = 0; i < op->n_results; i++)
        used |= op->results[i].first_use != NULL;
    return !used;
}

int remove_dead(Function *function)
{
    int removed = 0;
    for (Op *op = function->body.last, *previous; op; op = previous) {
        previous = op->previous;
        if (!is_dead(op))
            continue;
        block_remove(&function->body, op);
        removed++;
    }
    return removed;
}

void remove_unused(Function *function, Op *op)
{
    block_remove(&function->body, op);
    for (int i = 0; i < op->n_args; i++)
        if (op->args[i]->op->listed && is_dead(op->args[i]->op))
            remove_unused(function, op->args[i]->op);
}

static Op *find_named(const Function *function, OpKind kind, const char *name)
{
    FOR_OPS (op, &function->body)
        if (op->kind == kind && !strcmp(op_string(op, ATTR_name), name))
            return op;
    return NULL;
}

Op *find_output(const Function *function, const char *name)
{
    return find_named(function, OP_output, name);
}

Op *find_input(const Function *function, const char *name)
{
    return find_named(function, OP_input, name);
}

/* Depth-first: an op's operands' ops are placed before it. */
typedef struct Ordering {
    Block done;
    Block *from;
    SideTable placed;
} Ordering;

static void place_op(Ordering *ordering, Op *op)
{
    if (side_number(&ordering->placed, op))
        return;
    side_set_number(&ordering->placed, op, true);
    for (int i = 0; i < op->n_args; i++)
        place_op(ordering, op->args[i]->op);
    block_remove(ordering->from, op);
    block_append(&ordering->done, op);
}

void order_ops(Function *function)
{
    Ordering ordering = {.from = &function->body, .placed = side_new(function->module->arena)};
    while (function->body.first)
        place_op(&ordering, function->body.first);
    function->body = ordering.done;
}
