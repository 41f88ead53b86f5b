/* Writing and reading the lines of --hashes. */
#include "driver/train/hash_lines.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_LINES = 1 << 30 };

struct HashLines {
    Job *job;
    const char *path;
    FILE *file;
};

static const char *hash_text(Arena *arena, uint64_t hash)
{
    return arena_printf(arena, "%016" PRIx64, hash);
}

/* ---- reading ---- */

/* The step of a line's bytes; 0: it is none of these lines. */
static int64_t step_of_hashes(const char *line, size_t length)
{
    static const char front[] = "{\"step\": ";
    const size_t n = sizeof front - 1;
    return length > n && !memcmp(line, front, n) ? strtoll(line + n, NULL, 10) : 0;
}

bool hash_lines_read(Job *job, const char *path, HashLineList *list)
{
    const Source *file = file_read(&job->diags, job->arena, path, LARGEST_LINES);
    const char *line = file ? file->text : NULL, *newline;
    const char *const end = file ? line + file->length : NULL;
    int64_t before = 0;
    *list = (HashLineList){0};
    for (; line < end && (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
        const size_t length = (size_t)(newline - line);
        const int64_t step = step_of_hashes(line, length);
        if (step <= before)
            return job_error(job,
                             "%s: line %zu is not one that tfc train --hashes writes after the one "
                             "before it",
                             path, list->count + 1);
        vec_push(job->arena, *list, ((HashLine){step, line, length}));
        before = step;
    }
    return file != NULL;
}

/* Whether the object's member has this hash. */
static bool has_hash(Arena *arena, const JsonValue *object, const char *name, uint64_t hash)
{
    const char *text = json_member_text(object, name);
    return text && !strcmp(text, hash_text(arena, hash));
}

/* The first gradient or param, and what is missing here of the line's. */
static const char *differs_in(Arena *arena, const JsonValue *of, const StepHashes *hashes,
                              bool gradients)
{
    size_t n = 0;
    for (int64_t i = 0; i < hashes->n; i++) {
        const StepHash *hash = &hashes->list[i];
        const char *name = hash->tensor->name;
        if (gradients && !hash->trained)
            continue;
        n++;
        if (!has_hash(arena, of, name, gradients ? hash->gradient : hash->param))
            return arena_printf(arena, gradients ? "the gradient of '%s'" : "param '%s'", name);
    }
    if (of && of->kind == JV_OBJECT && of->n == n)
        return NULL;
    return gradients ? "the list of gradients" : "the list of params";
}

const char *hash_line_differs(Job *job, const HashLine *line, const StepHashes *hashes)
{
    const char *problem, *what;
    Arena *arena = job->arena;
    const JsonValue *json = json_read(arena, line->text, line->length, &problem);
    if (!json || !has_hash(arena, json, "loss", hashes->loss))
        return json ? "the loss" : "all, for it is no JSON,";
    what = differs_in(arena, json_member(json, "gradients"), hashes, true);
    return what ? what : differs_in(arena, json_member(json, "params"), hashes, false);
}

/* ---- writing ---- */

static bool cannot_write(const HashLines *lines, int error)
{
    diag_errno(&lines->job->diags, "write", lines->path, error);
    return false;
}

/* The lines up to the step stay. */
static bool cut_lines(HashLines *lines, int64_t step)
{
    Job *job = lines->job;
    HashLineList list;
    Text kept = {0};
    if (step && !hash_lines_read(job, lines->path, &list))
        return false;
    for (size_t i = 0; step && i < list.count && list.data[i].step <= step; i++) {
        text_put(&kept, list.data[i].text, list.data[i].length);
        text_string(&kept, "\n");
    }
    const bool ok =
        file_write_all(&job->diags, lines->path, kept.data ? kept.data : "", kept.length);
    text_free(&kept);
    return ok;
}

HashLines *hash_lines_open(Job *job, const char *path, int64_t step)
{
    HashLines *lines = ARENA_NEW(job->arena, HashLines);
    *lines = (HashLines){.job = job, .path = path};
    struct stat info;
    const bool is_there = file_stat(path, &info) && S_ISREG(info.st_mode);
    if (is_there && !cut_lines(lines, step))
        return NULL;
    lines->file = fopen(path, "ae");
    return lines->file || cannot_write(lines, errno) ? lines : NULL;
}

static void put_tensors(JsonWriter *json, Arena *arena, const StepHashes *hashes, bool gradients)
{
    json_open(json, gradients ? "gradients" : "params", '{');
    for (int64_t i = 0; i < hashes->n; i++) {
        const StepHash *hash = &hashes->list[i];
        if (!gradients || hash->trained)
            json_put_text(json, hash->tensor->name,
                          hash_text(arena, gradients ? hash->gradient : hash->param));
    }
    json_close(json, '}');
}

bool hash_lines_put(HashLines *lines, const StepHashes *hashes)
{
    Text line = {0};
    Arena *arena = arena_new();
    JsonWriter json = {.out = &line};
    json_open(&json, NULL, '{');
    json_put_integer(&json, "step", hashes->step);
    json_put_text(&json, "loss", hash_text(arena, hashes->loss));
    put_tensors(&json, arena, hashes, true);
    put_tensors(&json, arena, hashes, false);
    json_close(&json, '}');
    const bool ok = fprintf(lines->file, "%s\n", line.data) > 0 && !fflush(lines->file);
    const int error = errno;
    arena_free(arena);
    text_free(&line);
    return ok || cannot_write(lines, error);
}

bool hash_lines_close(HashLines *lines)
{
    FILE *file = lines ? lines->file : NULL;
    if (lines)
        lines->file = NULL;
    return !file || !fclose(file) || cannot_write(lines, errno);
}
