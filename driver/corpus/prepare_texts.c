/* Counting, hashing and cutting texts, and reading their lines. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_texts.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/team.h"
#include "driver/corpus/prepare_conll.h"
#include "driver/corpus/prepare_files.h"
#include "driver/corpus/prepare_tables.h"
#include "runtime/data/pairing.h"
#include "runtime/data/tmx.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which texts ---- */

/* False after an error. */
static bool add_file(Job *job, TextPart *part, const char *option, const char *path)
{
    const int k = part->n++;
    const char *file = file_absolute(&job->diags, job->arena, path);
    part->name[k] = part->read[k] = path;
    part->text[k] = (PreparedText){.option = option, .file = file};
    return file != NULL;
}

/* NULL after an error. */
static TextPart *add_part(Job *job, TextParts *parts, const char *option, const char *path)
{
    TextPart *part = &parts->data[parts->n++];
    *part = (TextPart){.n = 0};
    return add_file(job, part, option, path) ? part : NULL;
}

/* Makes lines of pairs of a file that has others; false after an error. */
static bool read_pairs(Job *job, const PrepareOptions *o, TextPart *part)
{
    PairFields fields;
    if (tmx_is_name(part->name[0]))
        return prepare_file_from_memory(job, o, part);
    return !pair_file_is_table(job, part->name[0], &o->texts.columns, &fields) ||
           prepare_file_from_table(job, o, part, &fields);
}

static bool name_parts(Job *job, const PrepareOptions *o, TextParts *parts)
{
    const TextFiles *texts = &o->texts;
    size_t n = texts->source.count + texts->data.count + texts->text.count;
    parts->data = ARENA_ARRAY(job->arena, TextPart, n + 1);
    for (size_t i = 0; i < texts->source.count; i++) {
        TextPart *part = add_part(job, parts, "source", texts->source.data[i]);
        if (!part || !add_file(job, part, "target", texts->target.data[i]))
            return false;
    }
    for (size_t i = 0; i < texts->data.count; i++) {
        TextPart *part = add_part(job, parts, "data", texts->data.data[i]);
        if (!part)
            return false;
        part->has_columns = !o->table;
        if (!o->table && !read_pairs(job, o, part))
            return false;
    }
    for (size_t i = 0; i < texts->text.count; i++)
        if (!add_part(job, parts, "text", texts->text.data[i]))
            return false;
    return true;
}

/* ---- scanning ---- */

enum { CHUNK = 1 << 20 };

/* Scan
 *   begin, end   of what is in the buffer and not yet passed
 *   at, lines    bytes and lines passed
 *   in_quotes    of CSV: the record is in a field in quotes, which began at open_at */
typedef struct Scan {
    int fd;
    size_t begin, end;
    int64_t at, lines, line_limit, open_at;
    bool is_csv, in_quotes;
    Sha256 sha;
    char buffer[CHUNK];
} Scan;

static bool fill(Scan *scan, TextPart *part, int k)
{
    ssize_t n;
    do
        n = read(scan->fd, scan->buffer, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        part->error = errno;
        part->problem = part->name[k];
    }
    scan->begin = 0;
    scan->end = n > 0 ? (size_t)n : 0;
    sha256_add(&scan->sha, scan->buffer, scan->end);
    return n > 0;
}

/* Passes a byte order mark, which is no line. */
static void pass_mark(Scan *scan, TextPart *part, int k)
{
    if (!fill(scan, part, k) || scan->end < 3 || memcmp(scan->buffer, "\xEF\xBB\xBF", 3))
        return;
    scan->begin = 3;
    scan->at = 3;
}

static void pass_quotes(Scan *scan, const char *from, size_t n)
{
    const char *end = from + n;
    for (const char *at = from; (at = memchr(at, '"', (size_t)(end - at))); at++) {
        scan->in_quotes = !scan->in_quotes;
        scan->open_at = scan->at + (at - from);
    }
}

/* Passes a line of file k with its end; false: there is none any more, or (part->error) it cannot
 * be read. */
static bool pass_line(Scan *scan, TextPart *part, int k)
{
    int64_t start = scan->at;
    for (;;) {
        if (scan->begin == scan->end && !fill(scan, part, k))
            return !part->error && scan->at > start;
        const char *from = scan->buffer + scan->begin;
        const char *newline = memchr(from, '\n', scan->end - scan->begin);
        size_t n = newline ? (size_t)(newline + 1 - from) : scan->end - scan->begin;
        if (scan->is_csv)
            pass_quotes(scan, from, n);
        scan->begin += n;
        scan->at += (int64_t)n;
        if (newline)
            return true;
    }
}

static Scan *open_scan(const TextPart *part, int k, int64_t line_limit, int *error)
{
    Scan *scan = memory_zeroed(1, sizeof *scan);
    sha256_init(&scan->sha);
    scan->is_csv = part->table && part->table->head.format == TABLE_CSV;
    scan->line_limit = line_limit ? line_limit : LINE_LIMIT;
    scan->fd = prepare_file_open(part->read[k], error);
    if (scan->fd >= 0)
        return scan;
    free(scan);
    return NULL;
}

/* Passes a line, or a record of CSV: it ends with the first line that ends in no quotes. (Where
 * quotes are longer than any field may be, the record is bad, and ends as well.) */
static bool pass_record(Scan *scan, TextPart *part, int k)
{
    const int64_t start = scan->at;
    scan->in_quotes = false;
    do {
        if (!pass_line(scan, part, k))
            return !part->error && scan->at > start;
        scan->lines++;
    } while (scan->in_quotes && scan->at - scan->open_at <= scan->line_limit + 2);
    return true;
}

void text_part_add_cut(TextPart *part, const TextCut *cut)
{
    if (part->n_cuts == part->room) {
        part->room = 2 * part->room + 16;
        part->cuts = memory_resized(part->cuts, (size_t)part->room * sizeof *part->cuts);
    }
    part->cuts[part->n_cuts++] = *cut;
}

static int64_t passed(const TextPart *part, Scan *const scans[2])
{
    return scans[0]->at + (part->n == 2 ? scans[1]->at : 0);
}

/* A cut that begins here. */
static TextCut begin_cut(const TextPart *part, Scan *const scans[2])
{
    return (TextCut){.line = scans[0]->lines,
                     .at = {scans[0]->at, part->n == 2 ? scans[1]->at : 0}};
}

/* Goes through all lines or records; `lines_a_shard` 0: by bytes. */
static void scan_lines(TextPart *part, Scan *scans[2], int64_t lines_a_shard)
{
    bool more[2] = {true, part->n == 2};
    for (int k = 0; k < part->n; k++)
        pass_mark(scans[k], part, k);
    if (part->table && part->table->head.lines)
        pass_record(scans[0], part, 0);
    const bool is_first = !part->table || !part->table->head.lines;
    TextCut cut = is_first ? (TextCut){0} : begin_cut(part, scans); /* 0: with the mark */
    while (!part->error && (more[0] || more[1])) {
        for (int k = 0; k < part->n; k++)
            if (more[k] && (more[k] = pass_record(scans[k], part, k)))
                part->text[k].lines++;
        if (!more[0] || (part->n == 2 && !more[1]))
            continue; /* the rest of a longer file is only counted */
        cut.lines++;
        cut.bytes = passed(part, scans) - cut.at[0] - cut.at[1];
        if (lines_a_shard ? cut.lines < lines_a_shard : cut.bytes < PREPARE_SHARD_BYTES)
            continue;
        text_part_add_cut(part, &cut);
        cut = begin_cut(part, scans);
    }
    if (cut.lines)
        text_part_add_cut(part, &cut);
}

/* Tensors are cut by their rows. */
static void cut_tensors(const PrepareOptions *o, TextPart *part)
{
    const int64_t bytes = table_part_record_bytes(part->table, o->table->fields.n),
                  most = o->rows_per_shard             ? o->rows_per_shard
                         : bytes < PREPARE_SHARD_BYTES ? PREPARE_SHARD_BYTES / bytes
                                                       : 1,
                  n = part->table->n;
    part->text[0].lines = n;
    for (int64_t first = 0; first < n; first += most) {
        const TextCut cut = {.line = first, .lines = n - first < most ? n - first : most};
        text_part_add_cut(part, &cut);
    }
}

typedef struct Scanning {
    const PrepareOptions *options;
    TextPart *parts;
    char (*hashes)[2][2 * SHA256_BYTES + 1];
} Scanning;

static void scan_part(const void *context, int64_t index)
{
    const Scanning *s = context;
    TextPart *part = &s->parts[index];
    Scan *scans[2] = {0};
    const PrepareOptions *o = s->options;
    const bool is_tensors = part->table && part->table->tensors;
    if (part->table && !is_tensors && table_is_conll(part->table->head.format)) {
        prepare_scan_conll(o, part, s->hashes[index][0]);
        return;
    }
    for (int k = 0; k < part->n && !part->error; k++)
        if (!(scans[k] = open_scan(part, k, o->line_limit, &part->error)))
            part->problem = part->name[k];
    if (!part->error && is_tensors)
        while (fill(scans[0], part, 0))
            scans[0]->at += (int64_t)scans[0]->end;
    else if (!part->error)
        scan_lines(part, scans, o->rows_per_shard);
    if (is_tensors)
        cut_tensors(o, part);
    for (int k = 0; k < part->n && scans[k]; k++) {
        if (!part->is_made[k]) { /* what was made of a file has that file's */
            sha256_finish_text(&scans[k]->sha, s->hashes[index][k]);
            part->text[k].sha256 = s->hashes[index][k];
            part->text[k].bytes = scans[k]->at;
        }
        close(scans[k]->fd);
        free(scans[k]);
    }
}

/* File k of a part with its text, so that messages can show a line; without the text if the file
 * cannot be read or has more than 64 MiB. In the arena. */
static const Source *text_quoted(Arena *arena, const TextPart *part, int k)
{
    enum { QUOTED_BYTES = 1 << 26 };
    Diagnostics unseen;
    diag_init(&unseen, arena);
    const Source *whole = file_read(&unseen, arena, part->read[k], QUOTED_BYTES);
    Source *source = ARENA_NEW(arena, Source);
    if (whole)
        *source = *whole;
    source->path = part->name[k];
    return source;
}

/* A text of one line may be many, of another system. */
static bool check_ends(Job *job, const TextPart *part, int k)
{
    const Source *text = text_quoted(job->arena, part, k);
    if (!text->text || !text_has_cr_lines(text->text, text->length))
        return true;
    diag_error(&job->diags, (Loc){.source = text}, CR_LINES_ADVICE);
    return false;
}

static bool check_part(Job *job, const TextPart *part)
{
    if (part->error == ESPIPE) {
        diag_file(&job->diags, "read", part->problem,
                  "not a regular file; texts are read more than once");
        return false;
    }
    if (part->error) {
        diag_errno(&job->diags, "read", part->problem, part->error);
        return false;
    }
    if (part->n == 2 && part->text[0].lines != part->text[1].lines)
        return job_error(job, "%s",
                         pairing_counts_text(job->arena, part->name[0], part->text[0].lines,
                                             part->name[1], part->text[1].lines));
    if (part->table && !part->text[0].lines)
        diag_error(&job->diags, (Loc){.source = diag_source(job->arena, part->name[0], "", 0)},
                   TABLE_HAS_NO_RECORDS);
    if (part->table)
        table_tell_left_out(&job->diags, diag_source(job->arena, part->name[0], "", 0),
                            part->table->head.format, part->left_out);
    if (part->table)
        return part->text[0].lines > 0;
    bool ok = true;
    for (int k = 0; k < part->n; k++)
        ok = (part->text[k].lines != 1 || check_ends(job, part, k)) && ok;
    return ok;
}

/* Unpacks compressed files, and finds the fields of tables. */
static bool open_parts(Job *job, const PrepareOptions *o, TextParts *parts)
{
    if (o->table && !table_files_check(job, &o->texts.data, &o->table->fields))
        return false;
    for (int i = 0; i < parts->n; i++) {
        TextPart *part = &parts->data[i];
        for (int k = 0; k < part->n; k++)
            if (!prepare_file_unpack(job, o, part, k))
                return false;
        if (o->table && !(part->table = table_part_open(job, o, part)))
            return false;
    }
    return true;
}

bool prepare_texts(Job *job, const PrepareOptions *o, TextParts *parts)
{
    *parts = (TextParts){0};
    if (!name_parts(job, o, parts) || !open_parts(job, o, parts))
        return false;
    Scanning scanning = {.options = o, .parts = parts->data};
    scanning.hashes = arena_array(job->arena, (size_t)parts->n, sizeof *scanning.hashes);
    team_each(o->threads, parts->n, scan_part, &scanning);
    bool ok = true;
    int64_t lines = 0;
    for (int i = 0; i < parts->n; i++) {
        ok = check_part(job, &parts->data[i]) && ok;
        lines += parts->data[i].text[0].lines;
    }
    return ok && (lines || text_files_tell_empty(job, &o->texts));
}

void prepare_texts_free(TextParts *parts)
{
    for (int i = 0; i < parts->n; i++) {
        free(parts->data[i].cuts);
        for (int k = 0; k < parts->data[i].n; k++)
            if (parts->data[i].is_made[k])
                unlink(parts->data[i].read[k]);
    }
}

/* ---- reading ---- */

bool pair_reader_open(Diagnostics *diags, const TextPart *part, const TextCut *from,
                      int64_t line_limit, PairReader *reader)
{
    *reader = (PairReader){.part = part};
    for (int k = 0; k < part->n; k++) {
        reader->files[k] = line_reader_open(diags, part->read[k], line_limit);
        if (!reader->files[k])
            return false;
        if (!line_reader_seek(reader->files[k], from->at[k], from->line)) {
            diag_errno(diags, "read", part->name[k], errno);
            return false;
        }
    }
    return true;
}

void pair_reader_close(PairReader *reader)
{
    for (int k = 0; k < 2; k++)
        line_reader_close(reader->files[k]);
}

/* An error at a line of a file. */
static bool refuse(Diagnostics *diags, const TextPart *part, int k, int64_t line, int column,
                   const char *what)
{
    diag_error(diags,
               (Loc){.source = text_quoted(diags->arena, part, k),
                     .line = (int)(line < INT32_MAX ? line : INT32_MAX),
                     .column = column},
               "%s", what);
    return false;
}

bool pair_reader_next(Diagnostics *diags, PairReader *reader, Line sides[2])
{
    const TextPart *part = reader->part;
    for (int k = 0; k < part->n; k++) {
        LineResult result = line_reader_next(reader->files[k]);
        if (result.status == LINE_END)
            result.message = TEXT_CHANGED;
        if (result.status != LINE_READ)
            return refuse(diags, part, k, result.status == LINE_FAILED ? 0 : result.number,
                          result.column, result.message);
        sides[k] = result.line;
        if (!part->has_columns)
            continue;
        if (!line_columns(&result.line, sides))
            return refuse(diags, part, k, result.number, 1,
                          "no tab: expected a source, a tab and its target");
    }
    return true;
}
