/* A project's data that is a table: which of its fields are read, and they as lines of pairs. */
#include "driver/project/project.h"
#include "runtime/data/table.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_TOLD = 5 }; /* rows with an error that are reported */

/* ---- fields ---- */

/* The field of "NAME=FIELD" for that name; NULL: it is not given. */
static const char *field_given(const TextList *given, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < given->count; i++)
        if (!strncmp(given->data[i], name, length) && given->data[i][length] == '=')
            return given->data[i] + length + 1;
    return NULL;
}

static bool check_given_fields(Job *job, const ProjectKindInfo *kind, const TextList *given)
{
    for (size_t i = 0; i < given->count; i++) {
        const char *text = given->data[i], *equals = strchr(text, '=');
        bool known = false;
        for (int k = 0; equals && k < 2; k++)
            known = known || (!strncmp(text, kind->fields[k], (size_t)(equals - text)) &&
                              !kind->fields[k][equals - text]);
        if (!known || !equals[1])
            return job_error(job, "--column %s: expected %s=FIELD or %s=FIELD", text,
                             kind->fields[0], kind->fields[1]);
        for (size_t k = 0; k < i; k++)
            if (!strncmp(given->data[k], text, (size_t)(equals - text) + 1))
                return job_error(job, "--column %s: --column %s gives this field already", text,
                                 given->data[k]);
    }
    return true;
}

/* Whether a field of the first line, which may be in quotes, has that name. */
static bool header_has(const Line *line, TableFormat format, const char *name)
{
    const char mark = format == TABLE_CSV ? ',' : '\t';
    const char *at = line->text, *end = at + line->length;
    const size_t length = strlen(name);
    while (at <= end) {
        const char *next = memchr(at, mark, (size_t)(end - at));
        size_t n = (size_t)((next ? next : end) - at);
        if (format == TABLE_CSV && n >= 2 && at[0] == '"' && at[n - 1] == '"')
            at++, n -= 2;
        if (n == length && !memcmp(at, name, n))
            return true;
        if (!next)
            break;
        at = next + 1;
    }
    return false;
}

/* Whether a field is given by its name. */
static bool name_is_given(const ProjectKindInfo *kind, const TextList *given)
{
    for (int k = 0; k < 2; k++) {
        const char *field = field_given(given, kind->fields[k]);
        if (field && field[strspn(field, "0123456789")])
            return true;
    }
    return false;
}

/* Whether fields have names: keys of JSON, or a header with at least one that the kind has. */
static bool is_named(const Source *source, TableFormat format, const ProjectKindInfo *kind)
{
    const char *start = source->text, *end = start + source->length;
    if (table_is_conll(format))
        return false;
    if (source->length >= 3 && !memcmp(start, "\xEF\xBB\xBF", 3))
        start += 3;
    const char *feed = memchr(start, '\n', (size_t)(end - start));
    Line first = {start, (size_t)((feed ? feed : end) - start)};
    if (first.length && start[first.length - 1] == '\r')
        first.length--;
    return format == TABLE_JSON || header_has(&first, format, kind->fields[0]) ||
           header_has(&first, format, kind->fields[1]);
}

/* The fields of those that have numbers: the first two; of CoNLL's columns the first and the last;
 * of CoNLL-U, which begins with a number, FORM and UPOS. */
static void number_fields(Job *job, const Source *source, TableFormat format,
                          const char *numbers[2])
{
    numbers[0] = format == TABLE_CONLLU ? "2" : "1";
    numbers[1] = format == TABLE_CONLLU ? "4" : "2";
    if (format == TABLE_CONLL)
        numbers[1] = arena_printf(job->arena, "%" PRId64,
                                  table_width(&job->diags, job->arena, source, format));
}

static void choose_fields(const ProjectKindInfo *kind, const TextList *given, bool named,
                          const char *const numbers[2], const char *fields[2])
{
    for (int k = 0; k < 2; k++) {
        const char *field = field_given(given, kind->fields[k]);
        fields[k] = field ? field : named ? kind->fields[k] : numbers[k];
    }
}

/* ---- rows ---- */

static bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static int64_t count_cell_words(const Line *cell)
{
    int64_t n = 0;
    for (size_t i = 0; i < cell->length; i++)
        n += !is_gap(cell->text[i]) && (!i || is_gap(cell->text[i - 1]));
    return n;
}

/* Each word has a tag. False after errors. */
static bool check_tags(Job *job, const Table *table)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < table->n; i++) {
        const int64_t words = count_cell_words(&table->columns[0]->at[i]),
                      tags = count_cell_words(&table->columns[1]->at[i]);
        if (words != tags && ++bad <= MOST_TOLD)
            diag_error(&job->diags, lines_place(table->columns[0], i),
                       "%" PRId64 " word%s and %" PRId64 " tag%s: each word has one tag, with "
                       "blanks between words and between tags",
                       words, text_plural(words, "", "s"), tags, text_plural(tags, "", "s"));
    }
    if (bad > MOST_TOLD)
        diag_note(&job->diags, lines_place(table->columns[0], 0),
                  "these are the first %d of %" PRId64 " such rows", MOST_TOLD, bad);
    return !bad;
}

/* Warns where most rows have their words as tags, as where columns between blanks were cut at tabs.
 */
static void warn_of_same(Job *job, const Table *table)
{
    const Lines *words = table->columns[0], *tags = table->columns[1];
    int64_t same = 0, first = 0;
    for (int64_t i = table->n - 1; i >= 0; i--)
        if (words->at[i].length == tags->at[i].length &&
            !memcmp(words->at[i].text, tags->at[i].text, words->at[i].length)) {
            same++;
            first = i;
        }
    if (2 * same > table->n)
        diag_warning(&job->diags, lines_place(words, first),
                     "in %" PRId64 " of %" PRId64 " rows, here first, the tags are the words "
                     "themselves: lines with columns between blanks are read as FILE.conll",
                     same, table->n);
}

/* A cell on one line: without blanks at its ends; tabs and line breaks are blanks. */
static void put_cell(Text *out, const Line *cell)
{
    size_t begin = 0, end = cell->length;
    while (begin < end && is_gap(cell->text[begin]))
        begin++;
    while (end > begin && is_gap(cell->text[end - 1]))
        end--;
    for (; begin < end; begin++)
        text_put(out, is_gap(cell->text[begin]) ? " " : &cell->text[begin], 1);
}

static void put_rows(const Table *table, Text *out)
{
    for (int64_t i = 0; i < table->n; i++) {
        put_cell(out, &table->columns[0]->at[i]);
        text_string(out, "\t");
        put_cell(out, &table->columns[1]->at[i]);
        text_string(out, "\n");
    }
}

/* ---- files ---- */

/* Warns of a first row whose label no other row has, where fields go by their numbers: it may be a
 * header of other names. */
static void warn_of_header(Job *job, const ProjectKindInfo *kind, const Table *table)
{
    const Line *first = &table->columns[1]->at[0];
    for (int64_t i = 1; i < table->n; i++) {
        const Line *other = &table->columns[1]->at[i];
        if (other->length == first->length && !memcmp(other->text, first->text, first->length))
            return;
    }
    diag_warning(&job->diags, lines_place(table->columns[0], 0),
                 "no other row has the %s '%.*s': if this line is a header, --column %s=FIELD and "
                 "--column %s=FIELD name its fields",
                 kind->fields[1], (int)first->length, first->text, kind->fields[0],
                 kind->fields[1]);
}

/* Reads a file, and of the first chooses the fields (else fields[0] is NULL). */
static Table *read_one(Job *job, const char *path, const ProjectKindInfo *kind,
                       const TextList *given, const LineLimits *limits, const char *fields[2])
{
    const Source *source = text_read(&job->diags, job->arena, path, limits);
    if (!source)
        return NULL;
    const TableFormat format = table_format(path, source);
    if (!fields[0]) {
        const char *numbers[2];
        number_fields(job, source, format, numbers);
        choose_fields(kind, given, name_is_given(kind, given) || is_named(source, format, kind),
                      numbers, fields);
    }
    Table *table = table_parse(&job->diags, job->arena, source, format, fields, 2, limits);
    if (table && !given->count && kind->form == PROJECT_LABELS && *fields[0] >= '0' &&
        *fields[0] <= '9')
        warn_of_header(job, kind, table);
    if (!table && !given->count)
        diag_note(&job->diags, (Loc){.source = source},
                  "--column %s=FIELD and --column %s=FIELD "
                  "choose other fields",
                  kind->fields[0], kind->fields[1]);
    return table;
}

bool project_read_table(Job *job, const ProjectKindInfo *kind, const TextList *given,
                        int64_t line_limit, SurveyText *text, const char **what)
{
    const TextList *paths = &text->files.data;
    const LineLimits limits = {.line = line_limit};
    const char *fields[2] = {0};
    Text pairs = {0};
    bool ok = check_given_fields(job, kind, given) &&
              text_paths_check(&job->diags, paths->data, paths->count);
    for (size_t i = 0; ok && i < paths->count; i++) {
        const Table *table = read_one(job, paths->data[i], kind, given, &limits, fields);
        ok = table &&
             (strcmp(fields[0], fields[1]) ||
              job_error(job, "%s and %s are both field %s of the table: --column names others",
                        kind->fields[0], kind->fields[1], fields[0]));
        ok = ok && (kind->form != PROJECT_TAGS || check_tags(job, table));
        if (ok && kind->form == PROJECT_TAGS)
            warn_of_same(job, table);
        if (ok)
            put_rows(table, &pairs);
        if (ok && paths->count == 1)
            text->numbers = table->columns[0]->line;
    }
    if (ok)
        text->pairs = diag_source(job->arena, paths->data[0], pairs.data, pairs.length);
    *what = arena_printf(job->arena, "%s is field %s, %s is field %s", kind->fields[0], fields[0],
                         kind->fields[1], fields[1]);
    text_free(&pairs);
    return ok;
}
