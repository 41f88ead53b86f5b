/* Loading, deriving, lowering, compiling. */
#define _GNU_SOURCE
#include "driver/session/session.h"

#include "base/clock.h"
#include "base/file.h"
#include "codegen/c/opencl.h"
#include "codegen/processor.h"
#include "driver/ports/patterns.h"
#include "driver/ports/ports.h"
#include "driver/session/tuning.h"

#include <string.h>

SessionOptions session_defaults(const char *path)
{
    return (SessionOptions){.path = path, .float_type = DT_F32, .opt_level = 2};
}

void session_set_dtype(SessionOptions *options, const char *dtype)
{
    const Quant quant = quant_of_word(dtype);
    options->float_type = !strcmp(dtype, "f64") ? DT_F64 : DT_F32;
    options->precision = quant                    ? precision_of_quant(quant)
                         : !strcmp(dtype, "bf16") ? PRODUCTS_BF16
                                                  : PRODUCTS_AS_TYPED;
}

const char *session_dtype(const SessionOptions *options)
{
    const Quant quant = precision_quant(options->precision);
    return options->float_type == DT_F64         ? "f64"
           : quant                               ? quant_info(quant)->word
           : options->precision == PRODUCTS_BF16 ? "bf16"
                                                 : "f32";
}

bool session_settings(Job *job, const TextList *list, Setting **settings, int *n)
{
    *settings = ARENA_ARRAY(job->arena, Setting, list->count + 1);
    *n = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->data[i], *equals = strchr(text, '=');
        if (!equals || equals == text)
            return job_error(job, "--set %s: expected NAME=VALUE", text);
        (*settings)[(*n)++] =
            (Setting){arena_strndup(job->arena, text, (size_t)(equals - text)), equals + 1};
    }
    return true;
}

void session_set_size(Job *job, SessionOptions *options, const char *name, int64_t size)
{
    vec_push(job->arena, options->settings,
             arena_printf(job->arena, "%s=%lld", name, (long long)size));
    options->n_sizes++;
}

const char *setting_value(const TextList *list, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < list->count; i++)
        if (!strncmp(list->data[i], name, length) && list->data[i][length] == '=')
            return list->data[i] + length + 1;
    return NULL;
}

/* A model that is not there: one of the ready ones of that name, or where they lie. */
static bool no_model(Job *job, const SessionOptions *options)
{
    Arena *arena = job->arena;
    const char *library = frontend_library(arena, NULL), *path = options->path;
    const char *models = library ? file_beside(arena, library, "") : NULL;
    const char *ready = models ? arena_printf(arena, "%s%s%s", models, file_name(path),
                                              text_ends(path, ".tfg") ? "" : ".tfg")
                               : "";
    if (file_exists(ready))
        return job_error(
            job, "cannot read %s: there is no such file; the ready model of this name is %s", path,
            ready);
    return job_error(
        job,
        "cannot read %s: there is no such file; a model is a file MODEL.tfg, or the folder of a run%s%s",
        path, models ? ": ready models lie in " : "", models ? models : "");
}

bool session_open(Session *session, Job *job, const SessionOptions *options)
{
    *session = (Session){.job = job, .options = *options, .report = {.arena = job->arena}};
    FrontendOptions frontend = {.library = options->library,
                                .float_type = options->float_type,
                                .reach = options->reach,
                                .merges = options->merges,
                                .is_trained = options->run != NULL};
    Setting *settings;
    if (!pipeline_check(job->passes, &job->diags) ||
        !session_settings(job, &options->settings, &settings, &frontend.n_settings))
        return false;
    frontend.settings = settings;
    frontend.n_sizes = options->n_sizes;
    if (!file_exists(options->path))
        return no_model(job, options);
    session->model = model_load(job->arena, &job->diags, options->path, &frontend);
    if (!session->model ||
        !patterns_check(job, "freeze", &options->freeze, session->model->module) ||
        !patterns_check(job, "only", &options->only, session->model->module))
        return false;
    patterns_freeze(&options->freeze, &options->only, session->model->module);
    return patterns_keep(job, &options->keep, session->model->module) &&
           (!options->run || options->fits(job, options->run, session->model));
}

int64_t session_max_length(const Session *session)
{
    int64_t said = session->model->train.max_length;
    int64_t rows = position_table(session->model->module, NULL).length;
    return rows && (said <= 0 || rows < said) ? rows : said;
}

void session_close(Session *session)
{
    if (session->jit)
        jit_free(session->jit);
    session->jit = NULL;
}

bool session_lower(Session *session, Function *function, const char *after)
{
    PipelineOptions options = {.opt_level = session->options.opt_level,
                               .passes = session->job->passes,
                               .after = after,
                               .precision = session->options.precision,
                               .report = &session->report};
    return pipeline_run(function, &options, &session->job->diags) &&
           (after ||
            memory_fit(session->job, &session->options.memory, &session->report, function));
}

/* All processors with fused multiply-add compute the same native products. */
static const char *default_gemm(Job *job)
{
    Diagnostics unseen; /* another command says that there is no such CPU */
    diag_init(&unseen, job->arena);
    const Processor *kind =
        codegen_kind(&(TargetOptions){.cpu = job->cpu, .opt_level = 2}, job->arena, &unseen);
    return kind && !kind->fused ? "auto" : "native";
}

GemmChoice session_gemm(Job *job)
{
    if (job->emulates_fma)
        return GEMM_NATIVE;
    if (!job->gemm)
        job->gemm = default_gemm(job);
    return !strcmp(job->gemm, "native") ? GEMM_NATIVE
           : !strcmp(job->gemm, "blas") ? GEMM_BLAS
                                        : GEMM_AUTO;
}

bool session_choice(Job *job, TfcChoice *choice)
{
    Tuning tuning;
    *choice = (TfcChoice){{0}};
    if (session_gemm(job) != GEMM_AUTO)
        return true;
    if (!job->choice) {
        if (!tuning_find(job, job->measures ? TUNING_ONCE : TUNING_KEPT, &tuning))
            return false;
        job->choice = arena_copy(job->arena, &tuning.choice, sizeof tuning.choice);
    }
    *choice = *job->choice;
    return true;
}

static bool start_jit(Session *session)
{
    if (session->jit)
        return true;
    TargetOptions target = {.cpu = session->job->cpu,
                            .emulates_fma = session->job->emulates_fma,
                            .scalar = session->options.scalar,
                            .opt_level = session->options.opt_level,
                            .gemm = session_gemm(session->job)};
    if (!session->options.scalar && !session_choice(session->job, &target.choice))
        return false;
    session->jit = jit_new(&target, &session->job->diags);
    if (session->jit)
        jit_use_cache(session->jit, NULL);
    return session->jit != NULL;
}

/* A program that was compiled before needs no passes either. */
const TfcProgram *session_compile(Session *session, Function *function)
{
    double start = clock_seconds();
    const TfcProgram *program = NULL;
    if (function && start_jit(session)) {
        const char *pipeline = arena_printf(
            session->job->arena, "level %d precision %d passes %s%s", session->options.opt_level,
            (int)session->options.precision, session->job->passes ? session->job->passes : "",
            memory_text(session->job->arena, &session->options.memory));
        ProgramKey key = jit_key(session->jit, function, pipeline);
        program = jit_recall(session->jit, &key);
        if (!program && session_lower(session, function, NULL))
            program = jit_compile(session->jit, function, &key, &session->job->diags);
    }
    session->compile_seconds += clock_seconds() - start;
    return program;
}

OptimizerSpec session_optimizer(const Session *session)
{
    const TrainSpec *train = &session->model->train;
    return (OptimizerSpec){.kind = train->optimizer,
                           .beta1 = train->beta1,
                           .beta2 = train->beta2,
                           .eps = train->eps,
                           .momentum = train->momentum,
                           .weight_decay = train->weight_decay,
                           .clip_norm = train->clip_norm,
                           .loc = train->optimizer_place};
}

bool session_incremental(Session *session, Incremental *out, const char **target,
                         const char **logits)
{
    Module *module = session->model->module;
    ModelPorts ports = ports_of(module);
    if (!ports_predict(&ports))
        return job_error(session->job, "%s: no tokens to generate: the model has no %s",
                         session->model->path,
                         ports.next ? "output of logits" : "input whose next token it predicts");
    *target = ports.target;
    *logits = ports.logits;
    return derive_incremental(module, ports.target, ports.logits, out, &session->job->diags);
}

bool session_decodes(Session *session, IncrementalCheck *check, const void *context,
                     Diagnostics *why)
{
    Diagnostics *diags = &session->job->diags, before = *diags;
    Incremental incremental;
    const char *target, *logits;
    const ModuleExtent extent = module_extent(session->model->module);
    diag_init(diags, session->job->arena);
    bool ok = session_incremental(session, &incremental, &target, &logits) &&
              (!check || check(context, &incremental));
    module_cut(session->model->module, extent);
    *why = *diags;
    *diags = before;
    return ok;
}

Function *session_alignment(Session *session)
{
    Module *module = session->model->module;
    ModelPorts ports = ports_of(module);
    return ports.source && ports.target ? derive_alignment(module, ports.source, ports.target)
                                        : NULL;
}

static Function *alignment_function(Session *session)
{
    Function *function = session_alignment(session);
    if (!function)
        job_error(session->job, "%s: the model has no attention of its target over a source",
                  session->model->path);
    return function;
}

static Function *incremental_function(Session *session, ModelFunction which)
{
    Incremental incremental;
    const char *target, *logits;
    if (!session_incremental(session, &incremental, &target, &logits))
        return NULL;
    if (which == FUNCTION_DECODE_STEP)
        return incremental.decode_step;
    if (!incremental.encode)
        job_error(session->job, "%s: a decoder-only model has no function 'encode'",
                  session->model->path);
    return incremental.encode;
}

bool session_can_train(Session *session)
{
    static const char *const names[] = UPDATE_INPUTS;
    FOR_OPS (op, &module_function(session->model->module, "model")->body)
        for (size_t i = 0; op->kind == OP_input && i < sizeof names / sizeof *names; i++)
            if (!strcmp(op_string(op, ATTR_name), names[i])) {
                diag_error(&session->job->diags, op->loc,
                           "an input `%s` cannot be trained with: an update has one of its own by "
                           "this name; call it otherwise",
                           names[i]);
                return false;
            }
    return true;
}

Function *session_function(Session *session, const char *name)
{
    Module *module = session->model->module;
    ModelFunction which = function_named(name);
    if (!strcmp(name, "model"))
        return module_function(module, "model");
    if (which == FUNCTION_COUNT) {
        job_error(session->job, "there is no function '%s'%s", name,
                  text_known(session->job->arena, "'", name, function_names(), FUNCTION_COUNT));
        return NULL;
    }
    if (function_needs_loss(which) && !session->model->has_loss) {
        job_error(session->job, "%s: the model has no loss, so it has no function '%s'",
                  session->model->path, name);
        return NULL;
    }
    if (which == FUNCTION_ENCODE || which == FUNCTION_DECODE_STEP)
        return incremental_function(session, which);
    if (which == FUNCTION_ALIGNMENT)
        return alignment_function(session);
    if (which == FUNCTION_TRAIN_STEP && !session_can_train(session))
        return NULL;
    OptimizerSpec optimizer = session_optimizer(session);
    return derive_function(module, which, &optimizer);
}

/* ---- programs for OpenCL devices ---- */

void device_passes(Job *job)
{
    if (!job->passes)
        job->passes = OPENCL_PASSES;
}

bool device_program(Session *session, Function *function, TfcDeviceCode *out)
{
    return session_lower(session, function, NULL) &&
           opencl_program(function, session->job->arena, out, &session->job->diags);
}
