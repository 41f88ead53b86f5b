/* tfc bug-report: what a report of a fault needs, as Markdown. No text that a model learnt from is
 * in it, nor params, nor logs; files stand in it by their names, without their folders, but where a
 * message of tfc's has the path that it was given. */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/unanswered.h"
#include "cli/commands/commands.h"
#include "cli/commit.h"
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
    about_put(&about, tfc_commit, out);
    put_environment(out);
    text_string(out, "```\n");
    return true;
}

/* More backticks than stand together anywhere in the text, so that none of it ends the block. */
static const char *fence_of(Arena *arena, const char *text)
{
    size_t most = 2;
    for (size_t n; *text; text += n ? n : 1) {
        n = strspn(text, "`");
        most = n > most ? n : most;
    }
    char *fence = arena_alloc(arena, most + 2);
    memset(fence, '`', most + 1);
    fence[most + 1] = 0;
    return fence;
}

static void put_block(Job *job, const char *title, const char *text, Text *out)
{
    const char *fence = fence_of(job->arena, text);
    text_add(out, "\n### %s\n\n%s\n%s%s%s\n", title, fence, text, text_ends(text, "\n") ? "" : "\n",
             fence);
}

/* The model's file and what it uses of its own: the standard library is the version's. */
static void put_files(Job *job, const Model *model, Text *out)
{
    for (size_t i = 0; i < model->files.count; i++)
        if (!model_is_library_file(model, model->files.data[i]))
            put_block(job, file_name(model->files.data[i]->path), model->files.data[i]->text, out);
}

static void put_settings(Job *job, const ModelArgument *model, Text *out)
{
    Text settings = {0};
    for (size_t i = 0; i < model->options.settings.count; i++)
        text_add(&settings, "%s\n", model->options.settings.data[i]);
    if (settings.length)
        put_block(job, "Settings", settings.data, out);
    text_free(&settings);
}

/* What is wrong with the model belongs to the report: it is no error of this command. */
static bool put_model(Job *job, const Common *common, const char *path, Text *out)
{
    ModelArgument model;
    if (!common_model(job, common, path, &model))
        return false;
    Job quiet = job_quiet(job, job->arena);
    put_settings(job, &model, out);
    Session session;
    Text text = {0};
    if (session_open(&session, &quiet, &model.options)) {
        put_files(job, session.model, out);
        ir_print_module(session.model->module, &text);
        put_block(job, "IR of the model", text.data, out);
        session_close(&session);
    } else {
        const Source *file = file_read_within(&job->diags, job->arena, model.options.reach,
                                              model.options.path, MODEL_MAX_BYTES);
        if (!file)
            return false;
        put_block(job, file_name(file->path), file->text, out);
        diag_render(&quiet.diags, &text);
        unanswered_forget(); /* the report says what could not be read */
        put_block(job, "What tfc says about the model", text.data, out);
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
    {"output", "FILE.md", OUTPUT(BugReport, output), 0, NULL,
     "where to write the report (standard output)"},
    OPTION_SET(BugReport),
    OPTION_ALLOW_OUTSIDE(BugReport),
};

const Command command_bug_report = {
    .name = "bug-report",
    .summary = "collect what a bug report needs: versions, machine, model and IR",
    .arguments = "[MODEL.tfg|RUN]",
    .max_arguments = 1,
    .text =
        "Collects, as Markdown, what a bug report needs: versions, the machine, the model's text, "
        "settings and IR, or, if the model has errors, the messages about it. The report has no "
        "text of yours but the model's, no params and no log. Read the report before you send it.",
    COMMAND_OPTIONS(BugReport, options),
    .run = run_bug_report,
};
