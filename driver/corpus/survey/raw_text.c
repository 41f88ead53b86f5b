/* Opening texts of any bytes, and cutting them into lines and columns. */
#define _GNU_SOURCE
#include "driver/corpus/survey/raw_text.h"

#include "base/arena.h"
#include "base/file.h"
#include "runtime/data/pairing.h"
#include "runtime/data/tmx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool copy_all(FILE *from, FILE *to)
{
    char buffer[1 << 16];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;)
        if (fwrite(buffer, 1, n, to) != n)
            return false;
    return !ferror(from) && !fflush(to);
}

/* What may be read again from its beginning; NULL and errno: it cannot be read. */
static FILE *open_again(const char *path)
{
    struct stat info;
    bool is_stdin = !strcmp(path, "-");
    FILE *file = is_stdin ? stdin : fopen(path, "re");
    if (!file || fstat(fileno(file), &info))
        return NULL;
    if (S_ISDIR(info.st_mode)) {
        fclose(file);
        errno = EISDIR;
        return NULL;
    }
    if (S_ISREG(info.st_mode) && !is_stdin)
        return file;
    FILE *copy = tmpfile();
    if (copy && !copy_all(file, copy)) {
        fclose(copy);
        copy = NULL;
    }
    int error = errno;
    if (!is_stdin)
        fclose(file);
    errno = error;
    return copy;
}

/* Says of what is no text in bytes of its own that it is none. */
static bool check_beginning(Job *job, const char *path, FILE *file)
{
    char begin[2] = {0};
    const char *foreign = text_foreign(begin, fread(begin, 1, sizeof begin, file));
    if (foreign)
        return job_error(job, "%s %s", path, foreign);
    if (ferror(file))
        return diag_errno(&job->diags, "read", path, errno), false;
    rewind(file);
    return true;
}

static FILE *open_file(Job *job, const char *path)
{
    FILE *file = open_again(path);
    if (!file)
        diag_errno(&job->diags, "read", path, errno);
    else if (!check_beginning(job, path, file)) {
        fclose(file);
        file = NULL;
    }
    return file;
}

static FILE *open_pairs(Job *job, const char *path, const Source *pairs)
{
    FILE *lines = pairs ? fmemopen((void *)(uintptr_t)pairs->text, pairs->length, "r") : NULL;
    if (pairs && !lines)
        diag_errno(&job->diags, "read", path, errno);
    return lines;
}

static FILE *open_parsed(Job *job, const char *path, const TextFiles *files, const SurveyOptions *o,
                         const int64_t **numbers)
{
    return open_pairs(
        job, path,
        pair_text_lines(job, path, &files->columns, o->languages, o->line_limit, numbers));
}

/* Whether a file of pairs is not read as it is, in lines. */
static bool is_parsed(RawText *raw, const char *path, const TextList *columns)
{
    PairFields fields;
    return raw->has_columns &&
           (tmx_is_name(path) || pair_file_is_table(raw->job, path, columns, &fields));
}

static bool open_side(RawText *raw, int k, const TextList *paths, const TextFiles *files,
                      const SurveyOptions *o)
{
    RawFile *side = &raw->files[k];
    side->names = paths->data;
    side->files = ARENA_ARRAY(raw->job->arena, FILE *, paths->count + 1);
    side->numbers = ARENA_ARRAY(raw->job->arena, const int64_t *, paths->count + 1);
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->data[i];
        side->files[i] = is_parsed(raw, path, &files->columns)
                             ? open_parsed(raw->job, path, files, o, &side->numbers[i])
                             : open_file(raw->job, path);
        if (!side->files[i])
            return false;
    }
    return true;
}

/* The names of all paths, separated by commas. */
static const char *join_names(Arena *arena, const char *const *paths, size_t n)
{
    const char *names = paths[0];
    for (size_t i = 1; i < n; i++)
        names = arena_printf(arena, "%s, %s", names, paths[i]);
    return names;
}

/* What was read already, as one file. */
static bool open_read(RawText *raw, const SurveyText *text)
{
    const TextList *paths = &text->files.data;
    RawFile *side = &raw->files[0];
    raw->n = 1;
    side->names = ARENA_ARRAY(raw->job->arena, const char *, 1);
    side->names[0] = join_names(raw->job->arena, paths->data, paths->count);
    side->files = ARENA_ARRAY(raw->job->arena, FILE *, 1);
    side->numbers = ARENA_ARRAY(raw->job->arena, const int64_t *, 1);
    side->numbers[0] = text->numbers;
    side->files[0] = open_pairs(raw->job, side->names[0], text->pairs);
    return side->files[0] != NULL;
}

bool raw_open(Job *job, const SurveyText *text, const SurveyOptions *o, RawText *raw)
{
    const TextFiles *files = &text->files;
    const TextList *first = files->text.count   ? &files->text
                            : files->data.count ? &files->data
                                                : &files->source;
    *raw = (RawText){.job = job,
                     .is_pairs = !files->text.count,
                     .has_columns = files->data.count > 0,
                     .limit = (size_t)(o->line_limit ? o->line_limit : LINE_LIMIT),
                     .n = first->count};
    if (text->pairs)
        return open_read(raw, text);
    return open_side(raw, 0, first, files, o) &&
           (first != &files->source || open_side(raw, 1, &files->target, files, o));
}

const char *raw_names(const RawText *raw, int k)
{
    return join_names(raw->job->arena, raw->files[k].names, raw->n);
}

void raw_rewind(RawText *raw)
{
    raw->at = 0;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; raw->files[k].files && i < raw->n; i++)
            rewind(raw->files[k].files[i]);
        raw->files[k].lines = raw->files[k].file_lines = 0;
    }
}

void raw_close(RawText *raw)
{
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; raw->files[k].files && i < raw->n; i++)
            if (raw->files[k].files[i])
                fclose(raw->files[k].files[i]);
        free(raw->files[k].data);
    }
}

/* ---- lines ---- */

static void put_byte(RawFile *file, char byte)
{
    if (file->length == file->capacity) {
        file->capacity = 2 * file->capacity + 4096;
        file->data = memory_resized(file->data, file->capacity);
    }
    file->data[file->length++] = byte;
}

/* False: the file has no further line. */
static bool read_line(RawText *raw, int k, RawLine *line)
{
    RawFile *file = &raw->files[k];
    FILE *stream = file->files[raw->at];
    *line = (RawLine){0};
    file->length = 0;
    int byte;
    while ((byte = getc_unlocked(stream)) != EOF && byte != '\n') {
        if (file->length <= raw->limit) /* one more, which may be a CR */
            put_byte(file, (char)byte);
        else
            line->is_cut = true;
    }
    if (byte == EOF && !file->length) {
        if (ferror(stream))
            diag_errno(&raw->job->diags, "read", file->names[raw->at], errno);
        return false;
    }
    file->lines++;
    file->file_lines++;
    line->line = (Line){file->data ? file->data : "", file->length};
    if (file->file_lines == 1 && file->length >= 3 && !memcmp(file->data, "\xEF\xBB\xBF", 3)) {
        line->has_mark = true;
        line->line = (Line){file->data + 3, file->length - 3};
    }
    if (!line->is_cut && line->line.length && line->line.text[line->line.length - 1] == '\r') {
        line->has_cr = true;
        line->line.length--;
    }
    line->is_cut |= line->line.length > raw->limit;
    if (line->is_cut && line->line.length > raw->limit)
        line->line.length = raw->limit;
    return true;
}

static void split_columns(RawPair *pair)
{
    Line sides[2] = {pair->sides[0].line, {"", 0}};
    pair->has_tab = line_columns(&pair->sides[0].line, sides);
    pair->sides[1] = (RawLine){.line = sides[1]};
    if (pair->has_tab)
        pair->sides[0].line = sides[0];
}

static int64_t count_rest(RawText *raw, int k)
{
    RawLine line;
    while (read_line(raw, k, &line))
        ;
    return raw->files[k].file_lines;
}

/* The number of the line that was read last, among those of all files. */
static int64_t number_of_line(const RawFile *file, size_t at, bool has_line)
{
    const int64_t *numbers = has_line ? file->numbers[at] : NULL;
    return file->lines + (numbers ? numbers[file->file_lines - 1] + 1 - file->file_lines : 0);
}

/* The next line of the current file, or of its pair of files; false: they have ended, or an
 * error. */
static bool next_of_file(RawText *raw, RawPair *pair)
{
    *pair = (RawPair){.has_tab = true};
    bool has = read_line(raw, 0, &pair->sides[0]);
    pair->number = number_of_line(&raw->files[0], raw->at, has);
    if (has && raw->has_columns) {
        split_columns(pair);
    } else if (raw->is_pairs && !raw->has_columns) {
        bool has_target = read_line(raw, 1, &pair->sides[1]);
        if (raw->job->diags.errors)
            return false;
        if (has != has_target) {
            int64_t n[2] = {count_rest(raw, 0), count_rest(raw, 1)};
            return job_error(raw->job, "%s",
                             pairing_counts_text(raw->job->arena, raw->files[0].names[raw->at],
                                                 n[0], raw->files[1].names[raw->at], n[1]));
        }
    }
    return has && !raw->job->diags.errors;
}

bool raw_next(RawText *raw, RawPair *pair)
{
    while (!next_of_file(raw, pair)) {
        if (raw->job->diags.errors || raw->at + 1 >= raw->n)
            return false;
        raw->at++;
        raw->files[0].file_lines = raw->files[1].file_lines = 0;
    }
    return true;
}
