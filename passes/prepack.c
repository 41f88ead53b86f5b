/* prepack: products by weights say so, in encode and in a decoding step.
 *
 *   %y = dot %x, %w {…}      ⇒      %y = dot %x, %w {…, panels = 1}
 *
 * where %w is made of params alone. The program then packs the matrix, the way its products read
 * it, once for many runs, or takes it from the file of a compiled model. That pays for products of
 * some hundred rows at most, as a decoding step's hypotheses and a sentence's tokens are; of the
 * thousands that other functions multiply, packing takes a percent. */
#include "passes/prepack.h"

#include "base/functions.h"

#include <string.h>

/* A cache has a place for each position, and other params have sizes that are known. */
bool is_cache(const Value *param)
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
    FOR_OPS (op, &function->body)
        side_set_number(&made, op, is_made_of_params(op, &made));
    return made;
}

bool reads_panels(const Function *function)
{
    return function_has(function, OP_append) || /* a step appends to caches */
           !strcmp(function->name, function_names()[FUNCTION_ENCODE]);
}

bool pass_prepack(Function *function, PassContext *context)
{
    if (!reads_panels(function))
        return true;
    SideTable made = find_made_of_params(function);
    FOR_OPS (op, &function->body) {
        if (op->kind != OP_dot || op_attr(op, ATTR_panels) || side_number(&made, op) ||
            !side_number(&made, op->args[1]->op))
            continue;
        op_set_attr(function, op, (Attr){.name = ATTR_panels, .i = 1});
        report_op(context->report, op, "weights packed as panels once");
    }
    return true;
}
