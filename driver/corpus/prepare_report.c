/* Reports of tasks. */
#include "driver/corpus/prepare_report.h"

void prepare_report_begin(PrepareReport *report)
{
    report->arena = arena_new();
    diag_init(&report->diags, report->arena);
}

void prepare_report_drop(PrepareReport *report)
{
    arena_free(report->arena);
    *report = (PrepareReport){0};
}

/* A message and what it quotes, in the job's arena; *was, *now: the source of the message before,
 * and its copy. */
static void pass_on(Job *job, const Diag *diag, const Source **was, const Source **now)
{
    Loc loc = {.source = diag->loc.source,
               .line = diag->loc.line,
               .column = diag->loc.column,
               .length = diag->loc.length};
    const char *message = arena_strdup(job->arena, diag->message);
    if (loc.source && loc.source != *was) {
        Source *copy = ARENA_NEW(job->arena, Source);
        *copy = *loc.source;
        copy->path = arena_strdup(job->arena, copy->path);
        if (copy->text && loc.line)
            copy->text = arena_strndup(job->arena, copy->text, copy->length);
        else
            copy->text = NULL;
        *was = loc.source;
        *now = copy;
    }
    if (loc.source)
        loc.source = *now;
    diag_add(&job->diags, diag->severity, loc, "%s", message);
}

bool prepare_reports_tell(Job *job, PrepareReport *first, size_t n, size_t stride)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        PrepareReport *report = (PrepareReport *)(void *)((char *)first + i * stride);
        const Source *was = NULL, *now = NULL;
        for (size_t k = 0; ok && report->arena && k < report->diags.list.count; k++)
            pass_on(job, &report->diags.list.data[k], &was, &now);
        ok = ok && !(report->arena && report->diags.errors);
        prepare_report_drop(report);
    }
    return ok;
}
