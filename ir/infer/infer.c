/* Dispatch of the type rules and what they share. */
#include "ir/infer/rules.h"
#include "ir/text.h"

static InferRule *const rules[OP_COUNT] = {
#define OP(name, arity, family, infer, ...) [OP_##name] = infer_##infer,
#include "ir/ops.def"
};

/* A ragged dimension has the lengths of one batch. */
static bool check_batches(const Infer *in, const Type *type)
{
    for (int i = 0; i < type->rank; i++) {
        int symbol = type->dims[i].symbol;
        if (!symbol_is_ragged(in->module, symbol))
            continue;
        int batch = in->module->symbols.data[symbol].batch;
        if (type_count_dim(type, batch) > 1)
            return infer_fail(in, "in %s it is not said which %s has the lengths of %s",
                              infer_text(in, type), in->module->symbols.data[batch].name,
                              infer_dim_text(in, type->dims[i]));
    }
    return true;
}

bool infer_type(const Module *module, const Op *op, Type *type, Diagnostics *diags)
{
    Infer in = {module, op, diags};
    int arity = op_info[op->kind].arity;
    if (arity >= 0 ? op->n_args != arity
                   : op->n_args < 1 && op_family(op) != FAMILY_region && op->kind != OP_yield)
        return infer_fail(&in, "takes %d operands, given %d", arity, op->n_args);
    return rules[op->kind](&in, type) && check_batches(&in, type);
}

bool infer_fail(const Infer *in, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(in->module->arena, format, args);
    va_end(args);
    diag_error(in->diags, in->op->loc, "%s: %s", op_info[in->op->kind].name, message);
    return false;
}

bool infer_quant(const Infer *in)
{
    return op_quant(in->op) != QUANT_NONE || infer_fail(in, "quant is \"%s\", not one of %s",
                                                        op_string(in->op, ATTR_quant), QUANT_WORDS);
}

const char *infer_text(const Infer *in, const Type *type)
{
    return ir_type_text(in->module, type, in->module->arena);
}

const char *infer_dim_text(const Infer *in, Dim dim)
{
    if (dim_is_const(dim))
        return arena_printf(in->module->arena, "%lld", (long long)dim.size);
    return arena_printf(in->module->arena, "%s%s", in->module->symbols.data[dim.symbol].name,
                        symbol_is_ragged(in->module, dim.symbol) ? "~" : "");
}

const Attr *infer_attr(const Infer *in, AttrName name)
{
    const Attr *attr = op_attr(in->op, name);
    if (!attr)
        infer_fail(in, "attribute %s is missing", attr_info[name].name);
    return attr;
}

int infer_const_axis(const Infer *in)
{
    const Attr *axis = infer_attr(in, ATTR_axis);
    const Type *x = infer_arg(in, 0);
    if (!axis)
        return -1;
    if (axis->i < 0 || axis->i >= x->rank) {
        infer_fail(in, "axis %lld is outside %s", (long long)axis->i, infer_text(in, x));
        return -1;
    }
    if (!dim_is_const(x->dims[axis->i])) {
        infer_fail(in, "axis %lld of %s is not a constant", (long long)axis->i, infer_text(in, x));
        return -1;
    }
    return (int)axis->i;
}

bool shape_broadcast(const Type *a, const Type *b, Type *out)
{
    Type result = {.dtype = a->dtype, .rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 1; i <= result.rank; i++) {
        Dim x = i <= a->rank ? a->dims[a->rank - i] : dim_const(1);
        Dim y = i <= b->rank ? b->dims[b->rank - i] : dim_const(1);
        if (!dim_equal(x, y) && !dim_is_one(x) && !dim_is_one(y))
            return false;
        result.dims[result.rank - i] = dim_is_one(x) ? y : x;
    }
    *out = result;
    return true;
}
