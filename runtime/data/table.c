/* Tables: from files to records, and which fields of them are columns. */
#include "runtime/data/table_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TABLE_TOLD = 5 }; /* bad records that are reported */

/* Formats by their files' endings. */
static const struct {
    const char *ending;
    TableFormat format;
} endings[] = {
    {".tsv", TABLE_TSV}, {".csv", TABLE_CSV}, {".jsonl", TABLE_JSON}, {".ndjson", TABLE_JSON}};

static TableNext *const readers[] = {
    [TABLE_TSV] = table_next_tsv, [TABLE_CSV] = table_next_csv, [TABLE_JSON] = table_next_json};

/* Whether the first n bytes of a path end so, in letters of either case. */
static bool ends_with(const char *path, size_t n, const char *ending)
{
    const size_t length = strlen(ending);
    return n >= length && !strncasecmp(path + n - length, ending, length);
}

bool table_is_named(const char *path, TableFormat *format)
{
    static const char *const packed[] = {".gz", ".xz", ".zst"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_with(path, n, packed[i])) {
            n -= strlen(packed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, n, endings[i].ending)) {
            *format = endings[i].format;
            return true;
        }
    return false;
}

TableFormat table_format(const char *path, const Source *source)
{
    TableFormat format;
    if (table_is_named(path, &format))
        return format;
    const char *at = source_start(source), *end = source->text + source->length;
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at < end && *at == '{' ? TABLE_JSON : TABLE_TSV;
}

/* ---- messages ---- */

static Loc place_of(const TableReader *r, int64_t line, const char *at)
{
    Loc loc = lines_place(r->lines, line);
    loc.column = (int)(at - r->lines->at[line].text) + 1;
    return loc;
}

int64_t table_fault(TableReader *r, int64_t line, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (++r->bad <= TABLE_TOLD)
        diag_error(r->diags, place_of(r, line, at), "%s", arena_vprintf(r->scratch, format, args));
    va_end(args);
    return TABLE_BAD;
}

/* An error at the first record. */
static bool first_fault(TableReader *r, const char *message)
{
    diag_error(r->diags, lines_place(r->lines, 0), "%s", message);
    return false;
}

bool table_is_name(const Line *name, const char *text, size_t length)
{
    return name->length == length && !memcmp(name->text, text, length);
}

/* What to do where the first record is one field because fields are between other marks; NULL:
 * it is not. */
static const char *other_marks(TableFormat format, const Line *cell)
{
    static const struct {
        TableFormat format;
        char mark;
        const char *advice;
    } rows[] = {
        {TABLE_CSV, ';',
         "there are semicolons and no commas: CSV is read with commas; write the table with them, "
         "or with tabs as FILE.tsv"},
        {TABLE_CSV, '\t', "there are tabs and no commas: name the file .tsv"},
        {TABLE_TSV, ',', "there are commas and no tabs: if it is CSV, name the file .csv"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format == format && memchr(cell->text, rows[i].mark, cell->length))
            return rows[i].advice;
    return NULL;
}

/* ---- fields ---- */

/* TableShape: what a record has.
 *   width      fields of each record; if `at_least`, or more
 *   index      for each wanted field, which of them it is, from 0 */
typedef struct TableShape {
    TableFormat format;
    size_t width;
    bool at_least;
    size_t *index;
} TableShape;

static bool is_number(const char *name) { return *name && name[strspn(name, "0123456789")] == 0; }

static const char *field_is_missing(const TableReader *r, const TableShape *s, const Line *cells,
                                    size_t n, const char *name)
{
    const char *advice = n == 1 ? other_marks(s->format, &cells[0]) : NULL;
    if (r->is_numbered)
        return arena_printf(r->scratch, "the field %s is wanted, and the first record has %zu%s%s",
                            name, n, advice ? "; " : "", advice ? advice : "");
    const char **names = ARENA_ARRAY(r->scratch, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = arena_strndup(r->scratch, cells[i].text, cells[i].length);
    return arena_printf(r->scratch, "the header has no field '%s'%s%s", name, advice ? "; " : "",
                        advice ? advice : text_known(r->scratch, "'", name, names, n));
}

/* The field's index among the n of the first record; false after an error. */
static bool find_number(TableReader *r, const TableShape *s, const Line *cells, size_t n,
                        const char *name, size_t *index)
{
    const unsigned long long number = strtoull(name, NULL, 10);
    *index = (size_t)number - 1;
    return number == 0 ? first_fault(r, "there is no field 0: the first is 1")
                       : number <= n || first_fault(r, field_is_missing(r, s, cells, n, name));
}

static bool find_name(TableReader *r, const TableShape *s, const Line *cells, size_t n,
                      const Line *name, size_t *index)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (table_is_name(name, cells[i].text, cells[i].length)) {
            if (found++)
                return first_fault(
                    r,
                    arena_printf(r->scratch, "the header has the field '%s' twice, as %zu and %zu",
                                 name->text, *index + 1, i + 1));
            *index = i;
        }
    return found || first_fault(r, field_is_missing(r, s, cells, n, name->text));
}

/* Finds the fields in the first record, and goes behind it if it is a header. False after
 * errors. */
static bool find_fields(TableReader *r, TableShape *s)
{
    TableNext *next = readers[s->format];
    const int64_t n = next(r, NULL, 0);
    if (n == TABLE_BAD)
        return false;
    Line *cells = ARENA_ARRAY(r->scratch, Line, n);
    bool ok = true;
    r->line = 0;
    next(r, cells, (size_t)n);
    for (size_t k = 0; k < r->n_fields; k++) {
        const Line *name = &r->fields[k];
        ok = (r->is_numbered ? find_number(r, s, cells, (size_t)n, name->text, &s->index[k])
                             : find_name(r, s, cells, (size_t)n, name, &s->index[k])) &&
             ok;
    }
    if (r->is_numbered)
        r->line = 0;
    s->width = (size_t)n;
    return ok;
}

/* TSV without a header has at least the fields that are wanted. */
static void need_least(const TableReader *r, TableShape *s)
{
    s->at_least = true;
    s->width = 0;
    for (size_t k = 0; k < r->n_fields; k++)
        if (s->index[k] >= s->width)
            s->width = s->index[k] + 1;
}

static bool find_shape(TableReader *r, TableShape *s)
{
    s->index = ARENA_ARRAY(r->scratch, size_t, r->n_fields + 1);
    if (s->format == TABLE_JSON) {
        for (size_t k = 0; k < r->n_fields; k++)
            s->index[k] = k;
        s->width = r->n_fields;
        return true;
    }
    if (!find_fields(r, s))
        return false;
    if (s->format == TABLE_TSV && r->is_numbered)
        need_least(r, s);
    bool *wanted = ARENA_ARRAY(r->scratch, bool, s->width);
    for (size_t k = 0; k < r->n_fields; k++)
        wanted[s->index[k]] = true;
    r->is_wanted = wanted;
    return true;
}

/* ---- records ---- */

static void tell_width(TableReader *r, const TableShape *s, int64_t line, int64_t n)
{
    table_fault(r, line, r->lines->at[line].text, "the record has %lld field%s, and %s %zu",
                (long long)n, text_plural(n, "", "s"),
                s->at_least      ? "there must be at least"
                : r->is_numbered ? "the first has"
                                 : "the header has",
                s->width);
}

/* Columns of no records yet, with room for one from each line. */
static Table *make_table(TableReader *r, int64_t *line)
{
    Table *table = ARENA_NEW(r->arena, Table);
    const int64_t room = r->lines->n + 1;
    table->columns = ARENA_ARRAY(r->arena, Lines *, r->n_fields + 1);
    for (size_t k = 0; k < r->n_fields; k++) {
        Lines *column = ARENA_NEW(r->arena, Lines);
        *column = (Lines){
            .source = r->lines->source, .at = ARENA_ARRAY(r->arena, Line, room), .line = line};
        table->columns[k] = column;
    }
    return table;
}

static Table *read_records(TableReader *r, const TableShape *s)
{
    const bool is_line_each = s->format != TABLE_CSV && r->line == 0;
    int64_t *line = is_line_each ? NULL : ARENA_ARRAY(r->arena, int64_t, r->lines->n + 1);
    Table *table = make_table(r, line);
    Line *cells = ARENA_ARRAY(r->scratch, Line, s->width + 1);
    while (r->line < r->lines->n) {
        const int64_t begin = r->line;
        const int64_t n = readers[s->format](r, cells, s->width);
        if (n == TABLE_BAD)
            continue;
        if (s->at_least ? n < (int64_t)s->width : n != (int64_t)s->width) {
            tell_width(r, s, begin, n);
            continue;
        }
        for (size_t k = 0; k < r->n_fields; k++)
            table->columns[k]->at[table->n] = cells[s->index[k]];
        if (line)
            line[table->n] = begin;
        table->n++;
    }
    for (size_t k = 0; k < r->n_fields; k++)
        table->columns[k]->n = table->n;
    return table;
}

/* The table, if it has records, all of them good. */
static Table *judge(const TableReader *r, Table *table)
{
    const Loc file = {.source = r->lines->source};
    if (r->bad > TABLE_TOLD)
        diag_note(r->diags, file, "these are the first %d of %lld bad records", TABLE_TOLD,
                  (long long)r->bad);
    if (!r->bad && !table->n)
        diag_error(r->diags, file, "the table has a header and no records");
    return r->bad || !table->n ? NULL : table;
}

static void name_fields(TableReader *r, const char *const *fields, TableFormat format)
{
    Line *names = ARENA_ARRAY(r->scratch, Line, r->n_fields + 1);
    r->is_numbered = format != TABLE_JSON;
    for (size_t k = 0; k < r->n_fields; k++) {
        names[k] = (Line){fields[k], strlen(fields[k])};
        r->is_numbered = r->is_numbered && is_number(fields[k]);
    }
    r->fields = names;
}

static Table *parse_lines(TableReader *r, TableFormat format, const char *const *fields)
{
    TableShape shape = {.format = format};
    if (!r->lines->n) {
        diag_error(r->diags, (Loc){.source = r->lines->source}, "the table is empty");
        return NULL;
    }
    name_fields(r, fields, format);
    return find_shape(r, &shape) ? judge(r, read_records(r, &shape)) : NULL;
}

Table *table_parse(Diagnostics *diags, Arena *arena, const Source *source, TableFormat format,
                   const char *const *fields, size_t n_fields, const LineLimits *limits)
{
    TableReader r = {.diags = diags,
                     .arena = arena,
                     .scratch = arena_new(),
                     .n_fields = n_fields,
                     .line_limit = limits && limits->line ? limits->line : LINE_LIMIT};
    r.lines = lines_parse(diags, r.scratch, source, r.line_limit);
    Table *table = r.lines ? parse_lines(&r, format, fields) : NULL;
    arena_free(r.scratch);
    return table;
}

/* ---- files ---- */

Table *table_read(Diagnostics *diags, Arena *arena, const char *path, const char *const *fields,
                  size_t n_fields, const LineLimits *limits)
{
    const Source *source = text_read(diags, arena, path, limits);
    return source ? table_parse(diags, arena, source, table_format(path, source), fields, n_fields,
                                limits)
                  : NULL;
}

Table *table_read_all(Diagnostics *diags, Arena *arena, const char *const *paths, size_t n_paths,
                      const char *const *fields, size_t n_fields, const LineLimits *limits)
{
    Table *all = ARENA_NEW(arena, Table);
    Table **tables = ARENA_ARRAY(arena, Table *, n_paths + 1);
    Lines **parts = ARENA_ARRAY(arena, Lines *, n_paths + 1);
    bool ok = text_paths_check(diags, paths, n_paths);
    for (size_t i = 0; ok && i < n_paths; i++) {
        tables[i] = table_read(diags, arena, paths[i], fields, n_fields, limits);
        ok = tables[i] != NULL;
        all->n += ok ? tables[i]->n : 0;
    }
    if (!ok)
        return NULL;
    all->columns = ARENA_ARRAY(arena, Lines *, n_fields + 1);
    for (size_t k = 0; k < n_fields; k++) {
        for (size_t i = 0; i < n_paths; i++)
            parts[i] = tables[i]->columns[k];
        all->columns[k] = lines_join(arena, parts, (int)n_paths);
    }
    return all;
}
