/* Following an input to the lookups and comparisons it is made for. */
#include "driver/ports/token_ids.h"

#include "frontend/frontend.h"
#include "ir/side.h"

#include <string.h>

/* Carriers: the ops of a model whose results hold an input's integers, in another shape or type and
 * perhaps some of them beside others. */
typedef SideTable Carriers;

static bool carries(const Carriers *carriers, const Value *value)
{
    return value->op && side_number(carriers, value->op);
}

/* Whether the op passes an operand's integers on. */
static bool passes_on(const Op *op, const Carriers *carriers, bool selected)
{
    int first = 0, end = op->n_args ? 1 : 0;
    if (op->kind == OP_select && selected) {
        first = 1;
        end = op->n_args;
    } else if (op->kind == OP_concat)
        end = op->n_args;
    else if (op_family(op) != FAMILY_shape && op->kind != OP_cast && op->kind != OP_stop_gradient)
        return false;
    for (int i = first; i < end; i++)
        if (carries(carriers, op->args[i]))
            return true;
    return false;
}

/* `selected`: also where a select puts others in the place of some. */
static Carriers carriers_of(const Function *model, const Op *input, bool selected)
{
    Carriers carriers = side_new(model->module->arena);
    FOR_OPS (op, &model->body)
        if (op == input || passes_on(op, &carriers, selected))
            side_set_number(&carriers, op, 1);
    return carriers;
}

/* Numbers may mean something else where a select leaves them out, such as -1; tokens do not, nor
 * what is made along with them. */
static bool is_token(const Op *input)
{
    const char *name = op_string(input, ATTR_name);
    return op_attr(input, ATTR_vocab) || text_ends(name, NEXT_SUFFIX) ||
           text_ends(name, HIDDEN_SUFFIX);
}

static const Op *input_named(const Function *model, const char *name)
{
    FOR_OPS (op, &model->body)
        if (op->kind == OP_input && !strcmp(op_string(op, ATTR_name), name))
            return op;
    return NULL;
}

/* What a value is, seen through ops that only show it under other coordinates. */
static const Op *seen_through(const Value *value)
{
    const Op *op = value->op;
    while (op->kind == OP_reshape || op->kind == OP_transpose || op->kind == OP_broadcast ||
           op->kind == OP_slice || op->kind == OP_flip || op->kind == OP_cast ||
           op->kind == OP_stop_gradient)
        op = op->args[0]->op;
    return op;
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

/* Whether a carrier is operand 1 of an op of that kind. */
static bool is_index_of(const Function *model, const Op *input, OpKind kind)
{
    const Carriers carriers = carriers_of(model, input, is_token(input));
    FOR_OPS (op, &model->body)
        if (op->kind == kind && carries(&carriers, op->args[1]))
            return true;
    return false;
}

bool token_is_looked_up(const Function *model, const Op *input)
{
    return is_index_of(model, input, OP_gather);
}

bool token_is_ctc_label(const Function *model, const Op *input)
{
    return is_index_of(model, input, OP_ctc);
}

static int64_t table_of(const Function *model, const Op *input, bool selected)
{
    const Carriers carriers = carriers_of(model, input, selected);
    int64_t rows = 0;
    FOR_OPS (op, &model->body) {
        int64_t found = 0;
        if (op->kind == OP_gather && carries(&carriers, op->args[1]) &&
            dim_is_const(op->args[0]->type.dims[0]))
            found = op->args[0]->type.dims[0].size;
        else if (op->kind == OP_ctc && carries(&carriers, op->args[1]))
            found = op->args[0]->type.dims[2].size;
        if (found && (!rows || found < rows))
            rows = found;
    }
    return rows;
}

int64_t token_table(const Function *model, const Op *input)
{
    return table_of(model, input, is_token(input));
}

bool token_table_is_shared(const Function *model, const Op *a, const Op *b)
{
    const Carriers of_a = carriers_of(model, a, is_token(a)),
                   of_b = carriers_of(model, b, is_token(b));
    FOR_OPS (one, &model->body)
        if (one->kind == OP_gather && carries(&of_a, one->args[1]))
            FOR_OPS (other, &model->body)
                if (other->kind == OP_gather && carries(&of_b, other->args[1]) &&
                    seen_through(one->args[0]) == seen_through(other->args[0]))
                    return true;
    return false;
}

int64_t token_labels(const Function *model, const Op *input)
{
    const Carriers carriers = carriers_of(model, input, is_token(input));
    int64_t least = INT64_MAX;
    FOR_OPS (op, &model->body)
        for (int side = 0; op->kind == OP_eq && side < 2; side++) {
            int64_t n = carries(&carriers, op->args[side]) ? counted(op->args[1 - side]) : least;
            least = n < least ? n : least;
        }
    return least;
}

TokenRange token_ids_of(const Module *module, const char *name)
{
    TokenRange range = {INT64_MAX, true};
    const Function *model = module_function(module, "model");
    const Op *input = input_named(model, name);
    int64_t rows = input ? table_of(model, input, false) : 0;
    narrow(&range, rows ? rows : INT64_MAX, false);
    if (input && (text_ends(name, NEXT_SUFFIX) || text_ends(name, HIDDEN_SUFFIX)))
        narrow(&range, token_labels(model, input), true);
    return range;
}
