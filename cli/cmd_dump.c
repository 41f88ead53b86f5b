/* tfc dump: any stage between the text of a model and its machine code. */
#include "base/file.h"
#include "cli/session.h"
#include "ir/text.h"

#include <stdio.h>
#include <string.h>

typedef struct Dump {
    const char *stage, *function, *after, *format, *cpu;
    bool report;
    int64_t level;
    TextList settings;
} Dump;

enum { LARGEST_MODEL_TEXT = 1 << 24 };

static bool dump_text(Cli *cli, const Dump *dump, const SessionOptions *options, Text *out)
{
    const Source *source = file_read(&cli->diags, cli->arena, options->path, LARGEST_MODEL_TEXT);
    if (!source)
        return false;
    if (!strcmp(dump->stage, "tokens"))
        return frontend_dump_tokens(source, out, &cli->diags);
    FrontendOptions frontend = {.float_type = DT_F32};
    Setting *settings;
    if (!session_settings(cli, &options->settings, &settings, &frontend.n_settings))
        return false;
    frontend.settings = settings;
    return frontend_dump_ast(cli->arena, source, &frontend, out, &cli->diags);
}

static bool is_word(const char *word, const char *a, const char *b)
{
    return !strcmp(word, a) || !strcmp(word, b);
}

static const char *default_function(const Dump *dump, const Session *session)
{
    if (!strcmp(dump->stage, "grad"))
        return "gradient";
    if (!strcmp(dump->stage, "graph") && !dump->after)
        return "model";
    return session->model->has_loss ? "train_step" : "forward";
}

/* The function alone, as a whole module that tfc opt reads. */
static void print_alone(Function *function, Text *out)
{
    Module alone = *function->module;
    alone.functions.data = &function;
    alone.functions.count = 1;
    ir_print_module(&alone, out);
}

static bool dump_stage(Session *session, const Dump *dump, Text *out)
{
    Diagnostics *diags = &session->cli->diags;
    const char *name = dump->function ? dump->function : default_function(dump, session);
    Function *function = session_function(session, name);
    if (!function)
        return false;
    bool lowered = !is_word(dump->stage, "graph", "grad") || dump->after;
    if (!lowered) {
        print_alone(function, out);
        return true;
    }
    if (!session_lower(session, function, NULL, dump->after))
        return false;
    if (dump->after || !strcmp(dump->stage, "fused"))
        print_alone(function, out);
    else if (!strcmp(dump->stage, "plan")) {
        const TfcProgram *program = codegen_plan(function, session->cli->arena, NULL, diags);
        if (!program)
            return false;
        plan_print(program, out);
    } else {
        TargetOptions target = {.cpu = dump->cpu, .opt_level = session->options.opt_level,
                                .gemm = session_gemm(session->cli)};
        return codegen_dump(function, &target, !strcmp(dump->stage, "asm"), out, diags);
    }
    return true;
}

static bool dump_model(Cli *cli, const Dump *dump, const SessionOptions *options, Text *out)
{
    Session session;
    if (!session_open(&session, cli, options))
        return false;
    bool ok = dump_stage(&session, dump, out);
    if (ok && dump->report) {
        text_free(out);
        *out = (Text){0};
        for (size_t i = 0; i < session.report.lines.count; i++) {
            report_print(&session.report.lines.data[i], out);
            text_add(out, "\n");
        }
    }
    session_close(&session);
    return ok;
}

int command_dump(Cli *cli, int argc, char **argv)
{
    Dump dump = {.stage = "graph", .format = "text", .level = 2};
    const Option options[] = {
        {"stage", "tokens|ast|graph|grad|fused|plan|llvm|asm", OPTION_CHOICE, &dump.stage, 0,
         "what to show (graph)"},
        {"function", "NAME", OPTION_TEXT, &dump.function, 0,
         "forward, loss, gradient, train_step, encode, decode_step"},
        {"after", "PASS", OPTION_TEXT, &dump.after, 0, "the function as it is after this pass"},
        {"report", NULL, OPTION_FLAG, &dump.report, 0,
         "what fused instead, and for each near miss why not"},
        {"format", "text|html|dot", OPTION_CHOICE, &dump.format, 0, "text is the one there is"},
        {"set", "NAME=VALUE", OPTION_LIST, &dump.settings, 0, "override a const of the model"},
        {"cpu", "NAME", OPTION_TEXT, &dump.cpu, 0, "generate code for this processor"},
        OPTION_GEMM(cli),
        {"-O", "0|2", OPTION_INT, &dump.level, 0, "level of optimisation (2)"},
    };
    const Usage usage = {"dump", "MODEL.tfg",
                         "Prints a stage of the compilation of a model to standard output.", 1, 1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (strcmp(dump.format, "text"))
        return cli_usage_error("dump: --format %s is not there yet", dump.format);
    SessionOptions session = session_defaults(arguments.words[0]);
    session.settings = dump.settings;
    session.opt_level = dump.level ? 2 : 0;
    session.cpu = dump.cpu;
    Text out = {0};
    bool ok = is_word(dump.stage, "tokens", "ast") ? dump_text(cli, &dump, &session, &out)
                                                   : dump_model(cli, &dump, &session, &out);
    if (out.length)
        fwrite(out.data, 1, out.length, stdout);
    text_free(&out);
    return cli_finish(cli, ok);
}
