/* A project's data that is a table: which of its fields are read, and they as lines of pairs. */
#include "driver/corpus/field_pair.h"
#include "driver/project/project.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_TOLD = 5 }; /* rows with an error that are reported */

/* ---- fields ---- */

static FieldPair pair_of_kind(const ProjectKindInfo *kind)
{
    return (FieldPair){.names = {kind->fields[0], kind->fields[1]}};
}

/* ---- rows ---- */

static int64_t count_cell_words(const Line *cell)
{
    int64_t n = 0;
    for (size_t i = 0; i < cell->length; i++)
        n += !line_is_blank(cell->text[i]) && (!i || line_is_blank(cell->text[i - 1]));
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
    while (begin < end && line_is_blank(cell->text[begin]))
        begin++;
    while (end > begin && line_is_blank(cell->text[end - 1]))
        end--;
    for (; begin < end; begin++)
        text_put(out, line_is_blank(cell->text[begin]) ? " " : &cell->text[begin], 1);
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
    const FieldPair pair = pair_of_kind(kind);
    const Source *source = text_read(&job->diags, job->arena, path, limits);
    if (!source)
        return NULL;
    TableFormat format;
    const char *names[2];
    field_pair_choose(job, &pair, given, source, TABLE_JSON, names); /* as a header has them */
    if (!table_find_format(job->arena, path, source, fields[0] ? fields : names, 2, &format))
        table_find_format(job->arena, path, source, (const char *const[]){"1", "2"}, 2, &format);
    if (!fields[0])
        field_pair_choose(job, &pair, given, source, format, fields);
    Table *table = table_parse(&job->diags, job->arena, source, format, fields, 2, limits);
    if (table && !given->count && kind->form == PROJECT_LABELS && field_pair_is_numbered(fields))
        warn_of_header(job, kind, table);
    if (!table && !given->count)
        field_pair_advise(job, &pair, source);
    return table;
}

bool project_read_table(Job *job, const ProjectKindInfo *kind, const TextList *given,
                        int64_t line_limit, SurveyText *text, const char **what)
{
    const TextList *paths = &text->files.data;
    const FieldPair pair = pair_of_kind(kind);
    const LineLimits limits = {.line = line_limit};
    const char *fields[2] = {0};
    Text pairs = {0};
    bool ok = field_pair_check(job, &pair, given, "") &&
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
