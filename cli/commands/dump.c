/* tfc dump: any stage between the text of a model and its machine code. */
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/options/endings.h"
#include "codegen/loop/text/text.h"
#include "driver/session/session.h"
#include "inspect/inspect.h"
#include "ir/text.h"

#include <stdio.h>
#include <string.h>

typedef struct Dump {
    Common common;
    const char *stage, *function, *after, *format, *output;
    bool report, lines;
    TextList dims;
} Dump;

static bool dump_text(Job *job, const Dump *dump, const SessionOptions *options, Text *out)
{
    const Source *source =
        file_read_within(&job->diags, job->arena, options->reach, options->path, MODEL_MAX_BYTES);
    if (!source)
        return false;
    if (!strcmp(dump->stage, "tokens"))
        return frontend_dump_tokens(source, out, &job->diags);
    FrontendOptions frontend = {
        .library = options->library, .reach = options->reach, .float_type = DT_F32};
    Setting *settings;
    if (!session_settings(job, &options->settings, &settings, &frontend.n_settings))
        return false;
    frontend.settings = settings;
    return frontend_dump_ast(job->arena, source, &frontend, out, &job->diags);
}

static bool is_word(const char *word, const char *a, const char *b)
{
    return !strcmp(word, a) || !strcmp(word, b);
}

/* For a batch of the sizes that --dim gives; wrong ones measure_program tells of. */
static void limit_memory(Session *session, const Dump *dump)
{
    if (!dump->common.memory)
        return;
    const Module *module = session->model->module;
    int n_dims = (int)module->symbols.count;
    DimSize *dims = ARENA_ARRAY(session->job->arena, DimSize, n_dims + 1);
    for (int d = 0; d < n_dims; d++) {
        const char *name = module->symbols.data[d].name;
        dims[d] = (DimSize){name, size_given(dump->dims.data, dump->dims.count, name), 0};
    }
    for (int d = 0; d < n_dims; d++) {
        int batch = module->symbols.data[d].batch;
        dims[d].total = dims[d].extent * (batch == NO_SYMBOL ? 1 : dims[batch].extent);
    }
    session->options.memory =
        (MemoryLimit){.bytes = dump->common.memory, .dims = dims, .n_dims = n_dims};
}

/* What a page and a report are about. */
static const char *usual_function(const Session *session)
{
    const bool trains = session->model->has_loss && !precision_quant(session->options.precision);
    return trains ? "train_step" : "forward";
}

static const char *default_function(const Dump *dump, const Session *session)
{
    if (!strcmp(dump->stage, "grad"))
        return "gradient";
    if (!strcmp(dump->stage, "graph") && !dump->after)
        return "model";
    return usual_function(session);
}

/* The function alone, as a whole module that tfc opt reads, or for dot. */
static void print_alone(const Dump *dump, Function *function, Text *out)
{
    if (!strcmp(dump->format, "dot")) {
        ir_print_dot(function, out);
        return;
    }
    Module alone = *function->module;
    alone.functions.data = &function;
    alone.functions.count = 1;
    ir_print_module(&alone, out);
}

static bool dump_opencl(Session *session, Function *function, Text *out)
{
    TfcDeviceCode code;
    device_passes(session->job);
    if (!device_program(session, function, &code))
        return false;
    text_string(out, code.source);
    return true;
}

/* "# model.tfg:12", where another line begins. */
static void note_line(void *data, const LoFunction *function, int origin, Text *out)
{
    const Loc *loc = lo_follow(data, function, origin);
    if (loc)
        text_add(out, "  # %s:%d", file_name(loc->source->path), loc->line);
}

static bool dump_loops(const Dump *dump, const Function *function, const TargetOptions *target,
                       Arena *arena, Text *out, Diagnostics *diags)
{
    LoFollow at = {0};
    LoModule *loops = codegen_loops(function, target, dump->after, arena, diags);
    if (loops)
        lo_print_lines(loops, dump->lines ? note_line : NULL, &at, out);
    return loops != NULL;
}

static bool dump_stage(Session *session, const Dump *dump, Text *out)
{
    Diagnostics *diags = &session->job->diags;
    const char *name = dump->function ? dump->function : default_function(dump, session);
    Function *function = session_function(session, name);
    if (!function)
        return false;
    bool lowered = !is_word(dump->stage, "graph", "grad") || dump->after;
    if (!lowered) {
        print_alone(dump, function, out);
        return true;
    }
    bool loops = !strcmp(dump->stage, "loops"); /* whose passes are others */
    TargetOptions target = {.cpu = session->job->cpu,
                            .emulates_fma = session->job->emulates_fma,
                            .opt_level = session->options.opt_level,
                            .gemm = session_gemm(session->job)};
    if (!strcmp(dump->stage, "opencl"))
        return dump_opencl(session, function, out);
    if (!session_lower(session, function, loops ? NULL : dump->after))
        return false;
    if (loops)
        return dump_loops(dump, function, &target, session->job->arena, out, diags);
    if (dump->after || !strcmp(dump->stage, "fused"))
        print_alone(dump, function, out);
    else if (!strcmp(dump->stage, "plan")) {
        const TfcProgram *program = codegen_plan(function, session->job->arena, NULL, diags);
        if (!program)
            return false;
        (strcmp(dump->format, "dot") ? plan_print : plan_print_dot)(program, out);
    } else {
        return codegen_dump(function, &target, !strcmp(dump->stage, "asm"), out, diags);
    }
    return true;
}

/* ---- the report and the page: the whole way of one function ---- */

static void take_snapshot(void *observer, const PassInfo *pass, Function *function)
{
    if (observer)
        snapshots_take(observer, pass->name, pass->help, function);
}

static bool write_page(Session *session, const Dump *dump, const Function *function,
                       Snapshots *snapshots, const Measured *measured, Text *out)
{
    Diagnostics *diags = &session->job->diags;
    TargetOptions target = {.cpu = session->job->cpu,
                            .emulates_fma = session->job->emulates_fma,
                            .opt_level = session->options.opt_level,
                            .gemm = session_gemm(session->job)};
    Text llvm = {0}, assembly = {0};
    LoModule *loops = codegen_loops(function, &target, NULL, session->job->arena, diags);
    bool ok = loops && codegen_dump(function, &target, false, &llvm, diags) &&
              codegen_dump(function, &target, true, &assembly, diags);
    if (ok) {
        PageInput input = {.title = session->model->path,
                           .files = session->model->files.data,
                           .n_files = session->model->files.count,
                           .snapshots = snapshots,
                           .report = &session->report,
                           .measured = measured,
                           .loops = loops,
                           .llvm = llvm.data ? llvm.data : "",
                           .assembly = assembly.data ? assembly.data : ""};
        page_write(&input, session->job->arena, out);
    }
    text_free(&llvm);
    text_free(&assembly);
    return ok;
}

static bool inspect(Session *session, const Dump *dump, Text *out)
{
    Arena *arena = session->job->arena;
    Diagnostics *diags = &session->job->diags;
    Function *function =
        session_function(session, dump->function ? dump->function : usual_function(session));
    if (!function)
        return false;
    Snapshots *snapshots = strcmp(dump->format, "html") ? NULL : snapshots_new(arena);
    if (snapshots)
        snapshots_take(snapshots, "derived", "the function before any pass", function);
    PipelineOptions pipeline = {.opt_level = session->options.opt_level,
                                .passes = session->job->passes,
                                .precision = session->options.precision,
                                .report = &session->report,
                                .observe = take_snapshot,
                                .observer = snapshots};
    const Op *const *origins;
    const TfcProgram *program = NULL;
    if (pipeline_run(function, &pipeline, diags) &&
        memory_fit(session->job, &session->options.memory, &session->report, function))
        program = codegen_plan(function, arena, &origins, diags);
    Measured measured;
    if (!program || !measure_program(function, program, origins, dump->dims.data, dump->dims.count,
                                     arena, &measured, diags))
        return false;
    if (snapshots)
        return write_page(session, dump, function, snapshots, &measured, out);
    inspect_report(&session->report, &measured, out);
    return true;
}

static bool dump_model(Job *job, const Dump *dump, const SessionOptions *options, Text *out)
{
    Session session;
    if (!session_open(&session, job, options))
        return false;
    limit_memory(&session, dump);
    bool whole = dump->report || !strcmp(dump->format, "html");
    bool ok = (whole ? inspect : dump_stage)(&session, dump, out);
    session_close(&session);
    return ok;
}

/* What the format and the stage cannot be together; 0 if all is well. */
static int check_format(const Dump *dump)
{
    static const char *const drawn[] = {"graph", "grad", "fused", "plan"};
    bool dot = !strcmp(dump->format, "dot"), can_draw = dump->after != NULL;
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++)
        can_draw |= !strcmp(dump->stage, drawn[i]);
    if (dot && (!can_draw || dump->report))
        return cli_usage_error(
            "--format dot is for the stages graph, grad, fused and plan: name one by --stage");
    if (dump->lines &&
        (strcmp(dump->stage, "loops") || dump->report || strcmp(dump->format, "text")))
        return cli_usage_error("--lines is for --stage loops: leave it out");
    if (dump->dims.count && !dump->report && strcmp(dump->format, "html") && !dump->common.memory)
        return cli_usage_error(
            "--dim is for --report, --format html and --memory: add one, or leave --dim out");
    if (dump->report && strcmp(dump->format, "text"))
        return cli_usage_error("the page of --format html holds the report; "
                               "--report alone prints it");
    return 0;
}

static int run_dump(Job *job, void *record, const Arguments *arguments)
{
    Dump *dump = record;
    dump->format =
        ending_kind(job, "dump", dump->output ? dump->output : "", "--format", dump->format);
    int status = check_format(dump);
    if (status)
        return status;
    ModelArgument model;
    if (!common_model(job, &dump->common, arguments->words[0], &model))
        return cli_finish(job, false);
    Text out = {0};
    bool text =
        is_word(dump->stage, "tokens", "ast") && !dump->report && strcmp(dump->format, "html");
    bool ok = (text ? dump_text : dump_model)(job, dump, &model.options, &out);
    /* What was made before a mistake is printed, and puts nothing in a file's place. */
    ok = (ok || !dump->output) && cli_write(job, dump->output, &out) && ok;
    text_free(&out);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"stage", "tokens|ast|graph|grad|fused|plan|loops|llvm|asm|opencl", FIELD(Dump, stage), 0,
     "graph", "stage to show"},
    {"function", "NAME", FIELD(Dump, function), 0, NULL, "model"
#define FUNCTION(NAME, name, needs_loss) ", " #name
#define INNER_FUNCTION FUNCTION
#include "base/functions.def"
    },
    {"after", "PASS", FIELD(Dump, after), 0, NULL,
     "show the function as it is after this pass; for --stage loops this is a pass over loop IR, "
     "or `built`: the loops as they are built"},
    {"lines", NULL, FIELD(Dump, lines), 0, NULL,
     "for --stage loops: add comments that name the model's lines"},
    {"report", NULL, FIELD(Dump, report), 0, NULL,
     "show a report instead: what was fused, near misses and why, kernels, work, memory"},
    {"format", "text|html|dot", FIELD(Dump, format), 0, NULL,
     "dot: the stage for Graphviz; html: a page with the stages of a function (as FILE ends, else "
     "text)"},
    {"output", "FILE", OUTPUT(Dump, output), 0, NULL, "where to write (standard output)"},
    {"dim", "NAME=SIZE", FIELD(Dump, dims), 0, NULL,
     "size of a dimension, or length of each row, for --report, --memory and the page (32)"},
    OPTION_SET(Dump),
    OPTION_DTYPE(Dump),
    OPTION_MEMORY(Dump),
    OPTION_GEMM(Dump),
    OPTION_CPU(Dump),
    OPTION_FMA(Dump),
    OPTION_PASSES(Dump),
    OPTION_LEVEL(Dump),
    OPTION_ALLOW_OUTSIDE(Dump),
};

const Command command_dump = {
    .name = "dump",
    .summary = "show a stage of compilation",
    .arguments = "MODEL.tfg|RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Prints a stage of the compilation of a model, or writes it to a file.",
    COMMAND_OPTIONS(Dump, options),
    .run = run_dump,
};
