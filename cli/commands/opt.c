/* tfc opt: passes over IR text. */
#include "base/file.h"
#include "cli/commands/commands.h"
#include "codegen/codegen.h"
#include "codegen/loop/passes/passes.h"
#include "ir/text.h"
#include "passes/pass.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_IR_TEXT = 1 << 28 };

typedef struct Opt {
    Common common;
    const char *passes;
    bool after_each, report, list;
} Opt;

static void print_module(const Module *module)
{
    Text out = {0};
    ir_print_module(module, &out);
    fwrite(out.data, 1, out.length, stdout);
    text_free(&out);
}

static bool unknown_pass(Job *job, const char *name)
{
    const char **names = ARENA_ARRAY(job->arena, const char *, pass_count);
    for (int i = 0; i < pass_count; i++)
        names[i] = pass_info[i].name;
    const char *hint = text_suggest(job->arena, "'", name, names, (size_t)pass_count);
    return job_error(job, "there is no pass '%s'%s", name,
                     *hint ? hint : "; tfc opt --list shows them");
}

/* Runs the comma-separated passes, each over every function. */
static bool run_passes(Job *job, Module *module, const char *passes, bool after_each,
                       Report *report)
{
    for (const char *at = passes; *at;) {
        size_t length = strcspn(at, ",");
        const char *name = arena_strndup(job->arena, at, length);
        at += length + (at[length] == ',');
        if (!pass_find(name))
            return unknown_pass(job, name);
        PipelineOptions options = {.opt_level = 2, .passes = name, .report = report};
        for (size_t i = 0; i < module->functions.count; i++)
            if (!pipeline_run(module->functions.data[i], &options, &job->diags))
                return false;
        if (!ir_verify(module, &job->diags))
            return false;
        if (after_each) {
            printf("# after %s\n", name);
            print_module(module);
        }
    }
    return true;
}

static void print_report(const Report *report)
{
    Text text = {0};
    for (size_t i = 0; i < report->lines.count; i++) {
        report_print(&report->lines.data[i], &text);
        text_add(&text, "\n");
    }
    if (text.length)
        fputs(text.data, stderr);
    text_free(&text);
}

static bool opt_loops(Job *job, const Opt *o, const Source *source)
{
    TargetOptions target = {.cpu = job->cpu, .emulates_fma = job->emulates_fma, .opt_level = 2};
    Text out = {0};
    bool ok = codegen_opt_loops(source, o->passes, &target, o->after_each, &out, &job->diags);
    if (out.length)
        fwrite(out.data, 1, out.length, stdout);
    text_free(&out);
    return ok;
}

static bool opt_file(Job *job, const Opt *o, const char *path)
{
    if (text_ends(path, ".tfg"))
        return job_error(job, "%s is a model, not IR: tfc dump %s prints its IR", path, path);
    const Source *source = file_read(&job->diags, job->arena, path, LARGEST_IR_TEXT);
    if (source && text_ends(path, ".loop"))
        return opt_loops(job, o, source);
    Module *module = source ? ir_parse(job->arena, &job->diags, source) : NULL;
    Report report = {.arena = job->arena};
    bool ok = module && ir_verify(module, &job->diags) &&
              run_passes(job, module, o->passes, o->after_each, &report);
    if (ok && !o->after_each)
        print_module(module);
    if (o->report)
        print_report(&report);
    return ok;
}

static int run_opt(Job *job, void *record, const Arguments *arguments)
{
    const Opt *o = record;
    if (o->list) {
        for (int i = 0; i < pass_count; i++)
            printf("%-16s %s\n", pass_info[i].name, pass_info[i].help);
        printf("\nof loop IR (FILE.loop):\n");
        for (int i = 0; i < lo_n_passes; i++)
            printf("%-16s %s\n", lo_pass_names[i], lo_pass_help[i]);
        return EXIT_DONE;
    }
    if (!arguments->count)
        return cli_usage_error("expected FILE.tir or FILE.loop; see tfc opt --help");
    return cli_finish(job, opt_file(job, o, arguments->words[0]));
}

static const Option options[] = {
    {"passes", "a,b,c", FIELD(Opt, passes), 0, "", "passes to run, in order"},
    {"after-each", NULL, FIELD(Opt, after_each), 0, NULL, "print the IR after each pass"},
    {"report", NULL, FIELD(Opt, report), 0, NULL, "print what passes report, to standard error"},
    {"list", NULL, FIELD(Opt, list), 0, NULL, "list the passes"},
    OPTION_CPU(Opt),
    OPTION_FMA(Opt),
};

const Command command_opt = {
    .name = "opt",
    .summary = "run passes over IR text",
    .arguments = "FILE.tir|FILE.loop",
    .max_arguments = 1,
    .text = "Reads IR text, checks it, runs passes over every function and prints the "
            "result. Without --passes it prints what it read. FILE.loop is a file of loop IR "
            "(tfc dump --stage loops), which has passes of its own.",
    COMMAND_OPTIONS(Opt, options),
    .run = run_opt,
};
