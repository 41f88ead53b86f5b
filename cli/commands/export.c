/* tfc export: params, or a model as ONNX, as a file for other programs. */
#include "cli/commands/commands.h"
#include "cli/options/endings.h"
#include "driver/exchange/gguf_export.h"
#include "driver/exchange/npz_export.h"
#include "driver/exchange/onnx/export.h"
#include "driver/exchange/revise.h"
#include "driver/ports/patterns.h"
#include "driver/run/published.h"
#include "driver/run/quantise.h"
#include "driver/run/weights.h"

#include <string.h>

typedef struct Export {
    Common common;
    const char *out, *format, *function, *type;
    bool merge;
    TextList only;
} Export;

/* Of a run in integers the GGUF has the same ones, unless another type is given. */
static bool write_gguf(Job *job, const Session *session, const Export *o,
                       const ModelArgument *model, const char *files, Store *store,
                       WeightsExport what)
{
    const char *own = NULL;
    Map others;
    if (!quantise_gguf(job, model->run, session->model->module, &own, &others))
        return false;
    const char *type = o->type ? o->type : own ? own : "f32";
    if (own && !strcmp(type, own))
        what.others = &others;
    return gguf_export(job, model->run, files, session->model, store, &what, type, o->out);
}

/* A format of published models: the files beside the params are as the run is now. */
static bool write_published(Job *job, Session *session, const Export *o, const ModelArgument *model,
                            Store *store, const WeightsExport *what)
{
    const ReviseOptions options = {
        .model = model, .format = o->format, .out = o->out, .merges = o->merge};
    Revised revised = {0};
    const bool ok =
        published_folder(job, model->run, o->format) &&
        published_check_names(job, session->model, store, what) &&
        revise_published(job, &options, &revised) &&
        (!strcmp(o->format, "hf") ? published_write(job, model->run, revised.folder, session->model,
                                                    store, what, o->type, o->out)
         : !strcmp(o->format, "marian")
             ? npz_export(job, model->run, revised.folder, store, what, o->out)
             : write_gguf(job, session, o, model, revised.folder, store, *what));
    revise_end(job, &revised);
    return ok;
}

/* The store as the format has it. */
static bool write_params(Job *job, Session *session, const Export *o, const ModelArgument *model,
                         Store *store, const Map *parts)
{
    const WeightsExport what = {.only = &o->only, .without = parts};
    if (!strcmp(o->format, "safetensors"))
        return weights_export(job, session->model, store, &what, o->out);
    if (strcmp(o->format, "onnx"))
        return write_published(job, session, o, model, store, &what);
    const Function *function = session_function(session, o->function ? o->function : "forward");
    return function && onnx_export(job, function, store, o->out);
}

/* Every param that training and inference have. */
static bool add_params(Job *job, Session *session, Store *store)
{
    const char *name = session->model->has_loss ? "loss" : "forward";
    const TfcProgram *program = session_compile(session, session_function(session, name));
    return program && (store_add_program(store, program) || job_no_memory(job));
}

static bool export_model(Job *job, const Export *o, ModelArgument *model)
{
    if (!o->common.weights && !model->run)
        return job_error(job, "%s is a model that is not trained: --weights FILE gives its params",
                         model->options.path);
    Session session;
    Store *store = store_new_or_end();
    const char *weights = o->common.weights;
    if (!weights)
        weights = run_checkpoint(job, model->run, o->common.checkpoint);
    bool ok = weights && session_open(&session, job, &model->options);
    if (ok) {
        Map parts;
        map_init(&parts, job->arena);
        ok = patterns_check(job, "only", &o->only, session.model->module) &&
             add_params(job, &session, store) &&
             weights_load(job, session.model, store, weights, NULL) &&
             (!o->merge || weights_merge(job, &model->options, store, &parts)) &&
             write_params(job, &session, o, model, store, &parts);
        session_close(&session);
    }
    store_free(store);
    return ok;
}

static int run_export(Job *job, void *record, const Arguments *arguments)
{
    Export *o = record;
    ModelArgument model;
    if (!(o->format = ending_kind(job, "export", o->out, "--format", o->format)))
        return EXIT_USAGE;
    bool onnx = !strcmp(o->format, "onnx");
    if (onnx && (o->merge || o->only.count))
        return cli_usage_error(
            "--format onnx writes the whole model: leave --merge and --only out");
    if (!onnx && o->function)
        return cli_usage_error("--function is for --format onnx: leave it out");
    const bool is_hf = !strcmp(o->format, "hf");
    if (o->type && strcmp(o->format, "gguf") && !is_hf)
        return cli_usage_error(
            "--type is for --format gguf and hf; the other formats hold f32: leave it out");
    if (o->type && is_hf && strcmp(o->type, "f32") && !half_type(o->type))
        return cli_usage_error("--type %s is for --format gguf; hf takes f32, f16 or bf16",
                               o->type);
    return cli_finish(job, common_model(job, &o->common, arguments->words[0], &model) &&
                               export_model(job, o, &model));
}

static const Option options[] = {
    {"output", "FILE", OUTPUT(Export, out), 0, NULL, "where to write"},
    {"format", "safetensors|hf|marian|onnx|gguf", FIELD(Export, format), 0, NULL,
     "safetensors: params with the names and layout of the model's weights block. hf: FILE is a "
     "folder with params, config.json and tokenizer, for runs that come from tfc import. marian: "
     "Marian's model.npz. onnx: a function of the model as an ONNX model of opset 17. gguf: "
     "for llama.cpp, with tokenizer and chat template, for runs that come from tfc import (as FILE "
     "ends: .safetensors or none, /, .npz, .onnx, .gguf)"},
    {"type", "f32|f16|bf16|q8_0|q4_0", FIELD(Export, type), 0, NULL,
     "type of the matrices with --format gguf (f32, of a run in q8_0 or int4 its own); with hf type of all floats: f32, f16 or bf16 (as "
     "the imported weights had)"},
    {"function", "NAME", FIELD(Export, function), 0, NULL,
     "function for --format onnx: forward, encode or decode_step (forward)"},
    {"merge", NULL, FIELD(Export, merge), 0, NULL,
     "merge adapters into the params that they adapt (`merge` of the language)"},
    {"only", "PATTERN", FIELD(Export, only), 0, NULL,
     "write only the params whose names match PATTERN, such as '**.lora_*'"},
    OPTION_CHECKPOINT(Export),
    OPTION_WEIGHTS(Export),
    OPTION_SET(Export),
    OPTION_ALLOW_OUTSIDE(Export),
};

const Command command_export = {
    .name = "export",
    .summary = "write params, or the model as ONNX, for other programs",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Writes the params of a run, without the optimizer's state, with the names and layout of "
        "its model's weights block, so that they can return to the program they came from. As "
        "ONNX, writes the model itself, with ragged dimensions padded and lengths as further "
        "inputs.",
    COMMAND_OPTIONS(Export, options),
    .run = run_export,
};
