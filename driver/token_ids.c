/* Following an input to the lookups and comparisons it is made for. */
#include "driver/token_ids.h"

#include <string.h>

/* What a value is, seen through ops that only show it under other coordinates. */
static const Op *seen_through(const Value *value)
{
    const Op *op = value->op;
    while (op->kind == OP_reshape || op->kind == OP_transpose || op->kind == OP_broadcast ||
           op->kind == OP_slice || op->kind == OP_flip || op->kind == OP_stop_gradient)
        op = op->args[0]->op;
    return op;
}

static bool is_input(const Value *value, const char *name)
{
    const Op *op = seen_through(value);
    return op->kind == OP_input && !strcmp(op_string(op, ATTR_name), name);
}

/* How far an iota counts, if that is a constant; else INT64_MAX. */
static int64_t counted(const Value *value)
{
    const Op *op = seen_through(value);
    int64_t size = 1;
    if (op->kind != OP_iota)
        return INT64_MAX;
    for (int i = 0; i < op->results[0].type.rank; i++) {
        if (!dim_is_const(op->results[0].type.dims[i]))
            return INT64_MAX;
        size *= op->results[0].type.dims[i].size;
    }
    return size;
}

static int64_t const_size(const Value *value, int axis)
{
    return dim_is_const(value->type.dims[axis]) ? value->type.dims[axis].size : INT64_MAX;
}

static void narrow(TokenRange *range, int64_t size, bool has_negative)
{
    if (size == INT64_MAX)
        return;
    if (size < range->size)
        range->size = size;
    range->has_negative = range->has_negative && has_negative;
}

TokenRange token_ids_of(const Module *module, const char *input)
{
    TokenRange range = {INT64_MAX, true};
    const Function *model = module_function(module, "model");
    FOR_OPS (op, &model->body) {
        if (op->kind == OP_gather && is_input(op->args[1], input) &&
            seen_through(op->args[0])->kind == OP_param)
            narrow(&range, const_size(op->args[0], 0), false);
        if (op->kind == OP_ctc && is_input(op->args[1], input))
            narrow(&range, const_size(op->args[0], 2), false);
        for (int side = 0; op->kind == OP_eq && side < 2; side++)
            if (is_input(op->args[side], input))
                narrow(&range, counted(op->args[1 - side]), true);
    }
    return range;
}
