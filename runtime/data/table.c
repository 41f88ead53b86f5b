/* Tables: from files to records, and which fields of them are columns. */
#include "runtime/data/table_reader.h"

#include "base/map.h"

#include <stdlib.h>
#include <stdarg.h>
#include <string.h>

enum { TABLE_TOLD = 5 }; /* bad records that are reported */

static TableNext *const readers[] = {
    [TABLE_TSV] = table_next_tsv,           [TABLE_CSV] = table_next_csv,
    [TABLE_JSON] = table_next_json,         [TABLE_LIST] = table_next_list,
    [TABLE_CONLL] = table_next_conll,       [TABLE_CONLLU] = table_next_conll,
    [TABLE_FASTTEXT] = table_next_fasttext,
};

RecordRule table_record_rule(TableFormat format, int64_t line_limit, size_t more)
{
    const size_t line = (size_t)record_limit_of(line_limit);
    return (RecordRule){.ends = format == TABLE_CSV      ? RECORD_QUOTED
                                : format == TABLE_LIST   ? RECORD_OBJECTS
                                : table_is_conll(format) ? RECORD_BLOCKS
                                                         : RECORD_LINES,
                        .longest = 2 * line + more,
                        .quoted = line,
                        .passed = table_conll_passed};
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

/* What to do where the first record is one field because fields are between other marks; NULL:
 * it is not. */
static const char *other_marks(TableFormat format, const Line *cell)
{
    static const struct {
        TableFormat format;
        char mark;
        const char *advice;
    } rows[] = {
        {TABLE_CSV, '\t', "there are tabs and no commas: name the file .tsv"},
        {TABLE_TSV, ',', "there are commas and no tabs: if it is CSV, name the file .csv"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format == format && memchr(cell->text, rows[i].mark, cell->length))
            return rows[i].advice;
    return NULL;
}

/* Whether the text is as CoNLL's columns: its first line and the next have as many words, at least
 * two, and an empty line is among the first. */
static bool looks_like_conll(const TableReader *r)
{
    enum { MOST = 200 };
    size_t words[2] = {0};
    bool has_empty = false;
    for (int64_t i = 0; i < r->lines->n && i < MOST; i++) {
        const Line *line = &r->lines->at[i];
        has_empty = has_empty || !line->length;
        for (size_t b = 0; i < 2 && b < line->length; b++)
            words[i] += line->text[b] != ' ' && (!b || line->text[b - 1] == ' ');
    }
    return has_empty && words[0] > 1 && (words[1] == words[0] || !words[1]);
}

/* ---- fields ---- */

const char *table_other_field(const TableReader *r, size_t k)
{
    size_t column = 0;
    while (column < r->head->n_columns && r->head->ends[column] <= k)
        column++;
    if (column < r->head->n_columns &&
        r->head->ends[column] > (column ? r->head->ends[column - 1] : 0) + 1)
        return "; the input takes several fields by these names: rename it in the header";
    return r->head->inputs && column < r->head->n_columns && r->head->inputs[column]
               ? arena_printf(r->scratch, "; --column %s=FIELD reads another for the input `%s`",
                              r->head->inputs[column], r->head->inputs[column])
               : "";
}

/* The field k is not among the n of the first record. */
static const char *field_is_missing(const TableReader *r, const Line *cells, size_t n, size_t k)
{
    const char *name = r->head->fields[k].text;
    const char *advice = n == 1 ? other_marks(r->head->format, &cells[0]) : NULL;
    if (n == 1 && !advice && r->head->format == TABLE_TSV && looks_like_conll(r))
        advice = "it looks like CoNLL's columns: name the file .conll";
    if (advice)
        advice = arena_printf(r->scratch, "; %s", advice);
    if (r->head->is_numbered)
        return arena_printf(r->scratch, "the field %s is wanted, and the first record has %zu%s",
                            name, n, advice ? advice : table_other_field(r, k));
    const char **names = ARENA_ARRAY(r->scratch, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = arena_strndup(r->scratch, cells[i].text, cells[i].length);
    const char *known = advice ? "" : text_known(r->scratch, "'", name, names, n);
    const char *other = advice ? advice : table_other_field(r, k);
    return arena_printf(r->scratch, "the header has no field '%s'%s%s", name, known,
                        text_ends(known, "?") && *other ? other + 1 : other);
}

/* The field's index among the n of the first record; false after an error. */
static bool find_number(TableReader *r, const Line *cells, size_t n, size_t k, size_t *index)
{
    const unsigned long long number = strtoull(r->head->fields[k].text, NULL, 10);
    *index = (size_t)number - 1;
    return number == 0 ? first_fault(r, "there is no field 0: the first is 1")
                       : number <= n || first_fault(r, field_is_missing(r, cells, n, k));
}

/* HeaderNames: the fields of a header by their names: number + 1 of the first and of the second
 * that is called so. */
typedef struct HeaderNames {
    Map first, second;
} HeaderNames;

static HeaderNames header_names(Arena *arena, const Line *cells, size_t n)
{
    HeaderNames names;
    map_init(&names.first, arena);
    map_init(&names.second, arena);
    for (size_t i = 0; i < n; i++) {
        const char *name = arena_strndup(arena, cells[i].text, cells[i].length);
        Map *map = map_has(&names.first, name) ? &names.second : &names.first;
        if (!map_has(map, name))
            map_set(map, name, (void *)(i + 1));
    }
    return names;
}

static bool find_name(TableReader *r, const HeaderNames *names, const Line *cells, size_t n,
                      size_t k, size_t *index)
{
    const Line *name = &r->head->fields[k];
    const size_t first = (size_t)map_get(&names->first, name->text),
                 second = (size_t)map_get(&names->second, name->text);
    *index = first ? first - 1 : 0;
    if (second)
        return first_fault(r, arena_printf(r->scratch,
                                           "the header has the field '%s' twice, as %zu and %zu",
                                           name->text, first, second));
    return first || first_fault(r, field_is_missing(r, cells, n, k));
}

/* ---- marks of CSV ---- */

static const char separator[] = "sep=";

/* The mark that the first line gives; 0: none. */
static char given_mark(const char *line, size_t length)
{
    const size_t n = sizeof separator - 1;
    return length == n + 1 && !memcmp(line, separator, n) && strchr(",;\t|", line[n]) ? line[n] : 0;
}

int64_t table_head_records(TableFormat format, const char *text, size_t length)
{
    const Source source = {.text = text, .length = length};
    const char *start = source_start(&source);
    size_t line;
    if (format != TABLE_CSV || start == text + length)
        return 1;
    record_line(start, text + length, &line);
    return given_mark(start, line) ? 2 : 1;
}

/* How many fields the first record has by a mark. *fits: those that are wanted are among them. */
static int64_t fields_by(const TableReader *r, const TableHead *head, char mark, bool *fits)
{
    TableHead other = *head;
    TableReader first = *r;
    Diagnostics unseen;
    diag_init(&unseen, r->scratch);
    other.mark = mark;
    first.diags = &unseen;
    first.head = &other;
    const int64_t n = table_next_csv(&first, NULL, 0);
    Line *cells = ARENA_ARRAY(r->scratch, Line, n > 0 ? n : 1);
    first.line = r->line;
    if (n > 0)
        table_next_csv(&first, cells, (size_t)n);
    *fits = n > 0;
    for (size_t k = 0; k < head->n_fields && *fits; k++) {
        const Line *field = &head->fields[k];
        bool found = head->is_numbered && strtoull(field->text, NULL, 10) <= (unsigned long long)n;
        for (int64_t i = 0; i < n && !head->is_numbered; i++)
            found = found || table_field_fits(field, &cells[i]);
        *fits = found;
    }
    return n;
}

/* Sets the mark, and where the first record begins. */
static void find_mark(TableReader *r, TableHead *head)
{
    bool fits, others_fit;
    head->mark =
        head->format == TABLE_CSV ? given_mark(r->lines->at[0].text, r->lines->at[0].length) : 0;
    head->begin = r->line = head->mark && r->lines->n > 1;
    if (head->format != TABLE_CSV || head->mark)
        return;
    head->mark = ',';
    const int64_t n = fields_by(r, head, ',', &fits), others = fields_by(r, head, ';', &others_fit);
    if (head->n_fields && (fits || others_fit) ? !fits : n == 1 && others > 1)
        head->mark = ';';
}

/* ---- the head ---- */

/* Finds the fields in the first record, and how many lines of a header it has. False after
 * errors. */
static bool find_fields(TableReader *r, TableHead *head)
{
    TableNext *next = readers[head->format];
    int64_t n;
    do
        n = next(r, NULL, 0);
    while (!n && r->line < r->lines->n);
    if (n == TABLE_BAD)
        return false;
    if (!n)
        return first_fault(r, "no line of it is a word with its fields");
    Line *cells = ARENA_ARRAY(r->scratch, Line, n);
    bool ok = true;
    r->line = head->begin;
    if (!table_is_conll(head->format)) /* whose fields have no names */
        next(r, cells, (size_t)n);
    ok = head->is_numbered || table_expand(r, head, cells, (size_t)n);
    const HeaderNames names = header_names(r->scratch, cells, head->is_numbered ? 0 : (size_t)n);
    for (size_t k = 0; k < head->n_fields && head->fields; k++) {
        ok = (head->is_numbered ? find_number(r, cells, (size_t)n, k, &head->index[k])
                                : find_name(r, &names, cells, (size_t)n, k, &head->index[k])) &&
             ok;
    }
    head->lines = head->is_numbered ? head->begin : r->line;
    head->width = (size_t)n;
    return ok;
}

/* TSV without a header has at least the fields that are wanted. */
static void need_least(TableHead *head)
{
    head->at_least = true;
    head->width = 0;
    for (size_t k = 0; k < head->n_fields; k++)
        if (head->index[k] >= head->width)
            head->width = head->index[k] + 1;
}

static bool find_head(TableReader *r, TableHead *head)
{
    if (!r->lines->n) {
        diag_error(r->diags, (Loc){.source = r->lines->source}, "the table is empty");
        return false;
    }
    if (table_is_json(head->format)) {
        for (size_t k = 0; k < head->n_fields; k++)
            if (memchr(head->fields[k].text, '*', head->fields[k].length)) {
                diag_error(r->diags, (Loc){.source = r->lines->source},
                           "'%s' is for the header of TSV or CSV: name the keys of JSON one by one",
                           head->fields[k].text);
                return false;
            }
        for (size_t k = 0; k < head->n_fields; k++)
            head->index[k] = k;
        head->width = head->n_fields;
        return true;
    }
    if (table_is_conll(head->format) && !head->is_numbered) {
        for (size_t k = 0; k < head->n_columns; k++)
            diag_error(
                r->diags, (Loc){.source = r->lines->source},
                "CoNLL's columns have no names, such as '%s': --column %s=NUMBER takes one by "
                "its number",
                head->fields[k ? head->ends[k - 1] : 0].text,
                head->inputs ? head->inputs[k] : "INPUT");
        return false;
    }
    if (head->format == TABLE_FASTTEXT)
        return table_find_fasttext(r, head);
    find_mark(r, head);
    if (!find_fields(r, head))
        return false;
    if (head->format != TABLE_CSV && head->is_numbered)
        need_least(head);
    bool *wanted = ARENA_ARRAY(r->arena, bool, head->width);
    for (size_t k = 0; k < head->n_fields; k++)
        wanted[head->index[k]] = true;
    head->is_wanted = wanted;
    return true;
}

bool table_passes_empty(const TableHead *head)
{
    return head->format == TABLE_JSON ||
           (head->format != TABLE_LIST && !table_is_conll(head->format) && head->width > 1);
}

/* ---- records ---- */

static void tell_width(TableReader *r, int64_t line, int64_t n)
{
    table_fault(r, line, r->lines->at[line].text, "the record has %lld field%s, and %s %zu",
                (long long)n, text_plural(n, "", "s"),
                r->head->at_least      ? "there must be at least"
                : r->head->is_numbered ? "the first has"
                                       : "the header has",
                r->head->width);
}

/* Most records: one from each line, or from each brace that opens an object. */
static int64_t count_room(const TableReader *r)
{
    const char *at = r->lines->source->text, *end = at + r->lines->source->length;
    int64_t n = 1;
    if (r->head->format != TABLE_LIST)
        return r->lines->n + 1;
    while ((at = memchr(at, '{', (size_t)(end - at)))) {
        at++;
        n++;
    }
    return n;
}

/* Columns of no records yet. */
static Table *make_table(TableReader *r, const int64_t *line)
{
    Table *table = ARENA_NEW(r->arena, Table);
    const int64_t room = count_room(r);
    table->columns = ARENA_ARRAY(r->arena, Lines *, r->head->n_columns + 1);
    for (size_t k = 0; k < r->head->n_columns; k++) {
        Lines *column = ARENA_NEW(r->arena, Lines);
        *column = (Lines){.source = r->lines->source,
                          .at = ARENA_ARRAY(r->arena, Line, room),
                          .line = line,
                          .in_lines = table_is_conll(r->head->format)};
        table->columns[k] = column;
    }
    return table;
}

/* Passes an empty line that is no record; *line gets its number. */
static bool pass_empty(TableReader *r, int64_t *line)
{
    if (!table_passes_empty(r->head) || r->lines->at[r->line].length)
        return false;
    *line = r->line++;
    return true;
}

static Table *read_records(TableReader *r)
{
    const TableHead *head = r->head;
    const bool is_conll = table_is_conll(head->format);
    const bool is_list = head->format == TABLE_LIST,
               is_line_each = head->format != TABLE_CSV && !is_list && !is_conll && r->line == 0;
    int64_t *line = is_line_each ? NULL : ARENA_ARRAY(r->arena, int64_t, count_room(r));
    Table *table = make_table(r, line);
    Line *cells = ARENA_ARRAY(r->scratch, Line, head->width + 1);
    int64_t empty = -1; /* at the end of the file it is passed */
    r->left_out = 0;
    if (is_conll)
        table_skip_conll(r);
    if (is_list)
        table_begin_list(r);
    while (r->line < r->lines->n) {
        const int64_t begin = r->line;
        if (pass_empty(r, &empty))
            continue;
        if (empty >= 0)
            table_fault(r, empty, r->lines->at[empty].text,
                        "an empty line between records: take it out");
        empty = -1;
        const int64_t n = readers[head->format](r, cells, head->width);
        if (n == TABLE_BAD || (is_conll && !n))
            continue;
        if (head->at_least ? n < (int64_t)head->width : n != (int64_t)head->width) {
            tell_width(r, begin, n);
            continue;
        }
        if (!table_groups_are_even(r, begin, cells))
            continue;
        for (size_t k = 0; k < head->n_columns; k++)
            table->columns[k]->at[table->n] = table_column_cell(r, k, cells);
        if (line)
            line[table->n] = begin;
        table->n++;
    }
    for (size_t k = 0; k < head->n_columns; k++)
        table->columns[k]->n = table->n;
    table->left_out = r->left_out;
    return table;
}

/* The table, if it has records, all of them good. */
static Table *judge(const TableReader *r, Table *table, bool is_part)
{
    const Loc file = {.source = r->lines->source};
    if (r->bad > TABLE_TOLD)
        diag_note(r->diags, file, "these are the first %d of %s%lld bad records", TABLE_TOLD,
                  is_part ? "at least " : "", (long long)r->bad);
    if (!r->bad && !table->n && !is_part) /* a part may be the empty end of a file */
        diag_error(r->diags, file, "%s", table_without_records(r->head->format));
    return r->bad || (!table->n && !is_part) ? NULL : table;
}

/* Reads the lines; false after errors. */
static bool open_reader(TableReader *r, Diagnostics *diags, Arena *arena, const Source *source,
                        const TableHead *head, const LineLimits *limits)
{
    *r = (TableReader){.diags = diags,
                       .arena = arena,
                       .scratch = arena_new(),
                       .head = head,
                       .line_limit = record_limit_of(limits ? limits->line : 0)};
    const bool is_list = head->format == TABLE_LIST; /* which may be one line */
    r->lines = lines_parse(diags, r->scratch, source, is_list ? INT64_MAX : r->line_limit);
    return r->lines != NULL;
}

bool table_find_head(Diagnostics *diags, Arena *arena, const Source *beginning, TableFormat format,
                     const char *const *fields, size_t n_fields, const LineLimits *limits,
                     TableHead *head)
{
    TableReader r;
    *head = (TableHead){.format = format, .inputs = limits ? limits->inputs : NULL};
    table_name_fields(arena, fields, n_fields, limits ? limits->takes : NULL, head);
    const bool ok = open_reader(&r, diags, arena, beginning, head, limits) && find_head(&r, head);
    arena_free(r.scratch);
    return ok;
}

Table *table_parse_part(Diagnostics *diags, Arena *arena, const Source *part, const TableHead *head,
                        const LineLimits *limits)
{
    TableReader r;
    const bool ok = open_reader(&r, diags, arena, part, head, limits);
    Table *table = ok ? judge(&r, read_records(&r), true) : NULL;
    arena_free(r.scratch);
    return table;
}

Table *table_parse(Diagnostics *diags, Arena *arena, const Source *source, TableFormat format,
                   const char *const *fields, size_t n_fields, const LineLimits *limits)
{
    TableReader r;
    TableHead head = {.format = format, .inputs = limits ? limits->inputs : NULL};
    Table *table = NULL;
    table_name_fields(arena, fields, n_fields, limits ? limits->takes : NULL, &head);
    if (open_reader(&r, diags, arena, source, &head, limits) && find_head(&r, &head)) {
        r.line = head.lines;
        table = judge(&r, read_records(&r), false);
        if (table && !table_end(diags, source, format, table->left_out, r.ends))
            table = NULL;
    }
    arena_free(r.scratch);
    return table;
}

bool table_end(Diagnostics *diags, const Source *file, TableFormat format, int64_t left_out,
               bool closed)
{
    const Loc loc = {.source = file};
    if (left_out)
        diag_remark(diags, loc, "%lld line%s left out: %s", (long long)left_out,
                    text_plural(left_out, " is", "s are"),
                    format == TABLE_CONLLU ? "comments, and tokens that stand for several words or "
                                             "for none (1-2, 1.1)"
                                           : "-DOCSTART- and comments");
    if (format == TABLE_LIST && !closed)
        diag_error(diags, loc, "nothing closes the list: the file has no ']' at its end");
    return format != TABLE_LIST || closed;
}

int64_t table_width(Diagnostics *diags, Arena *arena, const Source *source, TableFormat format)
{
    TableReader r;
    TableHead head = {.format = format};
    int64_t n = -1;
    if (open_reader(&r, diags, arena, source, &head, NULL) && r.lines->n) {
        find_mark(&r, &head);
        do
            n = readers[format](&r, NULL, 0);
        while (!n && r.line < r.lines->n);
    }
    arena_free(r.scratch);
    return n;
}

/* ---- files ---- */

Table *table_read(Diagnostics *diags, Arena *arena, const char *path, const char *const *fields,
                  size_t n_fields, const LineLimits *limits)
{
    LineLimits own = limits ? *limits : (LineLimits){0};
    own.line = record_limit_of(own.line);
    const Source *source = text_read(diags, arena, path, &own);
    TableFormat format;
    if (!source)
        return NULL;
    table_find_format(arena, path, source, fields, n_fields, &format);
    return table_parse(diags, arena, source, format, fields, n_fields, limits);
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
