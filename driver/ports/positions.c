/* Lookups whose index counts along a dimension. */
#include "driver/ports/positions.h"

#include <string.h>

/* What the positions begin at, of an index that is iota or iota + a constant along the dimension; -1: it
 * is another, or counts less far. */
static int64_t first_position(const Module *module, const Value *index, const char *dimension)
{
    const Op *op = index->op;
    int64_t first = 0;
    if (op->kind == OP_add && op->args[1]->op->kind == OP_const) {
        first = (int64_t)op_float(op->args[1]->op, ATTR_value);
        op = op->args[0]->op;
    }
    const Type *type = &index->type;
    if (op->kind != OP_iota || type->rank != 1 || type->dims[0].symbol == NO_SYMBOL || first < 0)
        return -1;
    const char *name = module->symbols.data[type->dims[0].symbol].name;
    return !dimension || !strcmp(name, dimension) ? first : -1;
}

PositionTable position_table(const Module *module, const char *dimension)
{
    PositionTable shortest = {0};
    const Function *model = module_function(module, "model");
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_gather || !dim_is_const(op->args[0]->type.dims[0]))
            continue;
        int64_t first = first_position(module, op->args[1], dimension);
        int64_t length = op->args[0]->type.dims[0].size - first;
        if (first < 0 || length < 1 || (shortest.length && shortest.length <= length))
            continue;
        const Op *table = op->args[0]->op;
        shortest = (PositionTable){length, table->kind == OP_param ? op_string(table, ATTR_name) : "of positions"};
    }
    return shortest;
}
