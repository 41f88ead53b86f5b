/* quantize: products by weights, and lookups, in 8 bits, or in 4 (where int8 or int4 is asked for).
 *
 *   %3 = dot %x, %w {…}      ⇒      %3 = dot %x, %w {…, bits = 8, panels = 1}
 *   %5 = gather %e, %i       ⇒      %5 = gather %e, %i {bits = 8}
 *
 * where %w is made of params alone, and %e is a param that only products and lookups read. What
 * they compute is in docs/ir.md: rows of %x and columns of %w become integers with a scale each, or
 * of 4 bits one for each 32 terms, and so do rows of %e: an embedding that is the output's matrix,
 * too, is there once. %w and %e are rounded when they are packed as panels, rows of %x while the
 * product runs. All other ops, and products of two activations, stay f32. Functions that train are
 * refused: rounding has no gradient. */
#include "passes/prepack.h"

#include <string.h>

bool pass_quantize(Function *function, PassContext *context);

/* A gradient is given, or a param is written that is no cache. */
static bool trains(const Function *function)
{
    bool found = false;
    FOR_OPS (op, &function->body) {
        found |= op->kind == OP_keep || (op->kind == OP_assign && !is_cache(op->args[0]));
        found |= op->kind == OP_output && !strncmp(op_string(op, ATTR_name), "grad.", 5);
    }
    return found;
}

/* Why the product stays f32; MISS_NONE: it does not. */
static Miss why_not(const Op *dot)
{
    const Type *b = &dot->args[1]->type;
    const Attr *contract = op_attr(dot, ATTR_contract_b);
    if (b->rank != 2 || contract->n != 1 || !dim_is_const(b->dims[contract->ints[0]]))
        return MISS_QUANTIZE_MATRIX;
    return b->dims[contract->ints[0]].size > MAX_BITS_TERMS ? MISS_QUANTIZE_TERMS : MISS_NONE;
}

static void quantize(Function *function, PassContext *context, const SideTable *made, Op *dot)
{
    const int bits = precision_bits(context->precision);
    const Miss why = side_number(made, dot->args[1]->op) ? why_not(dot) : MISS_QUANTIZE_LEFT;
    if (why != MISS_NONE) {
        report_miss(context->report, dot, why, bits == 8 ? "dot in 8 bits" : "dot in 4 bits");
        return;
    }
    op_set_attr(function, dot, (Attr){.name = ATTR_bits, .i = bits});
    op_set_attr(function, dot, (Attr){.name = ATTR_panels, .i = 1});
    report_op(context->report, dot, "%d bits: weights of dot, packed once, by rows of 8", bits);
}

/* Whether all that reads the param are products, through transposes, too, and lookups in it. */
static bool is_table(const Value *value)
{
    for (const Use *use = value->first_use; use; use = use->next) {
        const Op *user = use->user;
        const bool looks_up = user->kind == OP_gather && user->args[1] != value;
        if (!looks_up && user->kind != OP_dot &&
            !(user->kind == OP_transpose && is_table(&user->results[0])))
            return false;
    }
    return true;
}

/* Tables with short rows, as of positions' biases, are small. */
static Miss why_no_table(const Value *table)
{
    enum { SHORT = 32 };
    if (table->op->kind != OP_param || !is_table(table))
        return MISS_QUANTIZE_READ;
    return !bits_fit_table(&table->type) || table->type.dims[1].size < SHORT ? MISS_QUANTIZE_SHORT
                                                                             : MISS_NONE;
}

static void quantize_table(Function *function, PassContext *context, const SideTable *made,
                           Op *gather)
{
    const int bits = precision_bits(context->precision);
    const Value *table = gather->args[0];
    if (table->type.dtype != DT_F32 || !side_number(made, table->op))
        return;
    const Miss why = why_no_table(table);
    if (why != MISS_NONE) {
        report_miss(context->report, gather, why,
                    bits == 8 ? "gather in 8 bits" : "gather in 4 bits");
        return;
    }
    op_set_attr(function, gather, (Attr){.name = ATTR_bits, .i = bits});
    report_op(context->report, gather, "%d bits: table of gather, packed once", bits);
}

bool pass_quantize(Function *function, PassContext *context)
{
    if (!precision_bits(context->precision))
        return true;
    if (trains(function)) {
        diag_error(context->diags, (Loc){0},
                   "%s trains, and products of %d bits have no gradient: use f32 or bf16",
                   function->name, precision_bits(context->precision));
        return false;
    }
    SideTable made = find_made_of_params(function);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_dot && op->args[0]->type.dtype == DT_F32 && !side_number(&made, op) &&
            (side_number(&made, op->args[0]->op) || side_number(&made, op->args[1]->op)))
            quantize(function, context, &made, op);
        else if (op->kind == OP_gather)
            quantize_table(function, context, &made, op);
    return true;
}
