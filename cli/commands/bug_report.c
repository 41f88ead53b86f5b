/* tfc bug-report: what a report of a fault needs, as Markdown. No text that a model learnt from is
 * in it, nor params, nor logs; files stand in it by their names, without their folders, but where a
 * message of tfc's has the path that it was given. */
#define _GNU_SOURCE
#include "base/file.h"
#include "cli/commands/commands.h"
#include "driver/session/about.h"
#include "ir/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct BugReport {
    Common common;
    const char *output;
} BugReport;

/* Variables that change what tfc does; of others nothing is told. */
static void put_environment(Text *out)
{
    static const char *const prefixes[] = {"TFC_", "OMP_", "OPENBLAS_", "KMP_", "GOMP_"};
    for (char **variable = environ; *variable; variable++)
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
            if (!strncmp(*variable, prefixes[i], strlen(prefixes[i])))
                text_add(out,
                         strchr(*variable, '/') ? "variable    %.*s (a path)\n"
                                                : "variable    %.*s%s\n",
                         (int)strcspn(*variable, "="), *variable, strchr(*variable, '='));
}

static bool put_machine(Job *job, Text *out)
{
    About about;
    if (!about_read(job, &about))
        return false;
    text_string(out, "\n### Versions and machine\n\n```\n");
    about_put(&about, out);
    put_environment(out);
    text_string(out, "```\n");
    return true;
}

static void put_block(const char *title, const char *text, Text *out)
{
    const char *fence = strstr(text, "```") ? "~~~~" : "```";
    text_add(out, "\n### %s\n\n%s\n%s%s%s\n", title, fence, text, text_ends(text, "\n") ? "" : "\n",
             fence);
}

/* The model's file and what it uses of its own: the standard library is the version's. */
static void put_files(const Model *model, Text *out)
{
    for (size_t i = 0; i < model->files.count; i++)
        if (!model_is_library_file(model, model->files.data[i]))
            put_block(file_name(model->files.data[i]->path), model->files.data[i]->text, out);
}

static void put_settings(const ModelArgument *model, Text *out)
{
    if (!model->options.settings.count)
        return;
    text_string(out, "\n### Settings\n\n```\n");
    for (size_t i = 0; i < model->options.settings.count; i++)
        text_add(out, "%s\n", model->options.settings.data[i]);
    text_string(out, "```\n");
}

/* What is wrong with the model belongs to the report: it is no error of this command. */
static bool put_model(Job *job, const Common *common, const char *path, Text *out)
{
    ModelArgument model;
    if (!common_model(job, common, path, &model))
        return false;
    Job quiet = *job;
    quiet.show = NULL;
    diag_init(&quiet.diags, job->arena);
    put_settings(&model, out);
    Session session;
    Text text = {0};
    if (session_open(&session, &quiet, &model.options)) {
        put_files(session.model, out);
        ir_print_module(session.model->module, &text);
        put_block("IR of the model", text.data, out);
        session_close(&session);
    } else {
        const Source *file =
            file_read(&job->diags, job->arena, model.options.path, MODEL_MAX_BYTES);
        if (!file)
            return false;
        put_block(file_name(file->path), file->text, out);
        diag_render(&quiet.diags, &text);
        put_block("What tfc says about the model", text.data, out);
    }
    text_free(&text);
    return true;
}

static int run_bug_report(Job *job, void *record, const Arguments *arguments)
{
    const BugReport *o = record;
    Text out = {0};
    text_string(&out, "### What I did\n\n<!-- the command -->\n\n"
                      "### What I expected, and what came instead\n\n<!-- the whole message -->\n");
    bool ok = put_machine(job, &out) &&
              (!arguments->count || put_model(job, &o->common, arguments->words[0], &out)) &&
              cli_write(job, o->output, &out);
    text_free(&out);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"-o", "FILE.md", OUTPUT(BugReport, output), 0, NULL,
     "where to write the report (standard output)"},
    OPTION_SET(BugReport),
};

const Command command_bug_report = {
    .name = "bug-report",
    .summary = "collect what a bug report needs: versions, machine, model and IR",
    .arguments = "[MODEL.tfg|RUN]",
    .max_arguments = 1,
    .text =
        "Collects, as Markdown, what a bug report needs: versions, the machine, the model's text,\n"
        "settings and IR, or, if the model has errors, the messages about it. The report has no\n"
        "text of yours but the model's, no params and no log. Read the report before you send it.",
    COMMAND_OPTIONS(BugReport, options),
    .run = run_bug_report,
};
