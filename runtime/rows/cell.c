/* Reading cells: texts, numbers, labels. */
#include "runtime/rows/cell.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CellReader: a cell of a column, and where its values go. */
typedef struct CellReader {
    const RowColumn *column;
    const Line *cell;
    TokenIds *values;
    RowFault *fault;
} CellReader;

static bool push_value(const CellReader *r, int32_t value)
{
    return token_ids_push(r->values, value) || row_has_no_memory(r->fault);
}

/* ---- numbers ---- */

enum { LONGEST_NUMBER = 400 }; /* bytes: the largest f64, written without an exponent, has 309 */

float cell_float(const RowColumn *column, float number, bool is_missing)
{
    return column->missing == MISSING_MARKED ? is_missing : is_missing ? 0 : number;
}

static bool push_float(const CellReader *r, float number, bool is_missing)
{
    int32_t bits;
    const float value = r->column->missing ? cell_float(r->column, number, is_missing) : number;
    memcpy(&bits, &value, sizeof bits);
    return push_value(r, bits);
}

static bool read_float(const CellReader *r, size_t at, const char *text)
{
    char *end;
    const float number = strtof(text, &end);
    if (*end || !isfinite(number))
        return row_is_wrong(r->fault, at, "'%s' is no finite number of f32", text);
    return push_float(r, number, false);
}

bool cell_takes_integer(const RowColumn *column, size_t at, int64_t element, int64_t integer,
                        RowFault *fault)
{
    const IdRange *broken = id_ranges_broken(&column->ids, element, (double)integer);
    return !broken ||
           row_is_wrong(fault, at,
                        "%" PRId64 " is not from %" PRId64 " to %" PRId64 ", as `%s` must "
                        "be%s",
                        integer, broken->least < 0 ? 0 : broken->least, broken->below - 1,
                        column->input, broken->least < 0 ? "; below 0 there is no label" : "");
}

/* The values of the cell begin at `first`. */
static bool read_whole(const CellReader *r, size_t first, size_t at, const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (*end || !(number >= INT32_MIN && number <= INT32_MAX) || number != rint(number))
        return row_is_wrong(r->fault, at, "'%s' is no integer of 32 bits", text);
    const int64_t element = (int64_t)(r->values->count - first);
    return cell_takes_integer(r->column, at, element, (int64_t)number, r->fault) &&
           push_value(r, (int32_t)number);
}

/* What stands between numbers: blanks, commas and semicolons, brackets. */
static bool is_number_comma(char c) { return c == ',' || c == ';'; }
static bool parts_numbers(char c)
{
    return line_is_blank(c) || is_number_comma(c) || c == '[' || c == ']';
}

/* As R, pandas, JSON and spreadsheets write it. */
static bool says_missing(const char *text)
{
    static const char *const words[] = {"NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], text))
            return true;
    return false;
}

static bool starts_with_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

/* The number that begins at `at` and ends before `end`. */
static bool read_number(const CellReader *r, size_t first, size_t at, size_t end)
{
    char text[LONGEST_NUMBER + 1];
    if (end - at > LONGEST_NUMBER)
        return row_is_wrong(r->fault, at, "this is no number");
    memcpy(text, r->cell->text + at, end - at);
    text[end - at] = 0;
    if (says_missing(text) && r->column->kind == COLUMN_FLOATS)
        return r->column->missing
                   ? push_float(r, 0, true)
                   : row_is_wrong(r->fault, at,
                                  "'%s' is no number; an input that is `missing(…)` of the same "
                                  "fields as the column of `%s` lets values be missing",
                                  text, r->column->input);
    if (strspn(text, "+-.0123456789eE") != end - at) {
        const bool is_word = r->column->kind == COLUMN_INTEGERS && starts_with_letter(*text);
        return row_is_wrong(r->fault, at, "'%s' is no number%s%s%s", text,
                            is_word ? "; if it is a label, the model says `vocab " : "",
                            is_word ? r->column->input : "", is_word ? " = words`" : "");
    }
    return r->column->kind == COLUMN_FLOATS ? read_float(r, at, text)
                                            : read_whole(r, first, at, text);
}

bool cell_has_width(const RowColumn *column, int64_t n, RowFault *fault)
{
    const int64_t width = column->width;
    if (!column->is_along)
        return n == width ||
               row_is_wrong(fault, 0, "the cell has %" PRId64 " number%s, and `%s` takes %" PRId64,
                            n, text_plural(n, "", "s"), column->input, width);
    return (width ? n % width : n) == 0 ||
           row_is_wrong(fault, 0,
                        "the cell has %" PRId64 " number%s, and `%s` takes %" PRId64
                        " for each position",
                        n, text_plural(n, "", "s"), column->input, width);
}

/* cell_has_width of a cell that has n numbers; an empty one and a decimal comma are named. */
static bool numbers_fit(const CellReader *r, int64_t n)
{
    const RowColumn *column = r->column;
    const Line *cell = r->cell;
    const bool is_one = column->width == 1 && !column->is_along &&
                        !(cell->length && memchr(cell->text, '[', cell->length));
    if (is_one && !n)
        return row_is_wrong(r->fault, 0, "the cell of `%s` is empty%s", column->input,
                            column->kind == COLUMN_FLOATS
                                ? "; an input that is `missing(…)` of the same fields lets values "
                                  "be missing"
                                : "");
    if (is_one && n == 2 && cell->length < LONGEST_NUMBER && memchr(cell->text, ',', cell->length))
        return row_is_wrong(r->fault, 0,
                            "'%.*s' is 2 numbers, and `%s` takes 1: decimals have a point",
                            (int)cell->length, cell->text, column->input);
    return cell_has_width(column, n, r->fault);
}

static bool read_cell_numbers(const CellReader *r)
{
    const Line *cell = r->cell;
    const size_t first = r->values->count;
    int depth = 0;
    bool ok = true, wants = false; /* wants: a comma, or nothing yet, is before */
    for (size_t at = 0; at < cell->length && ok;) {
        const char c = cell->text[at];
        size_t end = at;
        while (end < cell->length && !parts_numbers(cell->text[end]))
            end++;
        if (end > at)
            ok = read_number(r, first, at, end);
        else if (c == ']' && --depth < 0)
            ok = row_is_wrong(r->fault, at, "a bracket ends that did not begin");
        else if ((is_number_comma(c) && (wants || r->values->count == first)) ||
                 (c == ']' && wants))
            ok = row_is_wrong(r->fault, at, "a number is missing before this");
        depth += c == '[';
        wants = end > at || c == ']'
                    ? false
                    : is_number_comma(c) || (wants && (line_is_blank(c) || c == '['));
        at = end > at ? end : at + 1;
    }
    if (ok && r->column->missing && r->column->width == 1 && !r->column->is_along &&
        r->values->count == first && !wants && !depth)
        return push_float(r, 0, true); /* an empty cell */
    if (ok && (depth || wants))
        ok = row_is_wrong(r->fault, cell->length - 1,
                          depth ? "a bracket does not end" : "a number is missing behind this");
    return ok && numbers_fit(r, (int64_t)(r->values->count - first));
}

/* ---- labels ---- */

static int32_t find_cell_label(const RowColumn *column, const char *text, size_t length)
{
    if (column->find)
        return column->find(column->list, text, length);
    for (int64_t i = 0; i < column->n_labels; i++)
        if (strlen(column->labels[i]) == length && !memcmp(column->labels[i], text, length))
            return (int32_t)i;
    return -1;
}

static bool label_is_unknown(const CellReader *r, const Line *label)
{
    enum { MOST_SHOWN = 60 };
    const RowColumn *column = r->column;
    const size_t at = (size_t)(label->text - r->cell->text);
    return label->length
               ? row_is_wrong(r->fault, at, "'%.*s' is none of the %" PRId64 " labels of `%s`",
                              (int)(label->length < MOST_SHOWN ? label->length : MOST_SHOWN),
                              label->text, column->n_labels, column->input)
               : row_is_wrong(r->fault, at, "the label of `%s` is empty", column->input);
}

static bool read_label(const CellReader *r, const Line *label)
{
    const int32_t found = find_cell_label(r->column, label->text, label->length);
    return found >= 0 ? push_value(r, (int32_t)r->column->first + found)
                      : label_is_unknown(r, label);
}

bool cell_next_label(LabelMarks marks, const Line *cell, size_t *at, Line *label)
{
    const bool is_list = marks.is_set && cell->length && memchr(cell->text, '\n', cell->length);
    const char mark = is_list ? '\n' : (char)marks.between;
    if (!marks.between) {
        *label = *cell;
        return !(*at)++;
    }
    while (*at < cell->length) {
        const char *begin = cell->text + *at, *end = memchr(begin, mark, cell->length - *at);
        if (!end)
            end = cell->text + cell->length;
        *at = (size_t)(end - cell->text) + 1;
        for (; marks.is_set && begin < end && line_is_gap(*begin); begin++) {}
        for (; marks.is_set && begin < end && line_is_gap(end[-1]); end--) {}
        *label = (Line){begin, (size_t)(end - begin)};
        if (end > begin)
            return true;
    }
    return false;
}

/* Zeros, and 1 for each label that is there. */
static bool read_label_set(const CellReader *r)
{
    const size_t first = r->values->count;
    Line label;
    bool ok = true;
    for (int64_t i = 0; i < r->column->width && ok; i++)
        ok = push_value(r, 0);
    for (size_t at = 0; ok && cell_next_label(r->column->marks, r->cell, &at, &label);) {
        const int32_t found = find_cell_label(r->column, label.text, label.length);
        if (found < 0 || found >= r->column->width)
            return label_is_unknown(r, &label);
        r->values->data[first + (size_t)found] = 1;
    }
    return ok;
}

static bool read_cell_labels(const CellReader *r)
{
    Line label;
    bool ok = true;
    if (r->column->marks.is_set)
        return read_label_set(r);
    for (size_t at = 0; ok && cell_next_label(r->column->marks, r->cell, &at, &label);)
        ok = read_label(r, &label);
    return ok;
}

bool cell_read(const RowColumn *column, const Tokenizer *tokenizer, const Line *cell,
               TokenIds *values, size_t *own, RowFault *fault)
{
    const CellReader reader = {column, cell, values, fault};
    switch (column->kind) {
    case COLUMN_TEXT: return text_frame_encode(&column->frame, tokenizer, cell, values, own, fault);
    case COLUMN_LABELS: return read_cell_labels(&reader);
    default: return read_cell_numbers(&reader);
    }
}
