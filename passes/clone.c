/* Cloning, dead-code removal, ordering. */
#include "passes/clone.h"

#include <stdint.h>
#include <string.h>

Op *clone_op(Function *into, const Op *op)
{
    Value *args[op->n_args + 1];
    for (int i = 0; i < op->n_args; i++)
        args[i] = op->args[i]->scratch ? op->args[i]->scratch : op->args[i];
    Op *copy = op_new(into, op->kind, op->n_args, args, op->n_results);
    copy->n_attrs = op->n_attrs;
    copy->attrs = op->attrs;
    copy->loc = op->loc;
    copy->scope = op->scope;
    for (int i = 0; i < op->n_results; i++) {
        copy->results[i].type = op->results[i].type;
        op->results[i].scratch = &copy->results[i];
    }
    if (op->body) {
        copy->body = ARENA_NEW(into->module->arena, Block);
        FOR_OPS(inner, op->body)
            block_append(copy->body, clone_op(into, inner));
    }
    return copy;
}

static void clear_scratch(const Block *block)
{
    FOR_OPS(op, block) {
        for (int i = 0; i < op->n_results; i++)
            op->results[i].scratch = NULL;
        if (op->body)
            clear_scratch(op->body);
    }
}

Function *clone_function(const Function *function, const char *name)
{
    Function *copy = module_add_function(function->module, name);
    clear_scratch(&function->body);
    FOR_OPS(op, &function->body)
        block_append(&copy->body, clone_op(copy, op));
    return copy;
}

int remove_dead(Function *function)
{
    int removed = 0;
    function_count_uses(function);
    for (Op *op = function->body.last, *previous; op; op = previous) {
        previous = op->previous;
        bool used = op_family(op) == FAMILY_effect || op->kind == OP_append;
        for (int i = 0; i < op->n_results; i++)
            used |= op->results[i].scratch != NULL;
        if (used)
            continue;
        for (int i = 0; i < op->n_args; i++)
            op->args[i]->scratch = (void *)((uintptr_t)op->args[i]->scratch - 1);
        block_remove(&function->body, op);
        removed++;
    }
    return removed;
}

static Op *find_named(const Function *function, OpKind kind, const char *name)
{
    FOR_OPS(op, &function->body)
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
} Ordering;

static void place_op(Ordering *ordering, Op *op)
{
    if (op->scratch) /* placed */
        return;
    op->scratch = op;
    for (int i = 0; i < op->n_args; i++)
        place_op(ordering, op->args[i]->op);
    block_remove(ordering->from, op);
    block_append(&ordering->done, op);
}

void order_ops(Function *function)
{
    Ordering ordering = {.from = &function->body};
    FOR_OPS(op, &function->body)
        op->scratch = NULL;
    while (function->body.first)
        place_op(&ordering, function->body.first);
    function->body = ordering.done;
}
