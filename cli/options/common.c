/* Messages, and what the options of several commands lead to. */
#include "cli/options/common.h"

#include "base/file.h"
#include "base/map.h"
#include "cli/tracing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *speaker; /* of errors alone; NULL: all is told, without a name */
static int errors_told;

void cli_speak_as(const char *name) { speaker = name; }

int cli_errors_told(void) { return errors_told; }

/* Leaves out warnings that were printed before, with their notes: a model is read more than once. */
static void drop_repeated(Diagnostics *diags)
{
    static Map told;
    static Arena *arena;
    if (!arena)
        map_init(&told, arena = arena_new());
    bool drops = false;
    size_t n = 0;
    for (size_t i = 0; i < diags->list.count; i++) {
        const Diag *diag = &diags->list.data[i];
        if (diag->severity != DIAG_NOTE)
            drops = false;
        if (diag->severity == DIAG_WARNING) {
            const Loc *loc = &diag->loc;
            const char *key = arena_printf(arena, "%s:%d:%d:%s", loc->source ? loc->source->path : "", loc->line,
                                           loc->column, diag->message);
            drops = map_has(&told, key);
            map_set(&told, key, &told);
        }
        if (!drops)
            diags->list.data[n++] = *diag;
    }
    diags->list.count = n;
}

void cli_flush(Job *job)
{
    Text text = {0};
    drop_repeated(&job->diags);
    errors_told += job->diags.errors;
    if (speaker)
        diag_render_errors(&job->diags, speaker, &text);
    else
        diag_render(&job->diags, &text);
    if (text.length)
        fwrite(text.data, 1, text.length, stderr);
    text_free(&text);
    diag_init(&job->diags, job->arena);
}

int cli_finish(Job *job, bool ok)
{
    cli_flush(job);
    return ok ? EXIT_DONE : EXIT_INPUT;
}

bool cli_write(Job *job, const char *path, const Text *text)
{
    const char *data = text->data ? text->data : "";
    if (path && strcmp(path, "-"))
        return file_write_all(&job->diags, path, data, text->length);
    fwrite(data, 1, text->length, stdout); /* whether it could be written is asked at the end (main.c) */
    return true;
}

int cli_usage_error(const char *format, ...)
{
    Text text = {0}, shown = {0};
    va_list args;
    va_start(args, format);
    text_vadd(&text, format, args);
    va_end(args);
    text_visible(&shown, text.data, text.length);
    fprintf(stderr, "tfc: %s\n", shown.data);
    text_free(&text);
    text_free(&shown);
    return EXIT_USAGE;
}

bool common_parse(Job *job, const Command *command, int argc, char **argv, void *record,
                  Arguments *arguments, int *status)
{
    if (!options_parse(job, command, argc, argv, record, arguments, status))
        return false;
    const Common *common = (const void *)((const char *)record + command->common);
    job->gemm = common->gemm;
    job->cpu = common->cpu;
    job->measures = command->trains;
    job->passes = common->passes;
    if (common->threads)
        exec_set_threads((int)common->threads);
    return true;
}

bool common_model(Job *job, const Common *common, const char *path, ModelArgument *model)
{
    if (!model_argument(job, path, &common->settings, model))
        return false;
    if (common->level)
        model->options.opt_level = strcmp(common->level, "0") ? 2 : 0;
    if (common->dtype)
        session_set_dtype(&model->options, common->dtype);
    return true;
}

bool common_check_texts(Job *job, const RunFolder *run, const TextFiles *texts)
{
    bool pairs = run->kind == CORPUS_PAIRS;
    if (pairs ? !texts->source.count || !texts->target.count : !texts->text.count)
        return job_error(job, "%s: %s needed", run->path,
                         pairs ? "--source and --target are" : "the model reads one text: --text is");
    if (pairs ? texts->text.count : texts->source.count || texts->target.count)
        return job_error(job, "%s: the model reads %s, so %s has no use: leave it out", run->path,
                         pairs ? "pairs" : "one text", pairs ? "--text" : "--source");
    return true;
}

int common_run(Job *job, const Common *common, const char *path, RunUse *use, const void *record)
{
    RunFolder run;
    Trace *trace;
    const RunSource source = {.path = path,
                              .weights = common->weights,
                              .vocab = common->vocab,
                              .settings = &common->settings,
                              .with = &common->with,
                              .dtype = common->dtype,
                              .keeps = true};
    bool ok = run_folder_open(job, &source, &run) && tracing_open_ranks(job, common->trace, common->ranks, &trace);
    if (ok && common->special)
        vocab_read_special(run.vocab, strcmp(common->special, "text"));
    if (ok) {
        trace_use(trace);
        ok = use(job, record, &run);
        ok = tracing_close(job, common->trace, trace, ok ? common->ranks : NULL) && ok;
    }
    run_folder_close(&run);
    return cli_finish(job, ok);
}
