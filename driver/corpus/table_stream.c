/* Reading tables a part at a time: whole records, a few megabytes or what a pipe has. */
#define _GNU_SOURCE
#include "driver/corpus/table_stream.h"

#include "base/record_cutter.h"
#include "runtime/data/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* TableStream
 *   files        the records of each file; closed: of tensors, which are mapped
 *   file         number of the file that is being read
 *   takes_lines  a file may be lines; is_lines: this one is
 *   has_head     the head of this one was looked for; head_is_found: it is a table with one
 *   has_labels   lines of text with fastText's labels were warned of
 *   records      of the file; left_out: its lines that are in none; told: files whose count of
 *                those has been told
 *   part         memory of the records that were given last; part_records, part_bytes: how many
 *   fault        errors of the records behind them; has_fault: there are such, and nothing more is
 *                read */
struct TableStream {
    Job *job;
    const TextList *paths;
    const TableFields *fields;
    TableStreamOptions options;
    LineLimits limits;
    RecordCutter *files;
    size_t file;
    bool takes_lines, is_lines, has_head, head_is_found, has_fault, has_labels;
    TableHead head;
    TableFormat format;
    int64_t records, left_out;
    size_t told;
    Arena *part;
    int64_t part_records;
    size_t part_bytes;
    Diagnostics fault;
};

static const char *path_of(const TableStream *s) { return s->paths->data[s->file]; }

/* The file that is being read. */
static RecordCutter *cutter_of(const TableStream *s) { return &s->files[s->file]; }

static bool is_named_table(const TextList *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        if (table_file_is_named(paths->data[i]))
            return true;
    return false;
}

/* Before the first record of a file, or behind the last file. */
static void begin_file(TableStream *s, size_t file)
{
    s->file = file;
    s->has_head = s->head_is_found = s->is_lines = false;
    s->records = s->left_out = 0;
    if (file < s->paths->count)
        record_cutter_begin(cutter_of(s), (RecordRule){.longest = 0});
}

/* False after an error. */
static bool open_table_file(TableStream *s, size_t i)
{
    ByteSource *source = &s->files[i].source;
    const char *path = s->paths->data[i];
    if (byte_source_open(source, path) && (!s->options.rewinds || byte_source_keep(source))) {
        byte_source_unpack(source);
        return true;
    }
    diag_errno(&s->job->diags, "read", path, errno);
    return false;
}

TableStream *table_stream_open(Job *job, const TextList *paths, const TableFields *fields,
                               const TableStreamOptions *options)
{
    if (!table_files_check(job, paths, fields) ||
        !text_paths_check(&job->diags, paths->data, paths->count))
        return NULL;
    TableStream *s = memory_zeroed(1, sizeof *s);
    *s = (TableStream){
        .job = job,
        .paths = paths,
        .fields = fields,
        .options = *options,
        .limits = {.line = options->line_limit, .takes = fields->takes, .inputs = fields->inputs},
        .takes_lines = options->takes_lines && fields->n == 1 &&
                       !table_name_is_of_several(fields->names[0]) && !is_named_table(paths),
        .files = memory_zeroed(paths->count + 1, sizeof *s->files)};
    bool ok = true;
    for (size_t i = 0; i < paths->count; i++)
        s->files[i].source.fd = -1;
    for (size_t i = 0; ok && i < paths->count; i++)
        ok = table_file_is_tensors(paths->data[i]) || open_table_file(s, i);
    if (ok) {
        begin_file(s, 0);
        return s;
    }
    table_stream_close(s);
    return NULL;
}

void table_stream_keep(TableStream *s)
{
    if (s->part)
        arena_own(s->job->arena, s->part, (void (*)(void *))arena_free);
    s->part = NULL;
}

void table_stream_close(TableStream *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->paths->count; i++)
        record_cutter_close(&s->files[i]);
    table_stream_keep(s);
    free(s->files);
    free(s);
}

bool table_stream_rewind(TableStream *s)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->paths->count; i++) {
        ok = s->files[i].source.fd < 0 || byte_source_rewind(&s->files[i].source);
        if (!ok)
            diag_errno(&s->job->diags, "read", s->paths->data[i], errno);
    }
    arena_free(s->part);
    s->part = NULL;
    begin_file(s, 0);
    return ok;
}

/* ---- the beginning of a file ---- */

/* Whole records: at most `most` of them within most_bytes. Only those that can be read without
 * waiting, unless parts are to be the same each time. */
static bool read_records(TableStream *s, int64_t most, size_t most_bytes, size_t *bytes)
{
    RecordCutter *cutter = cutter_of(s);
    const RecordPart part = {.records = most, .bytes = most_bytes, .waits = s->options.rewinds};
    cutter->rule = table_record_rule(s->format, s->limits.line, TABLE_PART_BYTES);
    cutter->rule.joins_empty = s->head_is_found && table_passes_empty(&s->head);
    return record_part(cutter, &part, bytes) ||
           byte_source_check(&cutter->source, &s->job->diags, path_of(s));
}

/* A copy of the first bytes, in the arena. */
static Source *copy_source(const TableStream *s, Arena *arena, size_t bytes)
{
    const RecordCutter *cutter = cutter_of(s);
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.path = text_name(path_of(s)),
                       .text = arena_strndup(arena, bytes ? cutter->source.data : "", bytes),
                       .length = bytes,
                       .lines_before = cutter->line};
    return source;
}

/* What is there of the first lines: whole ones, 64 KB at most. */
static const Source *look_further(const TableStream *s)
{
    ByteSource *source = &cutter_of(s)->source;
    const size_t there = byte_source_look(source, BYTE_BLOCK);
    const char *end = there ? memrchr(source->data, '\n', there) : NULL;
    return copy_source(s, s->job->arena, end ? (size_t)(end + 1 - source->data) : there);
}

/* Whether the first line begins a table of several fields with the one that a text may feed. A
 * file, which does not wait, may show fastText's labels further on. */
static bool begins_table(TableStream *s, const Source *begin)
{
    Arena *arena = s->job->arena;
    const char *field = s->fields->names[0], *path = path_of(s);
    if (!table_find_format(arena, path, begin, &field, 1, &s->format))
        return file_is_regular(path) &&
               table_find_format(arena, path, look_further(s), &field, 1, &s->format) &&
               s->format == TABLE_FASTTEXT;
    if (s->format == TABLE_JSON) {
        const char *key = arena_printf(arena, "\"%s\"", field);
        return memmem(begin->text, begin->length, key, strlen(key)) != NULL;
    }
    Diagnostics unseen;
    diag_init(&unseen, arena);
    return s->format == TABLE_LIST || s->format == TABLE_FASTTEXT ||
           (s->options.is_named && !isdigit((unsigned char)*field)) ||
           table_width(&unseen, arena, begin, s->format) > 1;
}

/* The first line; two where it may be "[" of a list or "sep=;" of CSV. NULL after errors. */
static const Source *look_at_line(TableStream *s)
{
    size_t bytes;
    bool ok = read_records(s, 1, 1, &bytes);
    const char *data = cutter_of(s)->source.data;
    if (ok && bytes && bytes <= sizeof "sep=;\r\n" - 1 && (*data == '[' || *data == 's'))
        ok = read_records(s, 2, SIZE_MAX, &bytes);
    return ok ? copy_source(s, s->job->arena, bytes) : NULL;
}

bool table_looks_headed(const Source *begin, const char *field)
{
    const char *at = source_start(begin), *end = begin->text + begin->length;
    char mark = 0;
    int words = 0;
    for (;; at++, words++) {
        const char *word = at;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
            at++;
        if (at == word || isdigit((unsigned char)*word))
            return false;
        if (at == end || *at == '\n' || *at == '\r')
            return words > 0 ||
                   ((size_t)(at - word) == strlen(field) && !memcmp(word, field, strlen(field)));
        if (!strchr("\t,;", *at) || (mark && *at != mark))
            return false;
        mark = *at;
    }
}

/* Of a file that may be lines of text. False after an error. */
static bool find_lines(TableStream *s)
{
    const Source *begin = look_at_line(s);
    if (!begin)
        return false;
    s->is_lines = !begins_table(s, begin);
    if (s->is_lines && s->options.is_named)
        return job_error(s->job,
                         "--column names a field of a table, and %s is lines of text: no field "
                         "'%s' stands in its first line (CoNLL's columns are read as FILE.conll)",
                         text_name(path_of(s)), s->fields->names[0]);
    if (s->is_lines)
        s->format = TABLE_TSV;
    if (s->is_lines &&
        (*source_start(begin) == '{' || table_looks_headed(begin, s->fields->names[0])))
        diag_remark(&s->job->diags, (Loc){.source = begin, .line = 1, .column = 1},
                    "this line is read as a text, as all others: if it is %s, --column %s=FIELD "
                    "names the field of the texts",
                    *source_start(begin) == '{' ? "a record of JSON" : "a header",
                    s->fields->inputs[0]);
    return true;
}

static bool find_format(TableStream *s)
{
    enum { BEGINNING = 64 };
    Arena *arena = s->job->arena;
    ByteSource *source = &cutter_of(s)->source;
    const char *const *fields = s->fields->names;
    const size_t n = (size_t)s->fields->n;
    s->format = TABLE_TSV;
    if (s->takes_lines)
        return find_lines(s);
    if (source->length && *source->data == *TABLE_FASTTEXT_MARK) /* more than these will come */
        byte_source_look(source, sizeof TABLE_FASTTEXT_MARK - 1);
    const size_t there = source->length < BEGINNING ? source->length : BEGINNING;
    s->format = table_format(path_of(s), copy_source(s, arena, there));
    if (s->format != TABLE_TSV || table_file_is_named(path_of(s)))
        return true;
    const Source *begin = look_at_line(s);
    if (begin && !table_find_format(arena, path_of(s), begin, fields, n, &s->format))
        table_find_format(arena, path_of(s), look_further(s), fields, n, &s->format);
    return begin != NULL;
}

static bool find_head(TableStream *s)
{
    size_t bytes;
    Job *job = s->job;
    ByteSource *source = &cutter_of(s)->source;
    if ((!byte_source_look(source, 1) && !byte_source_check(source, &job->diags, path_of(s))) ||
        !find_format(s))
        return false;
    s->has_head = true;
    if (s->is_lines)
        return true;
    const int64_t records = table_head_records(s->format, source->data, source->length);
    if (!read_records(s, records, records > 1 ? SIZE_MAX : 1, &bytes) ||
        !table_find_head(&job->diags, job->arena, copy_source(s, job->arena, bytes), s->format,
                         s->fields->names, (size_t)s->fields->n, &s->limits, &s->head))
        return false;
    s->head_is_found = true;
    record_pass(cutter_of(s), record_lines_bytes(cutter_of(s), s->head.lines));
    return true;
}

/* The fields of a column, joined. */
static const char *column_name(const TableStream *s, size_t column)
{
    const size_t end = s->head.ends[column];
    Text text = {0};
    for (size_t k = column ? s->head.ends[column - 1] : 0; k < end; k++)
        text_add(&text, "%s%.*s", text.length ? (const char[]){TABLE_AND, 0} : "",
                 (int)s->head.fields[k].length, s->head.fields[k].text);
    return text_keep(s->job->arena, &text);
}

bool table_fields_expand(Job *job, const TextList *paths, int64_t line_limit, TableFields *fields)
{
    bool has_pattern = false;
    for (int i = 0; i < fields->n; i++)
        has_pattern = has_pattern || strchr(fields->names[i], '*');
    if (!has_pattern || !paths->count || !file_is_regular(paths->data[0]) ||
        table_file_is_tensors(paths->data[0]))
        return true;
    const TextList first = {.data = paths->data, .count = 1};
    const TableStreamOptions options = {.line_limit = line_limit};
    TableStream *s = table_stream_open(job, &first, fields, &options);
    const bool ok = s && find_head(s);
    for (int i = 0; ok && i < fields->n; i++)
        fields->names[i] = column_name(s, (size_t)i);
    table_stream_close(s);
    return ok;
}

/* ---- parts ---- */

/* Warns once of labels as fastText has them in lines that are texts. */
static void look_for_labels(TableStream *s, const Lines *lines)
{
    const size_t n = sizeof TABLE_FASTTEXT_MARK - 1;
    for (int64_t i = 0; i < lines->n && !s->has_labels; i++)
        if (lines->at[i].length > n && !memcmp(lines->at[i].text, TABLE_FASTTEXT_MARK, n)) {
            s->has_labels = true;
            diag_warning(&s->job->diags, lines_place(lines, i),
                         "the label is read as a part of the text: the first lines, of a pipe the "
                         "first one, say whether a text has fastText's labels, and have none");
            table_stream_keep(s); /* for the message */
        }
}

/* The first bytes as columns, in the memory of a part; NULL after errors. *left_out: lines that are
 * in no record. */
static Lines **parse_part(TableStream *s, Diagnostics *diags, size_t bytes, int64_t *left_out)
{
    *left_out = 0;
    if (!s->part)
        s->part = arena_new();
    const Source *source = copy_source(s, s->part, bytes);
    if (!s->is_lines) {
        const Table *table = table_parse_part(diags, s->part, source, &s->head, &s->limits);
        *left_out = table ? table->left_out : 0;
        return table ? table->columns : NULL;
    }
    Lines **columns = ARENA_ARRAY(s->part, Lines *, 1);
    *columns = lines_parse(diags, s->part, source, s->limits.line);
    if (*columns)
        look_for_labels(s, *columns);
    return *columns ? columns : NULL;
}

static void tell_fault(const TableStream *s)
{
    Diagnostics *diags = &s->job->diags;
    for (size_t i = 0; i < s->fault.list.count; i++)
        vec_push(diags->arena, diags->list, s->fault.list.data[i]);
    diags->errors += s->fault.errors;
}

/* After the errors of a part: those of its records that are before the first of them. Errors say
 * where their record begins, or a line in it, which is the end of what is tried next. NULL: there
 * are none. */
static Lines **parse_good(TableStream *s, size_t bytes, int64_t *left_out)
{
    Diagnostics found = s->fault;
    Lines **columns = NULL;
    s->has_fault = true;
    while (!columns && found.list.count) {
        const RecordCutter *cutter = cutter_of(s);
        const size_t good =
            record_lines_bytes(cutter, found.list.data[0].loc.line - 1 - cutter->line);
        if (!good || good >= bytes)
            break;
        table_stream_keep(s); /* for the messages */
        bytes = good;
        diag_init(&found, s->job->arena);
        columns = parse_part(s, &found, bytes, left_out);
    }
    return columns;
}

/* Whether the file had records so far, or need have none; else an error says that it has none. */
static bool had_records(TableStream *s)
{
    const Loc file = {.source = copy_source(s, s->job->arena, 0)};
    if (s->records > 0 || s->is_lines)
        return true;
    if (s->options.rewinds)
        diag_error(&s->job->diags, file, "%s", table_without_records(s->format));
    else /* they are answered one by one */
        diag_remark(&s->job->diags, file, "%s", table_without_records(s->format));
    return !s->options.rewinds;
}

/* The next records of a file of text, behind those of the part so far; *n 0: it has ended. */
static bool read_part(TableStream *s, CorpusText *text, int64_t *n)
{
    size_t bytes;
    if ((!s->has_head && !find_head(s)) || !read_records(s, TABLE_PART_RECORDS - s->part_records,
                                                         TABLE_PART_BYTES - s->part_bytes, &bytes))
        return false;
    if (!bytes)
        return had_records(s);
    diag_init(&s->fault, s->job->arena);
    int64_t left_out;
    Lines **columns = parse_part(s, &s->fault, bytes, &left_out);
    if (!columns && !(columns = parse_good(s, bytes, &left_out))) {
        tell_fault(s);
        return false;
    }
    record_pass(cutter_of(s), bytes);
    *text = table_fields_text(s->fields, columns);
    *n = columns[0]->n;
    if (!*n && !had_records(s))
        return false;
    s->records += *n;
    s->left_out += left_out;
    s->part_records += *n;
    s->part_bytes += bytes;
    return true;
}

static bool map_tensors(TableStream *s, CorpusText *text, int64_t *n)
{
    Lines **columns = table_file_tensors(s->job, path_of(s), s->fields);
    if (!columns)
        return false;
    *text = table_fields_text(s->fields, columns);
    *n = columns[0]->n;
    return true;
}

/* Behind the last record of a file. False after an error. */
static bool end_file(TableStream *s)
{
    const bool is_text = cutter_of(s)->source.fd >= 0 && !s->is_lines;
    if (s->told <= s->file) {
        s->told = s->file + 1;
        if (!table_end(&s->job->diags, copy_source(s, s->job->arena, 0), s->format, s->left_out,
                       !is_text || cutter_of(s)->closed))
            return false;
    }
    record_cutter_end(cutter_of(s));
    begin_file(s, s->file + 1);
    return true;
}

/* The next records of a file; *n 0: there are none. */
static bool next_of_file(TableStream *s, CorpusText *text, int64_t *n)
{
    *n = 0;
    while (!*n && s->file < s->paths->count) {
        const bool is_text = cutter_of(s)->source.fd >= 0;
        if (!(is_text ? read_part : map_tensors)(s, text, n))
            return false;
        if ((!*n || !is_text) && !end_file(s))
            return false;
    }
    return true;
}

/* ---- several parts as one text ---- */

typedef VEC(CorpusText) StreamedTexts;

static CorpusText join_texts(Arena *arena, const StreamedTexts *parts)
{
    CorpusText all = {0};
    Lines **lines = ARENA_ARRAY(arena, Lines *, parts->count);
    for (int k = 0; k < MOST_VALUES; k++) {
        for (size_t i = 0; i < parts->count; i++)
            lines[i] = (Lines *)parts->data[i].values[k];
        all.values[k] = lines[0] ? lines_join(arena, lines, (int)parts->count) : NULL;
    }
    return all;
}

static bool part_is_full(const TableStream *s)
{
    return s->part_records >= TABLE_PART_RECORDS || s->part_bytes >= TABLE_PART_BYTES;
}

bool table_stream_next(TableStream *s, CorpusText *text, int64_t *n)
{
    StreamedTexts texts = {0};
    int64_t more = 0;
    arena_free(s->part);
    s->part = NULL;
    s->part_records = 0;
    s->part_bytes = 0;
    *n = 0;
    if (s->has_fault) {
        tell_fault(s);
        return false;
    }
    if (!next_of_file(s, text, n))
        return false;
    if (!*n || !s->options.rewinds || !s->part)
        return true;
    vec_push(s->part, texts, *text);
    while (!part_is_full(s) && !s->has_fault) {
        if (!next_of_file(s, text, &more))
            return false;
        if (!more)
            break;
        vec_push(s->part, texts, *text);
        *n += more;
    }
    *text = join_texts(s->part, &texts);
    return true;
}

/* Lines of a text without records. */
static CorpusText empty_text(const TableStream *s)
{
    Arena *arena = s->job->arena;
    Lines **columns = ARENA_ARRAY(arena, Lines *, MOST_COLUMNS + 2);
    Lines *none = ARENA_NEW(arena, Lines);
    none->source = diag_source(arena, s->paths->count ? text_name(s->paths->data[0]) : "", "", 0);
    for (int i = 0; i < s->fields->n; i++)
        columns[i] = none;
    return table_fields_text(s->fields, columns);
}

bool table_stream_rest(TableStream *s, int64_t most, CorpusText *text, int64_t *n)
{
    Arena *arena = s->job->arena;
    StreamedTexts parts = {0};
    CorpusText part;
    int64_t records = 0;
    *n = 0;
    do {
        if (!table_stream_next(s, &part, &records))
            return false;
        table_stream_keep(s);
        if (records)
            vec_push(arena, parts, part);
        *n += records;
    } while (records && (!most || *n < most));
    if (!parts.count)
        vec_push(arena, parts, empty_text(s));
    *text = join_texts(arena, &parts);
    *n = most && *n > most ? most : *n;
    return true;
}
