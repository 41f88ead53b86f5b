/* From bindings and stores to the oracle; see interpret.h. */
#include "check/interpret.h"

#include <string.h>

static OracleDim *dims_of(Interpreted *in, Variant *v)
{
    const Module *module = in->function->module;
    OracleDim *dims = ARENA_ARRAY(in->arena, OracleDim, module->symbols.count + 1);
    for (size_t i = 0; i < module->symbols.count; i++) {
        const BoundDim *bound = binding_dim(&v->binding, module->symbols.data[i].name);
        if (bound)
            dims[i] = (OracleDim){bound->extent, bound->length};
    }
    return dims;
}

static const OracleTensor *find_oracle_tensor(const OracleTensors *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->data[i].name, name))
            return &list->data[i];
    return NULL;
}

static void add_interpreted(Interpreted *in, const Op *op, int64_t count, double *data)
{
    OracleTensor tensor = {.name = op_string(op, ATTR_name),
                           .type = op->results[0].type,
                           .count = count,
                           .data = data};
    vec_push(in->arena, in->given, tensor);
}

/* As the program stores it: floats of f32 rounded. */
static void add_input(Interpreted *in, Variant *v, const Op *op)
{
    const Type *type = &op->results[0].type;
    const StTensor *from = tensors_find(&v->binding, op_string(op, ATTR_name));
    if (!from)
        return; /* the oracle says which is missing */
    int64_t count = oracle_count(in->function->module, type, in->dims);
    double *padded = ARENA_ARRAY(in->arena, double, from->count + 1);
    double *data = ARENA_ARRAY(in->arena, double, count + 1);
    for (int64_t i = 0; i < from->count; i++) {
        double x = st_value(from, i);
        padded[i] = type->dtype == DT_F32 ? (double)(float)x : x;
    }
    oracle_pack(in->function->module, type, in->dims, padded, from->dims, data);
    add_interpreted(in, op, count, data);
}

static void add_param(Interpreted *in, Variant *v, const Op *op)
{
    const StoreTensor *from = store_find(v->store, op_string(op, ATTR_name));
    if (!from)
        return;
    double *data = ARENA_ARRAY(in->arena, double, from->count + 1);
    for (int64_t i = 0; i < from->count; i++)
        data[i] = element_value(from->type, from->data, i);
    add_interpreted(in, op, from->count, data);
}

void interpreted_open(Check *check, Variant *v, const Function *function, Interpreted *in)
{
    *in = (Interpreted){.job = check->job, .arena = arena_new(), .function = function};
    in->dims = dims_of(in, v);
    FOR_OPS (op, &function->body)
        if (op->kind == OP_input)
            add_input(in, v, op);
        else if (op->kind == OP_param)
            add_param(in, v, op);
    in->run = (OracleRun){.dims = in->dims,
                          .seed = check->seed,
                          .step = 1, /* as variant_run */
                          .compute = DT_F64,
                          .given = in->given.data,
                          .n_given = (int)in->given.count};
}

void interpreted_give(Interpreted *in, const OracleTensors *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        vec_push(in->arena, in->given, outputs->data[i]);
    in->run.given = in->given.data;
    in->run.n_given = (int)in->given.count;
}

void interpreted_close(Interpreted *in) { arena_free(in->arena); }

bool interpreted_run(Interpreted *in)
{
    return oracle_run(in->function, &in->run, in->arena, &in->job->diags);
}

const OracleTensor *interpreted_output(const Interpreted *in, const char *name)
{
    return find_oracle_tensor(&in->run.outputs, name);
}
