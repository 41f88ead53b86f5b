/* Reading cells: numbers, and labels. */
#include "runtime/rows/cell.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* CellReader: a cell, and where its values go. */
typedef struct CellReader {
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

static bool read_float(const CellReader *r, size_t at, const char *text)
{
    char *end;
    int32_t bits;
    const float number = strtof(text, &end);
    memcpy(&bits, &number, sizeof bits);
    if (*end || !isfinite(number))
        return row_is_wrong(r->fault, at, "'%s' is no finite number of f32", text);
    return push_value(r, bits);
}

bool cell_takes_integer(const CellNumbers *numbers, size_t at, int64_t element, int64_t integer,
                        RowFault *fault)
{
    const IdRange *broken = id_ranges_broken(&numbers->ids, element, (double)integer);
    return !broken ||
           row_is_wrong(fault, at,
                        "%" PRId64 " is not from %" PRId64 " to %" PRId64 ", as `%s` must "
                        "be%s",
                        integer, broken->least < 0 ? 0 : broken->least, broken->below - 1,
                        numbers->input, broken->least < 0 ? "; below 0 there is no label" : "");
}

/* The values of the cell begin at `first`. */
static bool read_whole(const CellReader *r, const CellNumbers *numbers, size_t first, size_t at,
                       const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (*end || !(number >= INT32_MIN && number <= INT32_MAX) || number != rint(number))
        return row_is_wrong(r->fault, at, "'%s' is no integer of 32 bits", text);
    const int64_t element = (int64_t)(r->values->count - first);
    return cell_takes_integer(numbers, at, element, (int64_t)number, r->fault) &&
           push_value(r, (int32_t)number);
}

/* What stands between numbers: blanks, commas and semicolons, brackets. */
static bool is_number_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool is_number_comma(char c) { return c == ',' || c == ';'; }
static bool parts_numbers(char c)
{
    return is_number_blank(c) || is_number_comma(c) || c == '[' || c == ']';
}

/* The number that begins at `at` and ends before `end`. */
static bool read_number(const CellReader *r, const CellNumbers *numbers, size_t first, size_t at,
                        size_t end)
{
    char text[LONGEST_NUMBER + 1];
    if (end - at > LONGEST_NUMBER)
        return row_is_wrong(r->fault, at, "this is no number");
    memcpy(text, r->cell->text + at, end - at);
    text[end - at] = 0;
    if (strspn(text, "+-.0123456789eE") != end - at)
        return row_is_wrong(r->fault, at, "'%s' is no number", text);
    return numbers->is_float ? read_float(r, at, text) : read_whole(r, numbers, first, at, text);
}

bool cell_has_width(const CellNumbers *numbers, int64_t n, RowFault *fault)
{
    const int64_t width = numbers->width;
    if (!numbers->is_along)
        return n == width ||
               row_is_wrong(fault, 0, "the cell has %" PRId64 " number%s, and `%s` takes %" PRId64,
                            n, text_plural(n, "", "s"), numbers->input, width);
    return (width ? n % width : n) == 0 ||
           row_is_wrong(fault, 0,
                        "the cell has %" PRId64 " numbers, and `%s` takes %" PRId64
                        " for each position",
                        n, numbers->input, width);
}

bool cell_read_numbers(const CellNumbers *numbers, const Line *cell, TokenIds *values,
                       RowFault *fault)
{
    const CellReader r = {cell, values, fault};
    const size_t first = values->count;
    int depth = 0;
    bool ok = true, wants = false; /* wants: a comma, or nothing yet, is before */
    for (size_t at = 0; at < cell->length && ok;) {
        const char c = cell->text[at];
        size_t end = at;
        while (end < cell->length && !parts_numbers(cell->text[end]))
            end++;
        if (end > at)
            ok = read_number(&r, numbers, first, at, end);
        else if (c == ']' && --depth < 0)
            ok = row_is_wrong(fault, at, "a bracket ends that did not begin");
        else if ((is_number_comma(c) && (wants || values->count == first)) || (c == ']' && wants))
            ok = row_is_wrong(fault, at, "a number is missing before this");
        depth += c == '[';
        wants = end > at || c == ']'
                    ? false
                    : is_number_comma(c) || (wants && (is_number_blank(c) || c == '['));
        at = end > at ? end : at + 1;
    }
    if (ok && (depth || wants))
        ok = row_is_wrong(fault, cell->length - 1,
                          depth ? "a bracket does not end" : "a number is missing behind this");
    return ok && cell_has_width(numbers, (int64_t)(values->count - first), fault);
}

/* ---- labels ---- */

static bool read_label(const CellReader *r, const CellLabels *labels, size_t at, size_t length)
{
    enum { MOST_SHOWN = 60 };
    const char *text = r->cell->text + at;
    const int32_t label = labels->find(labels->list, text, length);
    if (label >= 0)
        return push_value(r, labels->first + label);
    return length ? row_is_wrong(r->fault, at, "'%.*s' is none of the %" PRId64 " labels of `%s`",
                                 (int)(length < MOST_SHOWN ? length : MOST_SHOWN), text, labels->n,
                                 labels->input)
                  : row_is_wrong(r->fault, at, "the label of `%s` is empty", labels->input);
}

bool cell_read_labels(const CellLabels *labels, const Line *cell, TokenIds *values, RowFault *fault)
{
    const CellReader r = {cell, values, fault};
    if (!labels->is_along)
        return read_label(&r, labels, 0, cell->length);
    bool ok = true;
    for (size_t at = 0; at < cell->length && ok;) {
        const char *blank = memchr(cell->text + at, ' ', cell->length - at);
        const size_t end = blank ? (size_t)(blank - cell->text) : cell->length;
        ok = end == at || read_label(&r, labels, at, end - at);
        at = end + 1;
    }
    return ok;
}
