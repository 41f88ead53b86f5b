/* Wanted columns that are made of several fields: their names, patterns of names, and the cells
 * joined. */
#include "runtime/data/table_reader.h"
#include "runtime/rows/record_json.h"

#include "base/text.h"
#include "runtime/rows/record_json.h"

#include <string.h>

/* Whether each name in the column's is a number. */
bool table_name_is_numbers(const char *name)
{
    bool is = true;
    for (const char *at = name, *end; is && at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, (const char[]){TABLE_AND, 0});
        is = end > at && strspn(at, "0123456789") == (size_t)(end - at);
    }
    return is;
}

static bool is_pattern(const Line *name) { return memchr(name->text, '*', name->length) != NULL; }

/* Where the text behind a star does not fit, the star takes one byte more; an earlier star that
 * took more would only leave less to what follows. */
bool table_field_fits(const Line *name, const Line *cell)
{
    size_t n = 0, c = 0, behind = 0, from = 0; /* behind the last star, and where it fits from */
    while (c < cell->length) {
        if (n < name->length && name->text[n] == '*') {
            behind = ++n;
            from = c;
        } else if (n < name->length && name->text[n] == cell->text[c]) {
            n++;
            c++;
        } else if (behind) {
            n = behind;
            c = ++from;
        } else {
            return false;
        }
    }
    while (n < name->length && name->text[n] == '*')
        n++;
    return n == name->length;
}

/* Whether a name fits one of those in `of`. */
static bool fits_one(const Line *name, const char *of)
{
    bool fits = false;
    for (const char *at = of, *end; !fits && at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, (const char[]){TABLE_AND, 0});
        fits = table_field_fits(&(Line){at, (size_t)(end - at)}, name);
    }
    return fits;
}

bool table_name_fits(const char *names, const char *of)
{
    bool fits = true;
    for (const char *at = names, *end; fits && at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, (const char[]){TABLE_AND, 0});
        fits = fits_one(&(Line){at, (size_t)(end - at)}, of);
    }
    return fits;
}

/* Room for n more names. */
static void make_names(Arena *arena, size_t n, TableHead *head)
{
    Line *fields = ARENA_ARRAY(arena, Line, n + 1);
    uint8_t *takes = ARENA_ARRAY(arena, uint8_t, n + 1);
    for (size_t k = 0; k < head->n_fields; k++) {
        fields[k] = head->fields[k];
        takes[k] = head->takes[k];
    }
    head->fields = fields;
    head->takes = takes;
    head->index = ARENA_ARRAY(arena, size_t, n + 1);
}

void table_name_fields(Arena *arena, const char *const *fields, size_t n, const uint8_t *takes,
                       TableHead *head)
{
    size_t most = n;
    for (size_t c = 0; c < n; c++)
        for (const char *at = fields[c]; (at = strchr(at, TABLE_AND)); at++)
            most++;
    head->n_fields = 0;
    make_names(arena, most, head);
    head->n_columns = n;
    head->ends = ARENA_ARRAY(arena, size_t, n + 1);
    head->is_numbered = !table_is_json(head->format);
    for (size_t c = 0; c < n; c++) {
        head->is_numbered = head->is_numbered && table_name_is_numbers(fields[c]) &&
                            !(takes && takes[c] & FIELD_NAMED);
        for (const char *at = fields[c], *end; at; at = *end ? end + 1 : NULL) {
            end = at + strcspn(at, (const char[]){TABLE_AND, 0});
            const char *name = arena_strndup(arena, at, (size_t)(end - at));
            ((uint8_t *)head->takes)[head->n_fields] = takes ? takes[c] : 0;
            ((Line *)head->fields)[head->n_fields++] = (Line){name, (size_t)(end - at)};
        }
        head->ends[c] = head->n_fields;
    }
}

bool table_expand(TableReader *r, TableHead *head, const Line *cells, size_t n)
{
    const TableHead was = *head;
    size_t most = was.n_fields;
    for (size_t k = 0; k < was.n_fields; k++)
        most += is_pattern(&was.fields[k]) ? n : 0;
    if (most == was.n_fields)
        return true;
    head->n_fields = 0;
    make_names(r->arena, most, head);
    for (size_t c = 0, k = 0; c < was.n_columns; head->ends[c++] = head->n_fields)
        for (const size_t end = was.ends[c]; k < end; k++) {
            const size_t before = head->n_fields;
            for (size_t i = 0; i < n || !is_pattern(&was.fields[k]); i++) {
                const bool is_name = !is_pattern(&was.fields[k]);
                if (!is_name && !table_field_fits(&was.fields[k], &cells[i]))
                    continue;
                ((uint8_t *)head->takes)[head->n_fields] = was.takes[k];
                ((Line *)head->fields)[head->n_fields++] =
                    is_name ? was.fields[k]
                            : (Line){arena_strndup(r->arena, cells[i].text, cells[i].length),
                                     cells[i].length};
                if (is_name)
                    break;
            }
            if (head->n_fields == before) {
                diag_error(r->diags, lines_place(r->lines, 0), "the header has no field like '%s'",
                           was.fields[k].text);
                return false;
            }
        }
    return true;
}

static const char no_number[] = " \t\r\n,;[]";

/* The numbers of a cell; a blank one is a missing number. */
static size_t count_numbers(const Line *cell)
{
    size_t n = 0;
    bool within = false, is_list = false;
    for (size_t i = 0; i < cell->length; i++) {
        const bool parts = strchr(no_number, cell->text[i]) != NULL;
        n += within && parts;
        within = !parts;
        is_list = is_list || cell->text[i] == '[';
    }
    n += within;
    return n || is_list ? n : 1;
}

static bool is_blank(const Line *cell)
{
    for (size_t i = 0; i < cell->length; i++)
        if (!strchr(" \t\r\n", cell->text[i]))
            return false;
    return true;
}

/* An error at the first byte of a field, where that stands in the record's first line. False. */
static bool field_fault(TableReader *r, int64_t record, const char *at, const char *message)
{
    const Line *line = &r->lines->at[record];
    const bool is_within = at >= line->text && at <= line->text + line->length;
    table_fault(r, record, is_within ? at : line->text, "%s", message);
    return false;
}

/* Whether a field of several has numbers alone; blank, it may be missing. */
static bool field_has_numbers(TableReader *r, int64_t record, size_t column, size_t k,
                              const Line *cell)
{
    const TableHead *head = r->head;
    const char *name = head->fields[k].text,
               *input = head->inputs && head->inputs[column] ? head->inputs[column] : "INPUT";
    if (head->takes[k] & FIELD_NULL)
        return true;
    if (is_blank(cell))
        return field_fault(r, record, cell->text,
                           arena_printf(r->scratch,
                                        "the field '%s' is empty; an input that is `missing(…)` of "
                                        "the same fields as the column of `%s` lets values be "
                                        "missing",
                                        name, input));
    for (size_t i = 0; i < cell->length; i++) {
        size_t n = 0;
        while (i + n < cell->length && !strchr(no_number, cell->text[i + n]))
            n++;
        if (strspn(cell->text + i, "+-.0123456789eE") < n && cell->text[i] != 'N')
            return field_fault(r, record, cell->text + i,
                               arena_printf(r->scratch, "the field '%s' has '%.*s', no number",
                                            name, (int)(n < 60 ? n : 60), cell->text + i));
        i += n;
    }
    return true;
}

bool table_groups_are_even(TableReader *r, int64_t record, const Line *cells)
{
    const TableHead *head = r->head;
    for (size_t c = 0, k = 0; c < head->n_columns; k = head->ends[c++]) {
        const size_t first = k;
        if (head->ends[c] == first + 1)
            continue;
        for (; k < head->ends[c]; k++) {
            const Line *cell = &cells[head->index[k]];
            const size_t one = count_numbers(&cells[head->index[first]]), n = count_numbers(cell);
            if (!field_has_numbers(r, record, c, k, cell))
                return false;
            if (n != one)
                return field_fault(
                    r, record, cell->text,
                    arena_printf(r->scratch,
                                 "the field '%s' has %zu number%s, and '%s' %zu: fields that "
                                 "feed one input have as many each%s",
                                 head->fields[k].text, n, text_plural((int64_t)n, "", "s"),
                                 head->fields[first].text, one,
                                 n == 2 * one && memchr(cell->text, ',', cell->length)
                                     ? "; a comma parts numbers: decimals have a point"
                                     : ""));
        }
    }
    return true;
}

Line table_column_cell(TableReader *r, size_t column, const Line *cells)
{
    const TableHead *head = r->head;
    const size_t first = column ? head->ends[column - 1] : 0, end = head->ends[column];
    size_t length = 0;
    if (end == first + 1)
        return cells[head->index[first]];
    for (size_t k = first; k < end; k++)
        length += cells[head->index[k]].length + sizeof "NA";
    char *text = arena_alloc(r->arena, length + 1), *at = text;
    for (size_t k = first; k < end; k++) {
        const Line empty = {"NA", 2}, *cell = &cells[head->index[k]];
        if (is_blank(cell))
            cell = &empty;
        if (k > first)
            *at++ = ' ';
        memcpy(at, cell->text, cell->length);
        at += cell->length;
    }
    return (Line){text, (size_t)(at - text)};
}
