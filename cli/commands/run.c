/* tfc run: a model on tensors, every output back. */
#include "cli/commands/commands.h"
#include "driver/formats/formats.h"
#include "driver/run/weights.h"
#include "driver/values/tensors.h"

#include <string.h>

typedef struct Run {
    Common common;
    const char *weights, *in, *out, *function;
    bool grad, training;
    int64_t seed;
} Run;

typedef struct Outputs {
    VEC(StTensor) tensors;
} Outputs;

static bool has_output(const Outputs *outputs, const char *name)
{
    for (size_t i = 0; i < outputs->tensors.count; i++)
        if (!strcmp(outputs->tensors.data[i].name, name))
            return true;
    return false;
}

/* Runs one program and adds its outputs. */
static bool run_program(Binding *binding, const TfcProgram *program, Store *store, uint64_t seed,
                        Outputs *outputs)
{
    Exec *exec = exec_new(program, store);
    if (!exec)
        return job_no_memory(binding->job);
    exec_set_rng(exec, seed, 1);
    bool ok = tensors_bind(binding, program, exec);
    if (ok && !exec_run(exec))
        ok = job_no_memory(binding->job);
    for (int i = 0; ok && i < program->n_outputs; i++) {
        const TfcPort *port = &program->outputs[i];
        if (has_output(outputs, port->name))
            continue;
        StTensor tensor = tensors_output(binding, program, port, exec_output(exec, port->name));
        vec_push(binding->job->arena, outputs->tensors, tensor);
    }
    exec_free(exec);
    return ok;
}

enum { MOST_PROGRAMS = 2 };

/* What is to be run: the function asked for, or forward and loss (or gradient). */
static int pick_functions(Session *session, const Run *run, Function *functions[MOST_PROGRAMS])
{
    int n = 0;
    if (run->function) {
        functions[n++] = session_function(session, run->function);
        return functions[0] ? n : 0;
    }
    functions[n++] = session_function(session, "forward");
    if (run->grad && !session->model->has_loss) {
        job_error(session->job, "%s: the model has no loss to differentiate: `loss = …` gives one",
                  session->options.path);
        return 0;
    }
    if (run->grad)
        functions[n++] = derive_gradient(session->model->module, run->training);
    else if (session->model->has_loss)
        functions[n++] = session_function(session, "loss");
    return n;
}

static bool run_session(Session *session, const Run *run, const StFile *in, Store *store)
{
    Job *job = session->job;
    Function *functions[MOST_PROGRAMS];
    const TfcProgram *programs[MOST_PROGRAMS];
    int n = pick_functions(session, run, functions);
    for (int i = 0; i < n; i++) {
        programs[i] = session_compile(session, functions[i]);
        if (!programs[i])
            return false;
        if (!store_add_program(store, programs[i]))
            return job_no_memory(job);
    }
    if (!n || !weights_initialise(job, session->model, store, (uint64_t)run->seed) ||
        (run->weights && !weights_load(job, session->model, store, run->weights, NULL)))
        return false;
    Binding binding = {.job = job, .file = in, .module = session->model->module};
    Outputs outputs = {0};
    for (int i = 0; i < n; i++) {
        const char *missing;
        if (i && !run->grad && !tensors_available(&binding, programs[i], &missing)) {
            diag_warning(&job->diags, (Loc){0}, "no loss: %s has no tensor '%s'", run->in, missing);
            continue;
        }
        if (!run_program(&binding, programs[i], store, (uint64_t)run->seed, &outputs))
            return false;
    }
    return st_write(&job->diags, run->out, outputs.tensors.data, (int64_t)outputs.tensors.count,
                    NULL, 0);
}

static bool run_file(Job *job, const Run *run, const SessionOptions *options)
{
    Session session;
    bool is_foreign = !format_check(&job->diags, job->arena, run->in);
    if (is_foreign)
        diag_note(&job->diags, (Loc){0},
                  "tfc run computes with tensors; texts are for tfc translate and tfc generate");
    StFile *in = !is_foreign ? format_open(&job->diags, job->arena, run->in) : NULL;
    Store *store = store_new_or_end();
    bool ok = in && st_check_all(&job->diags, in) && session_open(&session, job, options);
    if (ok) {
        ok = run_session(&session, run, in, store);
        session_close(&session);
    }
    store_free(store);
    if (in)
        st_close(in);
    return ok;
}

static int run_run(Job *job, void *record, const Arguments *arguments)
{
    Run *run = record;
    if (!run->in || !run->out)
        return cli_usage_error("--in and -o are needed; see tfc run --help");
    ModelArgument model;
    bool ok = common_model(job, &run->common, arguments->words[0], &model) &&
              (!model.run || (run->weights = run_checkpoint(job, model.run, run->weights))) &&
              run_file(job, run, &model.options);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"in", "FILE", FIELD(Run, in), 0, NULL, "safetensors file with the inputs under their names"},
    {"output", "FILE", OUTPUT(Run, out), 0, NULL, "safetensors file to write the outputs to"},
    {"weights", "FILE", FIELD(Run, weights), 0, NULL,
     "params from this safetensors file (a run's: those that tfc info names; a model's initial "
     "values)"},
    {"function", "NAME", FIELD(Run, function), 0, NULL, "run only this function"},
    {"grad", NULL, FIELD(Run, grad), 0, NULL,
     "also write the gradient of each trained param, as grad.NAME"},
    {"training", NULL, FIELD(Run, training), 0, NULL,
     "with --grad: compute as in training, with dropout"},
    OPTION_DTYPE(Run),
    OPTION_LEVEL(Run),
    {"seed", "S", FIELD(Run, seed), 0, "1", "seed of initial values and dropout"},
    OPTION_THREADS(Run),
    OPTION_GEMM(Run),
    OPTION_CPU(Run),
    OPTION_FMA(Run),
    OPTION_PASSES(Run),
    OPTION_SET(Run),
    OPTION_ALLOW_OUTSIDE(Run),
};

const Command command_run = {
    .name = "run",
    .summary = "run a model on tensors from a safetensors file",
    .arguments = "MODEL.tfg|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Runs a model on tensors and writes every output and, if the model has one, the loss. "
            "Ragged inputs are padded arrays [B, Smax, …], with lengths in NAME.lengths if these "
            "differ, or packed tokens with NAME.lengths; outputs are padded with zeros. If "
            "TARGET.next is absent, it is TARGET shifted by one. Integers are I32 or I64; ids "
            "are below the size of their table, labels below the number of classes.",
    COMMAND_OPTIONS(Run, options),
    .run = run_run,
};
