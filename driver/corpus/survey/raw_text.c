/* Opening texts of any bytes, and cutting them into lines and columns. */
#define _GNU_SOURCE
#include "driver/corpus/survey/raw_text.h"

#include "base/arena.h"
#include "runtime/data/pairing.h"
#include "runtime/data/tmx.h"

#include <errno.h>
#include <string.h>

static RecordRule rule_of(const RawText *raw) { return (RecordRule){.longest = raw->limit}; }

/* Opens what may be read again from its beginning. What is no text in bytes of its own is an
 * error. */
static bool open_raw_file(RawText *raw, const char *path, RecordCutter *file)
{
    enum { BEGINNING = 8 };
    ByteSource *source = &file->source;
    if (!byte_source_open(source, path) || !byte_source_keep(source)) {
        diag_errno(&raw->job->diags, "read", path, errno);
        return false;
    }
    byte_source_unpack(source);
    const size_t n = byte_source_look(source, BEGINNING);
    const char *foreign = text_foreign(source->data, n);
    if (foreign)
        return job_error(raw->job, "%s %s", path, foreign);
    record_cutter_begin(file, rule_of(raw));
    return byte_source_check(source, &raw->job->diags, path);
}

/* The rows of pairs, which have been parsed. */
static void open_rows(const RawText *raw, const Source *pairs, RecordCutter *file)
{
    byte_source_memory(&file->source, pairs->text, pairs->length);
    record_cutter_begin(file, rule_of(raw));
}

static bool open_parsed(RawText *raw, const char *path, const TextFiles *files,
                        const SurveyOptions *o, RecordCutter *file, const int64_t **numbers)
{
    const Source *pairs =
        pair_text_lines(raw->job, path, &files->columns, o->languages, o->line_limit, numbers);
    if (pairs)
        open_rows(raw, pairs, file);
    return pairs != NULL;
}

/* Whether a file of pairs is not read as it is, in lines. */
static bool is_parsed(RawText *raw, const char *path, const TextList *columns)
{
    PairFields fields;
    return raw->has_columns &&
           (tmx_is_name(path) || pair_file_is_table(raw->job, path, columns, &fields));
}

static void begin_side(const RawText *raw, RawFile *side, const char **names, size_t n)
{
    Arena *arena = raw->job->arena;
    *side = (RawFile){.names = names,
                      .files = ARENA_ARRAY(arena, RecordCutter, n + 1),
                      .numbers = ARENA_ARRAY(arena, const int64_t *, n + 1)};
    for (size_t i = 0; i < n; i++)
        side->files[i].source.fd = -1;
}

static bool open_side(RawText *raw, int k, const TextList *paths, const TextFiles *files,
                      const SurveyOptions *o)
{
    RawFile *side = &raw->files[k];
    begin_side(raw, side, paths->data, paths->count);
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->data[i];
        if (!(is_parsed(raw, path, &files->columns)
                  ? open_parsed(raw, path, files, o, &side->files[i], &side->numbers[i])
                  : open_raw_file(raw, path, &side->files[i])))
            return false;
    }
    return true;
}

/* What was read already, as one file. */
static void open_read(RawText *raw, const SurveyText *text)
{
    const TextList *paths = &text->files.data;
    const char **names = ARENA_ARRAY(raw->job->arena, const char *, 1);
    raw->n = 1;
    names[0] = text_join(raw->job->arena, paths->data, paths->count);
    begin_side(raw, &raw->files[0], names, 1);
    raw->files[0].numbers[0] = text->numbers;
    open_rows(raw, text->pairs, &raw->files[0].files[0]);
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
                     .limit = (size_t)line_limit_of(o->line_limit),
                     .n = first->count};
    if (text->pairs) {
        open_read(raw, text);
        return true;
    }
    return open_side(raw, 0, first, files, o) &&
           (first != &files->source || open_side(raw, 1, &files->target, files, o));
}

const char *raw_names(const RawText *raw, int k)
{
    return text_join(raw->job->arena, raw->files[k].names, raw->n);
}

bool raw_rewind(RawText *raw)
{
    bool ok = true;
    raw->at = 0;
    for (int k = 0; k < 2; k++) {
        RawFile *side = &raw->files[k];
        side->lines = 0;
        for (size_t i = 0; ok && side->files && i < raw->n; i++) {
            ok = byte_source_rewind(&side->files[i].source);
            if (!ok)
                diag_errno(&raw->job->diags, "read", side->names[i], errno);
            record_cutter_begin(&side->files[i], rule_of(raw));
        }
    }
    return ok;
}

void raw_close(RawText *raw)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; raw->files[k].files && i < raw->n; i++)
            record_cutter_close(&raw->files[k].files[i]);
}

/* ---- lines ---- */

/* False: the current file has no further line, or after an error. */
static bool read_line(RawText *raw, int k, RawLine *line)
{
    RawFile *side = &raw->files[k];
    RecordCutter *file = &side->files[raw->at];
    const char *name = side->names[raw->at];
    Record record;
    *line = (RawLine){0};
    const RecordStatus status = record_next(file, &record);
    if (status == RECORD_FAILED && byte_source_check(&file->source, &raw->job->diags, name))
        return job_error(raw->job, "%s: line %lld has no end: this is not a text file", name,
                         (long long)file->line);
    if (status != RECORD_READ)
        return false;
    side->lines++;
    *line = (RawLine){.line = {record.text, record.is_cut ? raw->limit : record.length},
                      .has_mark = record.has_mark,
                      .has_cr = record.has_cr && !record.is_cut,
                      .is_cut = record.is_cut};
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
        continue;
    return raw->files[k].files[raw->at].line;
}

/* The number of the line that was read last, among those of all files. */
static int64_t number_of_line(const RawFile *side, size_t at, bool has_line)
{
    const int64_t *numbers = has_line ? side->numbers[at] : NULL;
    const int64_t line = side->files[at].line;
    return side->lines + (numbers ? numbers[line - 1] + 1 - line : 0);
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
    }
    return true;
}
