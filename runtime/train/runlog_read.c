/* Reading log.jsonl, and judging the validations in it anew. */
#include "runtime/train/runlog.h"

#include "base/file.h"
#include "base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_LOG = 1 << 30 };

static bool read_valid(Arena *arena, const JsonValue *line, TrainReport *report, const char **wrong)
{
    const JsonValue *texts = json_member(line, "valid");
    if (!texts || texts->kind != JV_OBJECT)
        return true;
    TrainValid *valid = ARENA_ARRAY(arena, TrainValid, texts->n + 1);
    for (size_t i = 0; i < texts->n; i++) {
        valid[i].name = texts->keys[i];
        if (!json_record_read(arena, &runlog_text_figures, &texts->items[i], &valid[i].figures,
                              wrong))
            return false;
    }
    report->valid = valid;
    report->n_valid = (int)texts->n;
    return true;
}

/* The line, from 0, of a key that runlog.c writes; -1: it is no number of a line. */
static int64_t line_of(const char *key)
{
    enum { MOST_DIGITS = 18 };
    const size_t digits = strspn(key, "0123456789");
    const bool is_number = *key != '0' && digits && digits <= MOST_DIGITS && !key[digits];
    return is_number ? strtoll(key, NULL, 10) - 1 : -1;
}

enum { MOST_SAMPLES = 64 }; /* of a validation; more than it writes */

static void read_samples(Arena *arena, const JsonValue *line, TrainReport *report)
{
    const JsonValue *translations = json_member(line, "samples");
    const JsonValue *texts = translations ? translations : json_member(line, "continuations");
    if (!texts || texts->kind != JV_OBJECT)
        return;
    TrainSample *samples = ARENA_ARRAY(arena, TrainSample, MOST_SAMPLES);
    for (size_t i = 0; i < texts->n && report->n_samples < MOST_SAMPLES; i++) {
        TrainSample sample = {0};
        const char *wrong;
        if (translations)
            sample.text = texts->items[i].text;
        else if (!json_record_read(arena, &runlog_continuation, &texts->items[i], &sample, &wrong))
            continue;
        sample.line = line_of(texts->keys[i]);
        if (sample.line >= 0 && sample.text)
            samples[report->n_samples++] = sample;
    }
    report->samples = samples;
}

static bool read_report(Arena *arena, const JsonValue *line, TrainReport *report,
                        const char **wrong)
{
    const JsonRecord *const parts[] = {&runlog_place, &runlog_step, &runlog_time, &runlog_verdict};
    *report =
        (TrainReport){.seconds_left = NAN, .validated = json_member(line, "valid_loss") != NULL};
    bool ok = json_record_read(arena, &runlog_figures, line, &report->figures, wrong);
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++)
        ok = json_record_read(arena, parts[i], line, report, wrong);
    if (!ok || !read_valid(arena, line, report, wrong))
        return false;
    read_samples(arena, line, report);
    return true;
}

bool runlog_read(Diagnostics *diags, Arena *arena, FileReach run, RunLog *log)
{
    *log = (RunLog){0};
    const char *path = file_in(arena, run.folder, "log.jsonl");
    if (!file_exists(path))
        return true;
    const Source *file = file_read_within(diags, arena, run, path, LARGEST_LOG);
    if (!file)
        return false;
    int number = 1;
    for (const char *at = file->text, *end; (end = strchr(at, '\n')); at = end + 1, number++) {
        const char *problem = NULL, *wrong = NULL;
        const JsonValue *line = json_read(arena, at, (size_t)(end - at), &problem);
        TrainReport report;
        const bool is_mean = line && json_member(line, RUNLOG_AVERAGED);
        if (!line || (!is_mean && !read_report(arena, line, &report, &wrong))) {
            diag_error(diags, (Loc){.source = file, .line = number, .column = 1, .length = 1},
                       "no report of a training (%s)", problem ? problem : wrong);
            return false;
        }
        if (!is_mean)
            vec_push(arena, *log, report);
    }
    return true;
}

/* ---- judging what is logged ---- */

/* Whether two names are the same, or both absent. */
static bool is_same(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* The text of which a line has its "valid_…": NULL: the one without a name. */
static const char *text_of(Arena *arena, const char *by)
{
    const char *colon = strrchr(by, ':');
    return colon ? arena_strndup(arena, by, (size_t)(colon - by)) : NULL;
}

/* A validation's figures of the text that decides; NAN where the line does not have them. Lines of
 * older versions do not say of which text theirs are: a run kept to one. */
static TrainFigures figures_of(Arena *arena, const TrainBest *best, const TrainReport *report)
{
    for (int i = 0; best->text && i < report->n_valid; i++)
        if (!strcmp(report->valid[i].name, best->text))
            return report->valid[i].figures;
    bool same = !report->best_by || is_same(text_of(arena, report->best_by), best->text);
    return same ? report->figures : train_no_figures();
}

TrainJudged train_judge_log(const TrainBest *best, const RunLog *log, TrainHas *has, void *user,
                            TrainState *state)
{
    TrainJudged judged = {0};
    Arena *arena = arena_new();
    train_judge_begin(best, state);
    for (size_t i = 0; i < log->count; i++) {
        const TrainReport *report = &log->data[i];
        bool counts =
            report->validated && report->step > state->judge_from && report->step <= state->step;
        if (!counts || (has && !has(user, report->step)))
            continue;
        const TrainFigures figures = figures_of(arena, best, report);
        judged.validations++;
        if (isfinite(train_best_of(best, &figures)))
            train_judge(best, &figures, report->step, state);
        else
            judged.lacking++;
    }
    arena_free(arena);
    return judged;
}
