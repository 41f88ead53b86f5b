/* Logical indices, storage, and the way to the oracle; see elements.h. */
#include "tests/codegen/elements.h"

#include "oracle/oracle.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

Elements *elements_new(const BatchShape *shape, const Type *type)
{
    Elements *x = ARENA_NEW(shape->arena, Elements);
    x->type = *type;
    x->count = 1;
    for (int i = 0; i < type->rank; i++) {
        x->dims[i] = dim_is_const(type->dims[i]) ? type->dims[i].size
                                                 : shape->symbols[type->dims[i].symbol].extent;
        x->count *= x->dims[i];
    }
    x->data = ARENA_ARRAY(shape->arena, double, x->count + 1);
    return x;
}

bool elements_next(const Elements *x, int64_t index[MAX_RANK])
{
    for (int i = x->type.rank - 1; i >= 0; i--) {
        if (++index[i] < x->dims[i])
            return true;
        index[i] = 0;
    }
    return false;
}

int64_t elements_at(const Elements *x, const int64_t index[MAX_RANK])
{
    int64_t at = 0;
    for (int i = 0; i < x->type.rank; i++)
        at = at * x->dims[i] + index[i];
    return at;
}

static int dim_of_symbol(const Type *type, int symbol)
{
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i].symbol == symbol)
            return i;
    return -1;
}

bool elements_exists(const BatchShape *shape, const Elements *x, const int64_t index[MAX_RANK])
{
    for (int i = 0; i < x->type.rank; i++) {
        int symbol = x->type.dims[i].symbol;
        if (!symbol_is_ragged(shape->module, symbol))
            continue;
        int batch = dim_of_symbol(&x->type, shape->module->symbols.data[symbol].batch);
        if (batch >= 0 && index[i] >= shape->symbols[symbol].length[index[batch]])
            return false;
    }
    return true;
}

static int64_t total_of(const SymbolValue *symbol)
{
    int64_t total = 0;
    for (int b = 0; b < symbol->n; b++)
        total += symbol->length[b];
    return total;
}

static int64_t axis_length(const BatchShape *shape, const Axis *axis)
{
    if (dim_is_const(axis->extent))
        return axis->extent.size;
    const SymbolValue *symbol = &shape->symbols[axis->extent.symbol];
    return axis->batch_dim >= 0 ? total_of(symbol) : symbol->extent;
}

int64_t elements_stored_count(const BatchShape *shape, const Type *type)
{
    Layout layout = layout_of(shape->module, type);
    int64_t count = 1;
    for (int i = 0; i < layout.n; i++)
        count *= axis_length(shape, &layout.axes[i]);
    return count;
}

int64_t elements_storage(const BatchShape *shape, const Elements *x, const int64_t index[MAX_RANK])
{
    Layout layout = layout_of(shape->module, &x->type);
    int64_t at = 0;
    for (int i = 0; i < layout.n; i++) {
        const Axis *axis = &layout.axes[i];
        int64_t here = index[axis->dim];
        for (int64_t b = 0; axis->batch_dim >= 0 && b < index[axis->batch_dim]; b++)
            here += shape->symbols[axis->extent.symbol].length[b];
        at = at * axis_length(shape, axis) + here;
    }
    return at;
}

bool elements_agree(const Elements *want, int64_t i, double got)
{
    return oracle_is_close(want->data[i], want->tolerance[i], got);
}

/* ---- the oracle ---- */

static OracleTensor to_oracle(const BatchShape *shape, const char *name, const Elements *x)
{
    OracleTensor given = {.name = name, .type = x->type};
    given.count = elements_stored_count(shape, &x->type);
    given.data = ARENA_ARRAY(shape->arena, double, given.count + 1);
    int64_t index[MAX_RANK] = {0};
    if (x->count)
        do
            if (elements_exists(shape, x, index))
                given.data[elements_storage(shape, x, index)] = x->data[elements_at(x, index)];
        while (elements_next(x, index));
    return given;
}

static Elements *from_oracle(const BatchShape *shape, const OracleTensor *result)
{
    Elements *x = elements_new(shape, &result->type);
    x->tolerance = ARENA_ARRAY(shape->arena, double, x->count + 1);
    int64_t index[MAX_RANK] = {0};
    if (x->count)
        do {
            if (!elements_exists(shape, x, index))
                continue;
            int64_t to = elements_at(x, index), from = elements_storage(shape, x, index);
            x->data[to] = result->data[from];
            x->tolerance[to] = oracle_tolerance(result, from);
        } while (elements_next(x, index));
    return x;
}

static const OracleTensor *find(const OracleTensors *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->data[i].name, name))
            return &all->data[i];
    fail_msg("the oracle gives no %s", name);
    return NULL;
}

void elements_evaluate(const BatchShape *shape, const Function *function, uint64_t seed,
                       uint64_t step)
{
    Diagnostics diags;
    diag_init(&diags, shape->arena);
    OracleDim *dims = ARENA_ARRAY(shape->arena, OracleDim, shape->module->symbols.count + 1);
    for (size_t i = 0; i < shape->module->symbols.count; i++)
        dims[i] = (OracleDim){shape->symbols[i].extent,
                              shape->symbols[i].n ? shape->symbols[i].length : NULL};
    VEC(OracleTensor) given = {0};
    FOR_OPS (op, &function->body)
        if (op->kind == OP_input || op->kind == OP_param)
            vec_push(shape->arena, given,
                     to_oracle(shape, op_string(op, ATTR_name), elements_of(shape, op_result(op))));
    OracleRun run = {.dims = dims,
                     .seed = seed,
                     .step = step,
                     .compute = DT_F64,
                     .given = given.data,
                     .n_given = (int)given.count};
    if (!oracle_run(function, &run, shape->arena, &diags))
        fail_msg("the oracle cannot run the function");
    FOR_OPS (op, &function->body) {
        if (op->kind == OP_output)
            elements_set(shape, op->args[0],
                         from_oracle(shape, find(&run.outputs, op_string(op, ATTR_name))));
        if (op->kind == OP_assign)
            elements_set(
                shape, op->args[1],
                from_oracle(shape, find(&run.assigned, op_string(op->args[0]->op, ATTR_name))));
    }
}
