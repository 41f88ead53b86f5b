/* Roles of a model's inputs and outputs. */
#include "driver/ports.h"

#include "driver/token_ids.h"

#include <string.h>

static bool is_tokens(const Module *module, const Type *type)
{
    return type->dtype == DT_I32 && type->rank == 2 &&
           symbol_is_ragged(module, type->dims[1].symbol);
}

static const Op *find_input(const Function *model, const char *name, size_t length)
{
    FOR_OPS (op, &model->body)
        if (op->kind == OP_input && strlen(op_string(op, ATTR_name)) == length &&
            !strncmp(op_string(op, ATTR_name), name, length))
            return op;
    return NULL;
}

static void find_inputs(const Module *module, const Function *model, ModelPorts *ports)
{
    FOR_OPS (op, &model->body) {
        const char *name = op->kind == OP_input ? op_string(op, ATTR_name) : "";
        if (!text_ends(name, ".next"))
            continue;
        const Op *target = find_input(model, name, strlen(name) - strlen(".next"));
        ports->next = name;
        ports->target = target ? op_string(target, ATTR_name) : NULL;
    }
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_input || !is_tokens(module, &op_result(op)->type))
            continue;
        const char *name = op_string(op, ATTR_name);
        if (name != ports->target && name != ports->next && !ports->source)
            ports->source = name;
    }
}

ModelPorts ports_of(const Module *module)
{
    ModelPorts ports = {0};
    const Function *model = module_function(module, "model");
    find_inputs(module, model, &ports);
    FOR_OPS (op, &model->body) {
        if (op->kind != OP_output || !strcmp(op_string(op, ATTR_name), "loss"))
            continue;
        const Type *type = &op->args[0]->type;
        bool is_logits =
            type->rank == 3 && dtype_is_float(type->dtype) && dim_is_const(type->dims[2]);
        if (!is_logits || (ports.logits && strcmp(op_string(op, ATTR_name), "logits")))
            continue;
        ports.logits = op_string(op, ATTR_name);
        ports.vocab = type->dims[2].size;
    }
    return ports;
}

IdRange ports_ids(const Module *module, const Op *input)
{
    const Function *model = module_function(module, "model");
    ModelPorts ports = ports_of(module);
    bool is_next = ports.next && !strcmp(op_string(input, ATTR_name), ports.next);
    if (is_next && ports.vocab)
        return (IdRange){-1, ports.vocab};
    return (IdRange){0, token_table(model, op_result((Op *)input))};
}

CorpusKind ports_kind(const ModelPorts *ports, bool lines)
{
    if (ports->source && ports->target)
        return CORPUS_PAIRS;
    if (!ports->target)
        return CORPUS_SENTENCES;
    return lines ? CORPUS_LINES : CORPUS_STREAM;
}

static bool is_fed(const ModelPorts *ports, const char *name)
{
    const char *fed[] = {ports->source, ports->target, ports->next};
    for (int i = 0; i < 3; i++)
        if (fed[i] && !strcmp(fed[i], name))
            return true;
    return false;
}

/* An input of the model that the function reads and no column feeds, as the model declares it; or NULL. */
static const Op *find_unfed(const ModelPorts *ports, const Function *function)
{
    const Function *model = module_function(function->module, "model");
    FOR_OPS (op, &function->body) {
        const char *name = op->kind == OP_input ? op_string(op, ATTR_name) : NULL;
        const Op *declared = name ? find_input(model, name, strlen(name)) : NULL;
        if (declared && !is_fed(ports, name))
            return declared;
    }
    return NULL;
}

bool ports_are_fed(const ModelPorts *ports, const Function *function) { return !find_unfed(ports, function); }

bool ports_feed(const ModelPorts *ports, const Function *function, Diagnostics *diags)
{
    const Op *declared = find_unfed(ports, function);
    if (declared) {
        Text columns = {0};
        if (ports->source)
            text_add(&columns, ports->target ? "source text feeds `%s`" : "the text feeds `%s`",
                     ports->source);
        if (ports->target)
            text_add(&columns, "%s `%s`%s", ports->source ? ", target text" : "the text feeds",
                     ports->target, ports->next ? " and its next tokens" : "");
        diag_error(diags, declared->loc, "no column of the data feeds the input `%s`: %s", op_string(declared, ATTR_name),
                   columns.length ? columns.data : "the model has no input of tokens [B, S~]");
        text_free(&columns);
    }
    return !declared;
}
