/* log.jsonl and the list of checkpoints of a run. */
#define _GNU_SOURCE
#include "runtime/train/runlog.h"

#include "base/file.h"
#include "base/temporary.h"
#include "base/unanswered.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *run_step_path(Arena *arena, const char *folder, int64_t step)
{
    return arena_printf(arena, "%s/step-%" PRId64 ".safetensors", folder, step);
}

TrainReport train_no_report(const TrainState *state)
{
    return (TrainReport){.step = state->step,
                         .epoch = state->epoch,
                         .loss = NAN,
                         .rate = NAN,
                         .gradient_norm = NAN,
                         .tokens_per_second = NAN,
                         .waited_for_ranks = NAN,
                         .waited_for_network = NAN,
                         .seconds = state->seconds,
                         .seconds_left = NAN,
                         .figures = train_no_figures()};
}

/* "valid": {"NAME": {figures}, …}, of texts with names. */
static void put_valid(const TrainReport *report, JsonWriter *json)
{
    bool open = false;
    for (int i = 0; i < report->n_valid; i++) {
        const TrainValid *valid = &report->valid[i];
        if (!valid->name)
            continue;
        if (!open)
            json_open(json, "valid", '{');
        open = true;
        json_record_put_item(json, valid->name, &runlog_text_figures, &valid->figures);
    }
    if (open)
        json_close(json, '}');
}

/* "samples": {"LINE": "TEXT", …}, lines from 1; of a language model
 * "continuations": {"LINE": {"prompt": "TEXT", "text": "TEXT"}, …}. */
static void put_samples(const TrainReport *report, JsonWriter *json)
{
    if (!report->n_samples)
        return;
    json_open(json, report->samples[0].prompt ? "continuations" : "samples", '{');
    for (int i = 0; i < report->n_samples; i++) {
        const TrainSample *sample = &report->samples[i];
        char line[24];
        snprintf(line, sizeof line, "%" PRId64, sample->line + 1);
        if (sample->prompt)
            json_record_put_item(json, line, &runlog_continuation, sample);
        else
            json_put_text(json, line, sample->text);
    }
    json_close(json, '}');
}

void runlog_put(const TrainReport *report, JsonWriter *json)
{
    json_record_put(json, &runlog_place, report);
    json_record_put(json, report->averaged ? &runlog_mean : &runlog_step, report);
    json_record_put(json, &runlog_time, report);
    if (!report->validated && !report->averaged)
        return;
    json_record_put(json, &runlog_figures, &report->figures);
    json_record_put(json, &runlog_verdict, report);
    put_valid(report, json);
    put_samples(report, json);
}

static bool log_error(Diagnostics *diags, const char *path, int error)
{
    diag_error(diags, (Loc){0}, "cannot write %s: %s", path, file_own_error(error));
    return false;
}

bool runlog_add(Diagnostics *diags, const char *folder, const TrainReport *report)
{
    const char *path = file_in(diags->arena, folder, "log.jsonl");
    int fd = file_open_own(path, O_WRONLY | O_APPEND | O_CREAT);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "a");
    if (!file) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return log_error(diags, path, error);
    }
    Text line = {0};
    JsonWriter json = {.out = &line};
    json_open(&json, NULL, '{');
    runlog_put(report, &json);
    json_close(&json, '}');
    bool ok = fprintf(file, "%s\n", line.data) > 0;
    text_free(&line);
    ok = !fclose(file) && ok;
    return ok || log_error(diags, path, errno);
}

enum { LARGEST_LOG = 1 << 30 };

/* "seconds" of a line. */
static double line_seconds(Arena *arena, const char *line, size_t length)
{
    static const char key[] = "\"seconds\": ";
    const char *at = strstr(arena_strndup(arena, line, length), key);
    return at ? strtod(at + sizeof key - 1, NULL) : 0;
}

/* Of what ends with a line break; INT64_MAX: it is no line of a step. */
static int64_t step_of_line(const char *line)
{
    static const char front[] = "{\"step\": ";
    const size_t n = sizeof front - 1;
    if (strncmp(line, front, n))
        return INT64_MAX;
    char *end;
    const int64_t step = strtoll(line + n, &end, 10);
    return end == line + n ? INT64_MAX : step;
}

bool runlog_cut(Diagnostics *diags, const char *folder, int64_t step, double *seconds)
{
    *seconds = 0;
    Arena *arena = arena_new();
    const char *path = file_in(arena, folder, "log.jsonl");
    bool ok = true;
    int own = file_open_own(path, O_RDONLY);
    if (own < 0 && errno != ENOENT)
        ok = log_error(diags, path, errno);
    struct stat info = {0};
    if (own >= 0) {
        if (fstat(own, &info))
            ok = log_error(diags, path, errno);
        close(own);
    }
    if (!ok || !info.st_size) {
        /* nothing to cut */
    } else if (!step) {
        ok = !rename(path, file_in(arena, folder, "log-before.jsonl")) ||
             log_error(diags, path, errno);
    } else {
        const Source *log = file_read(diags, arena, path, LARGEST_LOG);
        Text kept = {0};
        const char *const end = log ? log->text + log->length : NULL;
        const char *last = NULL; /* the last line that stays */
        for (const char *line = log ? log->text : NULL, *next; line < end; line = next) {
            const char *newline = memchr(line, '\n', (size_t)(end - line));
            next = newline ? newline + 1 : end;
            if (newline && step_of_line(line) <= step) {
                text_put(&kept, line, (size_t)(next - line));
                last = line;
            }
        }
        if (last)
            *seconds = line_seconds(arena, last, strcspn(last, "\n"));
        ok = log && file_write_own(diags, path, kept.length ? kept.data : "", kept.length);
        text_free(&kept);
    }
    arena_free(arena);
    return ok;
}

static int compare_steps(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Whether a checkpoint of a step has just this name: none is called step-007, or by a number beyond
 * 64 bits. */
static bool step_of(Arena *arena, const char *name, int64_t *step)
{
    return sscanf(name, "step-%" SCNd64, step) == 1 && *step >= 0 &&
           !strcmp(name, file_name(run_step_path(arena, "", *step)));
}

/* All of them, sorted. */
static int list_steps(Arena *arena, const char *folder, int64_t **steps)
{
    VEC(int64_t) found = {0};
    DIR *dir = opendir(folder);
    if (!dir)
        unanswered_note("read", folder, errno);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int64_t step;
        if (step_of(arena, entry->d_name, &step))
            vec_push(arena, found, step);
    }
    if (dir)
        closedir(dir);
    if (found.count)
        qsort(found.data, found.count, sizeof(int64_t), compare_steps);
    *steps = found.data;
    return (int)found.count;
}

int run_steps(Arena *arena, const char *folder, int64_t newest, int64_t **steps)
{
    int n = list_steps(arena, folder, steps);
    while (n && (*steps)[n - 1] > newest)
        n--;
    return n;
}

void run_prune(Arena *arena, const char *folder, int64_t newest, int64_t keep)
{
    int64_t *steps;
    int n = list_steps(arena, folder, &steps), within = 0;
    while (within < n && steps[within] <= newest)
        within++;
    for (int i = 0; i < n; i++)
        if (i >= within || i < within - keep)
            unlink(run_step_path(arena, folder, steps[i]));
}

static int link_beside(const char *path, void *from) { return link(from, path); }

bool run_link(const char *from, const char *to)
{
    char *beside;
    if (temporary_make(to, link_beside, (void *)(uintptr_t)from, &beside))
        return false;
    bool ok = !rename(beside, to);
    unlink(beside); /* rename of two names of one file leaves both */
    free(beside);
    return ok;
}
