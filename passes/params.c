#include "passes/params.h"

/* A cache has a place for each position, and other params have sizes that are known. */
static bool is_cache(const Value *param)
{
    return param->type.rank > 0 && !dim_is_const(param->type.dims[0]);
}

static bool is_made_of_params(const Op *op, const SideTable *made)
{
    if (op->kind == OP_param)
        return !is_cache(op_result((Op *)op));
    bool all = op->n_args > 0 && op->kind != OP_random;
    for (int i = 0; i < op->n_args; i++)
        all &= side_number(made, op->args[i]->op);
    return all;
}

SideTable find_made_of_params(const Function *function)
{
    SideTable made = side_new(function->module->arena);
    FOR_OPS(op, &function->body)
        side_set_number(&made, op, is_made_of_params(op, &made));
    return made;
}
