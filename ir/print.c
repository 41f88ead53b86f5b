/* The printer of the IR's text form; docs/ir.md is the reference. It must be
 * able to print a graph that is wrong, since messages quote it. */
#include "ir/text.h"

#include "base/scan.h"

const char *const tir_roles[PARAM_ROLES] = {
#define ROLE(NAME, word) #word,
#include "base/params.def"
};

const InitWord tir_inits[INIT_COUNT] = {
#define INIT(NAME, word, numbers, ...) {#word, numbers},
#include "base/params.def"
};

static void print_symbol(const Module *module, int symbol, Text *out)
{
    if (symbol < 0 || (size_t)symbol >= module->symbols.count)
        text_add(out, "?%d", symbol);
    else
        text_word(out, module->symbols.data[symbol].name);
}

static void print_dims(const Module *module, int rank, const Dim *dims, Text *out)
{
    text_put(out, "[", 1);
    for (int i = 0; i < rank && i < MAX_RANK; i++) {
        text_string(out, i ? ", " : "");
        if (dim_is_const(dims[i])) {
            text_integer(out, dims[i].size);
            continue;
        }
        print_symbol(module, dims[i].symbol, out);
        if (dims[i].symbol >= 0 && (size_t)dims[i].symbol < module->symbols.count &&
            symbol_is_ragged(module, dims[i].symbol))
            text_put(out, "~", 1);
    }
    text_put(out, "]", 1);
}

void ir_print_type(const Module *module, const Type *type, Text *out)
{
    text_string(out, (unsigned)type->dtype < DT_COUNT ? dtype_name(type->dtype) : "?");
    print_dims(module, type->rank, type->dims, out);
}

const char *ir_type_text(const Module *module, const Type *type, Arena *arena)
{
    Text text = {0};
    ir_print_type(module, type, &text);
    return text_keep(arena, &text);
}

static void print_attr(const Module *module, const Attr *attr, Text *out)
{
    if ((unsigned)attr->name >= ATTR_COUNT) {
        text_put(out, "?", 1);
        return;
    }
    text_string(out, attr_info[attr->name].name);
    text_string(out, " = ");
    switch (attr_info[attr->name].kind) {
    case INT: text_integer(out, attr->i); break;
    case FLOAT: text_number(out, attr->f); break;
    case STRING: text_quote(out, attr->s ? attr->s : ""); break;
    case TYPE:
        text_string(out, (uint64_t)attr->i < DT_COUNT ? dtype_name((DType)attr->i) : "?");
        break;
    case SYMBOL: print_symbol(module, (int)attr->i, out); break;
    case DIMS: print_dims(module, attr->rank, attr->dims, out); break;
    case INTS:
        text_put(out, "[", 1);
        for (int i = 0; i < attr->n && i < MAX_RANK; i++) {
            text_string(out, i ? ", " : "");
            text_integer(out, attr->ints[i]);
        }
        text_put(out, "]", 1);
        break;
    }
}

static void print_operands(const Op *op, Text *out)
{
    for (int i = 0; i < op->n_args; i++) {
        text_string(out, i ? ", " : "");
        text_put(out, "%", 1);
        if (op->args[i])
            text_integer(out, op->args[i]->id);
        else
            text_put(out, "?", 1);
    }
}

static void print_results(const Op *op, Text *out)
{
    for (int i = 0; i < op->n_results; i++) {
        text_string(out, i ? ", %" : "%");
        text_integer(out, op->results[i].id);
    }
    if (op->n_results)
        text_string(out, " = ");
}

void ir_print_attrs(const Module *module, const Op *op, Text *out)
{
    for (int i = 0; i < op->n_attrs; i++) {
        text_string(out, i ? ", " : " {");
        print_attr(module, &op->attrs[i], out);
    }
    if (op->n_attrs)
        text_put(out, "}", 1);
}

static void print_block(const Function *function, const Block *block, int depth, Text *out);

static void print_op(const Function *function, const Op *op, int depth, Text *out)
{
    const Module *module = function->module;
    text_add(out, "%*s", 2 * depth, "");
    print_results(op, out);
    text_string(out, op_info[op->kind].name);
    if (op_family(op) == FAMILY_region) {
        text_put(out, "(", 1);
        print_operands(op, out);
        text_put(out, ")", 1);
    } else if (op->n_args) {
        text_put(out, " ", 1);
        print_operands(op, out);
    }
    ir_print_attrs(module, op, out);
    for (int i = 0; i < op->n_results; i++) {
        text_string(out, i ? ", " : " : ");
        ir_print_type(module, &op->results[i].type, out);
    }
    if (op->scope && *op->scope) {
        text_string(out, " @ ");
        text_word(out, op->scope);
    }
    if (op->body) {
        text_string(out, " {\n");
        print_block(function, op->body, depth + 1, out);
        text_add(out, "%*s}", 2 * depth, "");
    }
    text_put(out, "\n", 1);
}

static void print_block(const Function *function, const Block *block, int depth, Text *out)
{
    for (const Op *op = block->first; op; op = op->next)
        print_op(function, op, depth, out);
}

void ir_print_op(const Function *function, const Op *op, Text *out)
{
    print_op(function, op, 0, out);
}

void ir_print_function(const Function *function, Text *out)
{
    function_number((Function *)function); /* ids are what is shown, not what is meant */
    text_string(out, "func ");
    text_word(out, function->name);
    text_string(out, " {\n");
    print_block(function, &function->body, 1, out);
    text_string(out, "}\n");
}

static void print_param(const Module *module, const ParamInfo *info, Text *out)
{
    text_string(out, "param ");
    text_quote(out, info->name);
    text_string(out, " : ");
    ir_print_type(module, &info->type, out);
    text_add(out, " {role = %s, init = %s", tir_roles[info->role], tir_inits[info->init].name);
    if (info->init == INIT_FILE) {
        text_put(out, "(", 1);
        text_quote(out, info->file ? info->file : "");
        text_put(out, ", ", 2);
        text_quote(out, info->tensor ? info->tensor : "");
        text_put(out, ")", 1);
    } else if (tir_inits[info->init].numbers) {
        text_put(out, "(", 1);
        text_number(out, info->a);
        if (tir_inits[info->init].numbers == 2) {
            text_put(out, ", ", 2);
            text_number(out, info->b);
        }
        text_put(out, ")", 1);
    }
    text_add(out, ", decay = %s%s", info->decay ? "true" : "false",
             info->kept ? ", kept = true" : "");
    if (info->quant)
        text_add(out, ", quant = \"%s\"", quant_info(info->quant)->word);
    text_put(out, "}\n", 2);
}

/* ` = (2 S + 1 T + 1) / 3 [4, 9]` of a dimension made of others. */
static void print_formula(const Module *module, const DimFormula *formula, Text *out)
{
    if (!formula->n)
        return;
    text_string(out, " = (");
    for (int i = 0; i < formula->n; i++) {
        text_add(out, "%d ", (int)formula->terms[i].times);
        print_symbol(module, formula->terms[i].symbol, out);
        text_string(out, " + ");
    }
    text_add(out, "%d) / %d", (int)formula->plus, (int)formula->divisor);
    if (formula->most)
        text_add(out, " [%d, %d]", (int)formula->least, (int)formula->most);
}

static const char *name_of_symbol(const void *module, int32_t symbol)
{
    return ((const Module *)module)->symbols.data[symbol].name;
}

const char *ir_formula_text(const Module *module, const DimFormula *formula, Arena *arena)
{
    return dim_formula_text(arena, formula, name_of_symbol, module);
}

void ir_print_module(const Module *module, Text *out)
{
    text_string(out, "module ");
    text_quote(out, module->name);
    text_put(out, "\n", 1);
    for (size_t i = 0; i < module->symbols.count; i++) {
        const Symbol *symbol = &module->symbols.data[i];
        text_string(out, "dim ");
        text_word(out, symbol->name);
        if (symbol->batch != NO_SYMBOL) {
            text_string(out, " ragged ");
            print_symbol(module, symbol->batch, out);
        }
        print_formula(module, &symbol->formula, out);
        text_put(out, "\n", 1);
    }
    for (size_t i = 0; i < module->params.count; i++)
        print_param(module, module->params.data[i], out);
    for (size_t i = 0; i < module->functions.count; i++) {
        text_put(out, "\n", 1);
        ir_print_function(module->functions.data[i], out);
    }
}
