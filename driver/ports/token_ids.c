/* Following an input to the lookups and comparisons it is made for. */
#include "driver/ports/token_ids.h"

#include "frontend/frontend.h"

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

static void narrow(TokenRange *range, int64_t size, bool has_negative)
{
    if (size == INT64_MAX)
        return;
    if (size < range->size)
        range->size = size;
    range->has_negative = range->has_negative && has_negative;
}

/* Whether the op gives the value's integers: in another shape or type or, if selected tokens count,
 * some of them beside others. */
static bool passes_on(const Op *op, const Value *value, bool selected)
{
    if (op->kind == OP_select)
        return selected && (op->args[1] == value || op->args[2] == value);
    return op->n_args >= 1 && op->args[0] == value &&
           (op_family(op) == FAMILY_shape || op->kind == OP_cast || op->kind == OP_stop_gradient);
}

/* Numbers may mean something else where a select leaves them out, such as -1; tokens do not. */
static bool is_token(const Value *index)
{
    return index->op->kind == OP_input && op_attr(index->op, ATTR_vocab);
}

/* Whether the value is operand 1 of an op of that kind. */
static bool is_index_of(const Function *model, const Value *value, OpKind kind, bool selected)
{
    FOR_OPS (op, &model->body)
        if ((op->kind == kind && op->args[1] == value) ||
            (passes_on(op, value, selected) && is_index_of(model, op_result(op), kind, selected)))
            return true;
    return false;
}

bool token_is_looked_up(const Function *model, const Value *index)
{
    return is_index_of(model, index, OP_gather, is_token(index));
}

bool token_is_ctc_label(const Function *model, const Value *index)
{
    return is_index_of(model, index, OP_ctc, is_token(index));
}

static int64_t table_of(const Function *model, const Value *index, bool selected)
{
    int64_t rows = 0;
    FOR_OPS (op, &model->body) {
        int64_t found = 0;
        if (op->kind == OP_gather && op->args[1] == index &&
            dim_is_const(op->args[0]->type.dims[0]))
            found = op->args[0]->type.dims[0].size;
        else if (op->kind == OP_ctc && op->args[1] == index)
            found = op->args[0]->type.dims[2].size;
        else if (passes_on(op, index, selected))
            found = table_of(model, op_result(op), selected);
        if (found && (!rows || found < rows))
            rows = found;
    }
    return rows;
}

int64_t token_table(const Function *model, const Value *index)
{
    return table_of(model, index, is_token(index));
}

bool token_table_is_shared(const Function *model, const char *a, const char *b)
{
    FOR_OPS (one, &model->body)
        if (one->kind == OP_gather && is_input(one->args[1], a))
            FOR_OPS (other, &model->body)
                if (other->kind == OP_gather && is_input(other->args[1], b) &&
                    seen_through(one->args[0]) == seen_through(other->args[0]))
                    return true;
    return false;
}

int64_t token_labels(const Function *model, const char *input)
{
    int64_t least = INT64_MAX;
    FOR_OPS (op, &model->body)
        for (int side = 0; op->kind == OP_eq && side < 2; side++) {
            int64_t n = is_input(op->args[side], input) ? counted(op->args[1 - side]) : INT64_MAX;
            least = n < least ? n : least;
        }
    return least;
}

TokenRange token_ids_of(const Module *module, const char *input)
{
    TokenRange range = {INT64_MAX, true};
    const Function *model = module_function(module, "model");
    FOR_OPS (op, &model->body)
        if (op->kind == OP_input && !strcmp(op_string(op, ATTR_name), input)) {
            int64_t rows = table_of(model, op_result(op), false);
            narrow(&range, rows ? rows : INT64_MAX, false);
        }
    if (text_ends(input, NEXT_SUFFIX) || text_ends(input, HIDDEN_SUFFIX))
        narrow(&range, token_labels(model, input), true);
    return range;
}
