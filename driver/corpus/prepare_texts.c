/* Counting, hashing and cutting texts, and reading their lines. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_texts.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/record_cutter.h"
#include "base/sha256.h"
#include "base/team.h"
#include "driver/corpus/prepare_parts.h"
#include "driver/corpus/prepare_tables.h"
#include "runtime/data/pairing.h"
#include "runtime/data/tmx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

/* Scan: a file whose records are counted, and whose bytes are hashed. */
typedef struct Scan {
    RecordCutter cutter;
    Sha256 sha;
} Scan;

static void hash_block(void *sha, const void *bytes, size_t n) { sha256_add(sha, bytes, n); }

static void note_problem(TextPart *part, int k, int error)
{
    part->error = error ? error : EIO;
    part->problem = part->name[k];
}

static Scan *open_scan(const PrepareOptions *o, TextPart *part, int k)
{
    int error;
    const int fd = prepare_file_open(part->read[k], &error);
    if (fd < 0) {
        note_problem(part, k, error);
        return NULL;
    }
    Scan *scan = memory_zeroed(1, sizeof *scan);
    ByteSource *source = &scan->cutter.source;
    sha256_init(&scan->sha);
    byte_source_of(source, fd);
    source->observe = hash_block;
    source->context = &scan->sha;
    RecordRule rule = {.longest = (size_t)line_limit_of(o->line_limit)};
    if (part->table) {
        rule = table_record_rule(part->table->head.format, o->line_limit, PREPARE_SHARD_BYTES);
        rule.joins_empty = table_passes_empty(&part->table->head);
    }
    record_cutter_begin(&scan->cutter, rule);
    return scan;
}

/* Passes a line, or a record of a table; false: there is none any more, or (part->error) the file
 * cannot be read. */
static bool pass_record(Scan *scan, TextPart *part, int k)
{
    Record record;
    const RecordStatus status = record_next(&scan->cutter, &record);
    if (status == RECORD_READ)
        record_skip(&scan->cutter);
    if (status == RECORD_FAILED)
        note_problem(part, k, scan->cutter.source.error);
    return status == RECORD_READ;
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
    return scans[0]->cutter.at + (part->n == 2 ? scans[1]->cutter.at : 0);
}

/* A cut that begins here. */
static TextCut begin_cut(const TextPart *part, Scan *const scans[2])
{
    return (TextCut){.line = scans[0]->cutter.line,
                     .at = {scans[0]->cutter.at, part->n == 2 ? scans[1]->cutter.at : 0}};
}

/* Goes through all lines or records; `lines_a_shard` 0: by bytes. */
static void scan_lines(TextPart *part, Scan *scans[2], int64_t lines_a_shard)
{
    bool more[2] = {true, part->n == 2};
    while (part->table && scans[0]->cutter.line < part->table->head.lines &&
           pass_record(scans[0], part, 0))
        continue;
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
static void cut_tensors(const PrepareOptions *o, TextPart *part, RecordCutter *cutter)
{
    for (ByteSource *s = &cutter->source; byte_source_more(s, BYTE_BLOCK);) {
        cutter->at += (int64_t)s->length;
        byte_source_pass(s, s->length);
    }
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

/* Cuts the part, and counts its records. */
static void cut_part(const PrepareOptions *o, TextPart *part, Scan *scans[2])
{
    RecordCutter *first = &scans[0]->cutter;
    if (part->table && part->table->tensors)
        cut_tensors(o, part, first);
    else if (part->table && table_is_conll(part->table->head.format))
        prepare_cut_conll(o, part, first);
    else
        scan_lines(part, scans, o->rows_per_shard);
    if (byte_source_problem(&first->source))
        note_problem(part, 0, first->source.error);
    part->closed = first->closed;
}

static void scan_part(const void *context, int64_t index)
{
    const Scanning *s = context;
    TextPart *part = &s->parts[index];
    Scan *scans[2] = {0};
    for (int k = 0; k < part->n && !part->error; k++)
        scans[k] = open_scan(s->options, part, k);
    if (!part->error)
        cut_part(s->options, part, scans);
    for (int k = 0; k < part->n && scans[k]; k++) {
        if (!part->is_made[k]) { /* what was made of a file has that file's */
            sha256_finish_text(&scans[k]->sha, s->hashes[index][k]);
            part->text[k].sha256 = s->hashes[index][k];
            part->text[k].bytes = scans[k]->cutter.at;
        }
        record_cutter_close(&scans[k]->cutter);
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
                   "%s", table_without_records(part->table->head.format));
    if (part->table)
        return table_end(&job->diags, diag_source(job->arena, part->name[0], "", 0),
                         part->table->head.format, part->left_out, part->closed) &&
               part->text[0].lines > 0;
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
static bool refuse_part_line(Diagnostics *diags, const TextPart *part, int k, int64_t line,
                             int column, const char *what)
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
            return refuse_part_line(diags, part, k,
                                    result.status == LINE_FAILED ? 0 : result.number, result.column,
                                    result.message);
        sides[k] = result.line;
        if (!part->has_columns)
            continue;
        if (!line_columns(&result.line, sides))
            return refuse_part_line(
                diags, part, k, result.number, 1,
                "no tab: expected a source, a tab and its target (tables of other forms "
                "are FILE.csv and FILE.jsonl)");
    }
    return true;
}
