/* Opening texts of any bytes, and cutting them into lines and columns. */
#define _GNU_SOURCE
#include "driver/survey/raw_text.h"

#include "base/file.h"
#include "base/machine.h"
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
    char begin[3] = {0};
    size_t n = fread(begin, 1, sizeof begin, file);
    if (text_is_gzip(begin, n))
        return job_error(job, "%s is compressed by gzip; decompress it first", path);
    if (n >= 2 && (!memcmp(begin, "\xff\xfe", 2) || !memcmp(begin, "\xfe\xff", 2)))
        return job_error(job, "%s is UTF-16: convert it first (iconv -f UTF-16 -t UTF-8)", path);
    if (ferror(file))
        return job_error(job, "cannot read %s: %s", path, strerror(errno));
    rewind(file);
    return true;
}

static bool open_file(RawText *raw, int k, const char *path)
{
    raw->names[k] = path;
    raw->files[k].file = open_again(path);
    if (!raw->files[k].file)
        return job_error(raw->job, "cannot read %s: %s", path, strerror(errno));
    return check_beginning(raw->job, path, raw->files[k].file);
}

static bool open_memory(RawText *raw, const char *path, const char *languages)
{
    Job *job = raw->job;
    const Source *file = file_read(&job->diags, job->arena, path, (size_t)machine_memory_free() / 4);
    const Source *pairs = file ? tmx_parse(&job->diags, job->arena, file, languages) : NULL;
    raw->names[0] = path;
    if (!pairs)
        return false;
    raw->files[0].file = fmemopen((void *)(uintptr_t)pairs->text, pairs->length, "r");
    return raw->files[0].file || job_error(job, "cannot read %s: %s", path, strerror(errno));
}

bool raw_open(Job *job, const SurveyText *text, const SurveyOptions *o, RawText *raw)
{
    *raw = (RawText){.job = job,
                     .is_pairs = !text->text,
                     .has_columns = text->data != NULL,
                     .limit = (size_t)(o->line_limit ? o->line_limit : LINE_LIMIT)};
    if (text->text)
        return open_file(raw, 0, text->text);
    if (text->data)
        return text_ends(text->data, ".tmx") ? open_memory(raw, text->data, o->languages)
                                             : open_file(raw, 0, text->data);
    return open_file(raw, 0, text->source) && open_file(raw, 1, text->target);
}

void raw_rewind(RawText *raw)
{
    for (int k = 0; k < 2; k++) {
        if (raw->files[k].file)
            rewind(raw->files[k].file);
        raw->files[k].lines = 0;
    }
}

void raw_close(RawText *raw)
{
    for (int k = 0; k < 2; k++) {
        if (raw->files[k].file)
            fclose(raw->files[k].file);
        free(raw->files[k].data);
    }
}

/* ---- lines ---- */

static void put_byte(RawFile *file, char byte)
{
    if (file->length == file->capacity) {
        file->capacity = 2 * file->capacity + 4096;
        file->data = realloc(file->data, file->capacity);
        if (!file->data)
            abort();
    }
    file->data[file->length++] = byte;
}

/* False: there is no further line. */
static bool read_line(RawText *raw, int k, RawLine *line)
{
    RawFile *file = &raw->files[k];
    *line = (RawLine){0};
    file->length = 0;
    int byte;
    while ((byte = getc_unlocked(file->file)) != EOF && byte != '\n') {
        if (file->length <= raw->limit) /* one more, which may be a CR */
            put_byte(file, (char)byte);
        else
            line->is_cut = true;
    }
    if (byte == EOF && !file->length) {
        if (ferror(file->file))
            job_error(raw->job, "cannot read %s: %s", raw->names[k], strerror(errno));
        return false;
    }
    file->lines++;
    line->line = (Line){file->data ? file->data : "", file->length};
    if (file->lines == 1 && file->length >= 3 && !memcmp(file->data, "\xEF\xBB\xBF", 3)) {
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
    return raw->files[k].lines;
}

bool raw_next(RawText *raw, RawPair *pair)
{
    *pair = (RawPair){.has_tab = true};
    bool has = read_line(raw, 0, &pair->sides[0]);
    pair->number = raw->files[0].lines;
    if (has && raw->has_columns) {
        split_columns(pair);
    } else if (raw->is_pairs && !raw->has_columns) {
        bool has_target = read_line(raw, 1, &pair->sides[1]);
        if (raw->job->diags.errors)
            return false;
        if (has != has_target)
            return job_error(raw->job, "%s has %lld lines and %s %lld: line by line they are pairs",
                             raw->names[0], (long long)count_rest(raw, 0), raw->names[1],
                             (long long)count_rest(raw, 1));
    }
    return has && !raw->job->diags.errors;
}
