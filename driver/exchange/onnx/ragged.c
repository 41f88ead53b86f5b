/* Where padded positions exist: comparing their numbers with lengths. */
#include "driver/exchange/onnx/ragged.h"

bool ragged_is_state(const Op *param)
{
    const Type *type = &param->results[0].type;
    for (int i = 0; i < type->rank; i++)
        if (!dim_is_const(type->dims[i]))
            return true;
    FOR_USES (use, &param->results[0])
        if (use->user->kind == OP_assign && use->user->args[0] == &param->results[0])
            return true;
    return false;
}

static void know(OnnxGraph *g, int symbol, const char *of, int axis)
{
    if (!g->dims[symbol].of) {
        g->dims[symbol].of = of;
        g->dims[symbol].axis = axis;
    }
}

/* The lengths of the dimension are an input called `name`. */
static bool declare_lengths_of(OnnxGraph *g, int symbol, const char *name)
{
    Dim batch = dim_symbol(g->module->symbols.data[symbol].batch);
    const Type lengths = type_of(DT_I32, 1, &batch);
    if (!onnx_input(g, name, ONNX_INT64, &lengths))
        return false;
    know(g, batch.symbol, name, 0);
    g->dims[symbol].lengths = name;
    return true;
}

static bool declare_lengths(OnnxGraph *g, const char *name, const Type *type)
{
    for (int i = 0; i < type->rank; i++) {
        int symbol = type->dims[i].symbol;
        if (!symbol_is_ragged(g->module, symbol) || g->dims[symbol].lengths)
            continue;
        if (!declare_lengths_of(g, symbol, arena_printf(g->job->arena, "%s.lengths", name)))
            return false;
    }
    return true;
}

bool ragged_declare(OnnxGraph *g, const Function *function)
{
    FOR_OPS (op, &function->body) {
        if (op->kind != OP_input && (op->kind != OP_param || !ragged_is_state(op)))
            continue;
        const char *name = op_string(op, ATTR_name);
        const Type *type = &op->results[0].type;
        for (int i = 0; i < type->rank; i++)
            if (!dim_is_const(type->dims[i]))
                know(g, type->dims[i].symbol, name, i);
        if (!onnx_input(g, name, onnx_type(type->dtype), type) || !declare_lengths(g, name, type))
            return false;
    }
    return true;
}

static const char *made_lengths(OnnxGraph *g, int symbol)
{
    const DimFormula *formula = &g->module->symbols.data[symbol].formula;
    const char *of[MAX_DIM_TERMS];
    for (int i = 0; i < formula->n; i++) {
        int term = formula->terms[i].symbol;
        of[i] = symbol_is_ragged(g->module, term) ? ragged_lengths(g, term)
                                                  : onnx_dim(g, dim_symbol(term));
        if (!of[i])
            return NULL;
    }
    return onnx_made(g, symbol, of);
}

const char *ragged_lengths(OnnxGraph *g, int symbol)
{
    const char *known = g->dims[symbol].lengths, *name = g->module->symbols.data[symbol].name;
    if (!known && symbol_is_made(g->module, symbol))
        return made_lengths(g, symbol);
    if (!known && !declare_lengths_of(g, symbol, arena_printf(g->job->arena, "%s.lengths", name)))
        return NULL;
    return g->dims[symbol].lengths;
}

/* bool, of the rank: whether a position along `at` is before the end of its row, of `batch`. */
static const char *exists(OnnxGraph *g, int rank, int batch, int at, Dim dim)
{
    const char *range = onnx_unsqueeze(g, onnx_range(g, dim), 1, (int[]){0});
    const char *ends = onnx_unsqueeze(g, ragged_lengths(g, dim.symbol), 1, (int[]){1});
    const char *mask = onnx_binary(g, "Less", range, ends);
    if (at < batch)
        mask = onnx_transpose(g, mask, 2, (int[]){1, 0});
    int others[MAX_RANK], n = 0;
    for (int i = 0; i < rank; i++)
        if (i != batch && i != at)
            others[n++] = i;
    return onnx_unsqueeze(g, mask, n, others);
}

static bool lists(int n, const int *axes, int axis)
{
    for (int i = 0; i < n; i++)
        if (axes[i] == axis)
            return true;
    return false;
}

const char *ragged_fill(OnnxGraph *g, const char *x, const Type *type, int n, const int *axes,
                        double neutral)
{
    for (int i = 0; i < type->rank; i++) {
        int symbol = type->dims[i].symbol;
        if (!symbol_is_ragged(g->module, symbol))
            continue;
        int batch = type_find_dim(type, g->module->symbols.data[symbol].batch);
        if (batch < 0 || (!lists(n, axes, i) && !lists(n, axes, batch)))
            continue;
        const char *mask = exists(g, type->rank, batch, i, type->dims[i]);
        x = type->dtype == DT_BOOL
                ? onnx_binary(g, "And", mask, x)
                : onnx_where(g, mask, x, onnx_scalar(g, onnx_type(type->dtype), neutral));
    }
    return x;
}

const char *ragged_clean(OnnxGraph *g, const char *x, const Type *type)
{
    static const int all[MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    return ragged_fill(g, x, type, type->rank, all, 0);
}
