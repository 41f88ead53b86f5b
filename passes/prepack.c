/* prepack: products by weights say so, in functions that answer: forward, predict, encode and a
 * decoding step.
 *
 *   %y = dot %x, %w {…}      ⇒      %y = dot %x, %w {…, panels = 1}
 *
 * where %w is made of params alone. The program then packs the matrix, the way its products read
 * it, once for many runs, or takes it from the file of a compiled model. That pays for products of
 * some hundred rows at most, as a decoding step's hypotheses and a sentence's tokens are; of the
 * thousands that training and measuring multiply, packing takes a percent.
 *
 * prepack_lookups, which is no pass: lookups in a table that products read so read the panels. */
#include "passes/pass.h"

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
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param && is_cache(op_result(op))) /* it is a step */
            return true;
    const ModelFunction name = function_named(function->name);
    return name == FUNCTION_FORWARD || name == FUNCTION_PREDICT || name == FUNCTION_ENCODE;
}

static bool looks_up(const Op *op, const Value *table)
{
    return op->kind == OP_gather && op->args[0] == table && op->args[1] != table;
}

/* Whether the region reads the value by lookups alone. */
static bool region_looks_up(const Op *region, const Value *table)
{
    FOR_OPS (op, region->body)
        for (int i = 0; i < op->n_args; i++)
            if (op->args[i] == table && !looks_up(op, table))
                return false;
    return true;
}

bool is_table_param(const Value *value)
{
    for (const Use *use = value->first_use; use; use = use->next) {
        const Op *user = use->user;
        if (user->body ? !region_looks_up(user, value)
                       : !looks_up(user, value) && user->kind != OP_dot &&
                             !(user->kind == OP_transpose && is_table_param(&user->results[0])))
            return false;
    }
    return true;
}

/* ---- lookups in what products read ---- */

/* The table [n, k] of f32 of which the product reads panels, each row a column; NULL: there is
 * none. */
static const Value *table_of_product(const Op *dot)
{
    if (dot->kind != OP_dot || !op_attr(dot, ATTR_panels) || op_quant(dot))
        return NULL;
    const Attr *contract = op_attr(dot, ATTR_contract_b);
    const Value *b = dot->args[1];
    int axis = contract->n == 1 ? contract->ints[0] : -1;
    for (; axis >= 0 && b->op->kind == OP_transpose; b = b->op->args[0])
        axis = op_attr(b->op, ATTR_perm)->ints[axis];
    return axis == 1 && b->op->kind == OP_param && type_is_table(&b->type) ? b : NULL;
}

static void mark_lookup(Function *function, Op *op, const Map *tables)
{
    const Op *table = op->kind == OP_gather ? op->args[0]->op : NULL;
    if (table && table->kind == OP_param && map_has(tables, op_string(table, ATTR_name)) &&
        is_table_param(op->args[0]))
        op_set_attr(function, op, (Attr){.name = ATTR_panels, .i = 1});
}

void prepack_lookups(Function *const *functions, int n, Arena *arena)
{
    Map tables;
    map_init(&tables, arena);
    for (int f = 0; f < n; f++)
        FOR_OPS (op, &functions[f]->body) {
            const Value *table = table_of_product(op);
            if (table)
                map_set(&tables, op_string(table->op, ATTR_name), (void *)table);
        }
    for (int f = 0; f < n; f++)
        FOR_OPS (op, &functions[f]->body) {
            mark_lookup(functions[f], op, &tables);
            if (op->body)
                FOR_OPS (inner, op->body)
                    mark_lookup(functions[f], inner, &tables);
        }
}

static bool is_product_by_b(const Op *op)
{
    return op->kind == OP_dot || op->kind == OP_grouped_dot;
}

bool pass_prepack(Function *function, PassContext *context)
{
    if (!reads_panels(function))
        return true;
    SideTable made = find_made_of_params(function);
    FOR_OPS (op, &function->body) {
        if (!is_product_by_b(op) || op_attr(op, ATTR_panels) || side_number(&made, op) ||
            !side_number(&made, op->args[1]->op))
            continue;
        op_set_attr(function, op, (Attr){.name = ATTR_panels, .i = 1});
        report_op(context->report, op, "weights packed as panels once");
    }
    return true;
}
