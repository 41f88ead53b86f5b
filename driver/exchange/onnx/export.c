/* From a function's ops to a file: each op by its rule, what it declares, and the model around. */
#include "driver/exchange/onnx/export.h"

#include "base/file.h"
#include "driver/formats/onnx_weights.h"
#include "driver/exchange/onnx/ragged.h"
#include "driver/exchange/onnx/rules.h"

enum { OPSET = 17, IR_VERSION = 8 }; /* ONNX 1.12 */

typedef struct Exporter {
    OnnxGraph g;
    const Store *store;
} Exporter;

static bool declare_param(Exporter *x, const Op *op)
{
    const char *name = op_string(op, ATTR_name);
    const StoreTensor *param = store_find((Store *)x->store, name);
    if (!param || !param->data)
        return job_error(x->g.job, "ONNX: the param '%s' has no value", name);
    DType dtype = op->results[0].type.dtype;
    return onnx_param(&x->g, name, dtype, param->rank, param->dims, param->data,
                      dtype_bytes(dtype) * (size_t)param->count);
}

/* Inputs and states are there already (ragged_declare). */
static bool declare(Exporter *x, const Op *op)
{
    OnnxGraph *g = &x->g;
    const Value *value = op->kind == OP_input || op->kind == OP_param ? &op->results[0]
                         : op->kind == OP_output                      ? op->args[0]
                                                                      : op->args[1];
    const char *name = op_string(op->kind == OP_assign ? op->args[0]->op : op, ATTR_name);
    switch (op->kind) {
    case OP_input:
    case OP_param:
        g->value[value->id] = name;
        return op->kind == OP_input || ragged_is_state(op) || declare_param(x, op);
    case OP_assign: name = arena_printf(g->job->arena, "%s.new", name); break;
    default: break;
    }
    return onnx_output(g, name, ragged_clean(g, g->value[value->id], &value->type), &value->type);
}

enum {
    N_RULES = 0
#define RULE(op, rule, onnx) +1
#include "driver/exchange/onnx/rules.def"
};
_Static_assert(N_RULES == (int)OP_COUNT, "rules.def has one row an op");

static bool say(Exporter *x, const Op *op)
{
#define say_declared NULL
    static const struct {
        OnnxRule *rule;
        const char *onnx;
    } rules[OP_COUNT] = {
#define RULE(op, rule, onnx) [OP_##op] = {say_##rule, onnx},
#include "driver/exchange/onnx/rules.def"
    };
    x->g.scope = op->scope ? op->scope : "";
    if (!rules[op->kind].rule)
        return declare(x, op);
    const char *name = rules[op->kind].rule(&x->g, op, rules[op->kind].onnx);
    x->g.value[op->results[0].id] = name;
    return name != NULL;
}

static bool write_model(Exporter *x, const Function *function, const char *path)
{
    Text model = {0}, opset = {0};
    proto_put_string(&x->g.bytes, GRAPH_name, function->name);
    proto_put_int(&opset, OPSET_version, OPSET);
    proto_put_int(&model, MODEL_ir_version, IR_VERSION);
    proto_put_string(&model, MODEL_producer_name, ONNX_PRODUCER);
    proto_put_string(&model, MODEL_producer_version, TFC_VERSION);
    proto_put_message(&model, MODEL_opset_import, &opset);
    proto_put_message(&model, MODEL_graph, &x->g.bytes);
    bool ok = model.length <= INT32_MAX || job_error(x->g.job, "ONNX: a file has at most 2 GB");
    ok = ok && file_write_all(&x->g.job->diags, path, model.data, model.length);
    text_free(&model);
    return ok;
}

bool onnx_export(Job *job, const Function *function, const Store *store, const char *path)
{
    const Module *module = function->module;
    Exporter x = {.g = {.job = job, .module = module, .scope = ""}, .store = store};
    map_init(&x.g.nodes, job->arena);
    map_init(&x.g.names, job->arena);
    x.g.dims = ARENA_ARRAY(job->arena, OnnxDim, module->symbols.count + 1);
    x.g.value = ARENA_ARRAY(job->arena, const char *, (size_t)function->next_value + 1);
    bool ok = ragged_declare(&x.g, function);
    FOR_OPS (op, &function->body)
        ok = ok && say(&x, op);
    ok = ok && write_model(&x, function, path);
    text_free(&x.g.bytes);
    return ok;
}
