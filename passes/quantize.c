/* quantize: products by weights, and lookups, of integers (where int8 or another word of
 * base/quants.def is asked for).
 *
 *   %3 = dot %x, %w {…}      ⇒      %3 = dot %x, %w {…, panels = 1, quant = "int8"}
 *   %5 = gather %e, %i       ⇒      %5 = gather %e, %i {quant = "int8"}
 *
 * where %w is made of params alone, and %e is a param that only products and lookups read. What
 * they compute is in docs/ir.md: rows of %x and columns of %w become integers with a scale each, or
 * one for each 32 terms, and so do rows of %e: an embedding that is the output's matrix,
 * too, is there once. %w and %e are rounded when they are packed as panels, rows of %x while the
 * product runs. All other ops, products of two activations, and what reads a `kept` param stay f32;
 * what reads a param with `quant` is of that type, whatever is asked for.
 * Functions that train are refused: rounding has no gradient. */
#include "passes/pass.h"

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

/* The type of what reads the value, which is made of params alone: of the params that have their
 * own the one of most bits, else the one that is asked for. */
static const QuantInfo *quant_for(const Function *function, const SideTable *made, const Op *op,
                                  const QuantInfo *asked)
{
    if (!side_number(made, op))
        return asked;
    if (op->kind == OP_param) {
        const ParamInfo *info = module_param(function->module, op_string(op, ATTR_name));
        return info && info->quant ? quant_info(info->quant) : asked;
    }
    const QuantInfo *found = NULL;
    for (int i = 0; i < op->n_args; i++) {
        const QuantInfo *of = quant_for(function, made, op->args[i]->op, asked);
        found = !found || of->bits > found->bits ? of : found;
    }
    return found ? found : asked;
}

/* Whether it is a kept param, or computed from one. `made`: of params alone. */
static bool is_kept(const Function *function, const SideTable *made, const Op *op)
{
    if (!side_number(made, op))
        return false;
    if (op->kind == OP_param) {
        const ParamInfo *info = module_param(function->module, op_string(op, ATTR_name));
        return info && info->kept;
    }
    bool kept = false;
    for (int i = 0; i < op->n_args; i++)
        kept |= is_kept(function, made, op->args[i]->op);
    return kept;
}

/* Why the product stays f32; MISS_NONE: it does not. */
static Miss why_not(const Function *function, const SideTable *made, const Op *dot)
{
    if (!side_number(made, dot->args[1]->op))
        return MISS_QUANTIZE_LEFT;
    if (is_kept(function, made, dot->args[1]->op))
        return MISS_QUANTIZE_KEPT;
    const Type *b = &dot->args[1]->type;
    if (dot->kind == OP_grouped_dot)
        return b->dims[op_int(dot, ATTR_axis)].size > MAX_QUANT_TERMS ? MISS_QUANTIZE_TERMS
                                                                      : MISS_NONE;
    const Attr *contract = op_attr(dot, ATTR_contract_b);
    if (b->rank != 2 || contract->n != 1 || !dim_is_const(b->dims[contract->ints[0]]))
        return MISS_QUANTIZE_MATRIX;
    return b->dims[contract->ints[0]].size > MAX_QUANT_TERMS ? MISS_QUANTIZE_TERMS : MISS_NONE;
}

static void quantize(Function *function, PassContext *context, const SideTable *made, Op *dot)
{
    const QuantInfo *asked = quant_info(precision_quant(context->precision));
    const char *word = quant_for(function, made, dot->args[1]->op, asked)->word;
    const Miss why = why_not(function, made, dot);
    if (why != MISS_NONE) {
        report_miss(context->report, dot, why, "%s in %s", op_info[dot->kind].name, word);
        return;
    }
    op_set_attr(function, dot, (Attr){.name = ATTR_quant, .s = word});
    op_set_attr(function, dot, (Attr){.name = ATTR_panels, .i = 1});
    report_op(context->report, dot, "%s: weights of %s, packed once, by rows of 8 bits", word,
              op_info[dot->kind].name);
}

/* Tables with short rows, as of positions' biases, are small. */
static Miss why_no_table(const Function *function, const SideTable *made, const Value *table)
{
    enum { SHORT = 32 };
    if (is_kept(function, made, table->op))
        return MISS_QUANTIZE_KEPT;
    if (table->op->kind != OP_param || !is_table_param(table))
        return MISS_QUANTIZE_READ;
    return !type_is_table(&table->type) || table->type.dims[1].size < SHORT ? MISS_QUANTIZE_SHORT
                                                                            : MISS_NONE;
}

static void quantize_table(Function *function, PassContext *context, const SideTable *made,
                           Op *gather)
{
    const QuantInfo *asked = quant_info(precision_quant(context->precision));
    const Value *table = gather->args[0];
    const char *word = quant_for(function, made, table->op, asked)->word;
    if (table->type.dtype != DT_F32 || !side_number(made, table->op))
        return;
    const Miss why = why_no_table(function, made, table);
    if (why != MISS_NONE) {
        report_miss(context->report, gather, why, "gather in %s", word);
        return;
    }
    op_set_attr(function, gather, (Attr){.name = ATTR_quant, .s = word});
    report_op(context->report, gather, "%s: table of gather, packed once", word);
}

bool pass_quantize(Function *function, PassContext *context)
{
    if (!precision_quant(context->precision))
        return true;
    if (trains(function)) {
        diag_error(context->diags, (Loc){0},
                   "%s trains, and products of integers (%s) have no gradient: use f32 or bf16",
                   function->name, quant_info(precision_quant(context->precision))->word);
        return false;
    }
    SideTable made = find_made_of_params(function);
    FOR_OPS (op, &function->body) {
        const bool has_weights =
            op->kind == OP_grouped_dot ||
            (op->kind == OP_dot && !side_number(&made, op) &&
             (side_number(&made, op->args[0]->op) || side_number(&made, op->args[1]->op)));
        if (has_weights && op->args[0]->type.dtype == DT_F32)
            quantize(function, context, &made, op);
        else if (op->kind == OP_gather)
            quantize_table(function, context, &made, op);
    }
    return true;
}
