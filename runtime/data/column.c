/* Reading a column's cells: text, labels, numbers. */
#include "runtime/data/column.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Whether all values have one range, from 0 on. */
static bool column_is_of_ids(const ColumnSpec *spec)
{
    return spec->kind == COLUMN_INTEGERS && spec->ids.n == 1 && !spec->ids.at->least &&
           id_range_is_whole(spec->ids.at);
}

int64_t column_below(const ColumnSpec *spec, const Vocabulary *vocab)
{
    switch (spec->kind) {
    case COLUMN_TEXT: return vocab_size(column_vocab(spec, vocab));
    case COLUMN_LABELS: return (int64_t)spec->labels->words.count + spec->first + column_none(spec);
    default: return column_is_of_ids(spec) ? spec->ids.at->below : 0;
    }
}

const char *column_holds(Arena *arena, const ColumnSpec *spec)
{
    const char *each = spec->side < 0        ? "row"
                       : spec->beside_target ? "token of the target"
                                             : "position";
    switch (spec->kind) {
    case COLUMN_TEXT:
        return arena_printf(
            arena, "%s %s special tokens%s%s", spec->is_source ? "text of sources" : "text",
            spec->is_framed ? "with" : "without", spec->hide.rate > 0 ? ", some hidden" : "",
            spec->vocab ? arena_printf(arena, ", of a vocabulary of its own (%d, %016" PRIx64 ")",
                                       (int)vocab_size(spec->vocab), vocab_hash(spec->vocab))
                        : "");
    case COLUMN_LABELS:
        return arena_printf(arena, "labels (%zu, %016" PRIx64 ") from %d on, 1 a %s",
                            spec->labels->words.count, labels_hash(spec->labels), (int)spec->first,
                            spec->by_words ? "word, at its first token" : each);
    default:
        return arena_printf(arena, "%s, %" PRId64 " a %s",
                            spec->kind == COLUMN_FLOATS ? "floats" : "integers", spec->width, each);
    }
}

/* A cell, and where its values go. */
typedef struct CellReader {
    const ColumnSpec *spec;
    const Line *cell;
    Ids *values;
    ColumnFault *fault;
} CellReader;

__attribute__((format(printf, 3, 4))) static bool cell_is_wrong(const CellReader *r, size_t at,
                                                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    r->fault->text.length = 0;
    text_vadd(&r->fault->text, format, args);
    va_end(args);
    r->fault->at = at;
    return false;
}

static bool read_tokens(const CellReader *r, const Vocabulary *run)
{
    const Vocabulary *vocab = column_vocab(r->spec, run);
    const TokenRules *rules = vocab_rules(vocab);
    if (r->spec->is_framed && rules->source_begin >= 0)
        ids_push(r->values, rules->source_begin);
    const size_t first = r->values->count;
    if (!vocab_encode(vocab, r->cell->text, r->cell->length, r->values))
        return cell_is_wrong(r, 0, "%s", tokenizer_problem());
    if (r->spec->hide.rate > 0 && rules->mask >= 0)
        token_ids_join(r->values, first, vocab_blank(vocab), rules->mask);
    if (r->spec->is_framed && rules->source_end >= 0)
        ids_push(r->values, rules->source_end);
    return true;
}

/* ---- labels ---- */

static bool read_label(const CellReader *r, size_t at, size_t length)
{
    enum { MOST_SHOWN = 60 };
    const char *text = r->cell->text + at;
    int32_t label = labels_find(r->spec->labels, text, length);
    ids_push(r->values, label + r->spec->first);
    return label >= 0 ||
           (length ? cell_is_wrong(r, at, "'%.*s' is none of the %zu labels of `%s`",
                                   (int)(length < MOST_SHOWN ? length : MOST_SHOWN), text,
                                   r->spec->labels->words.count, r->spec->input)
                   : cell_is_wrong(r, at, "the label of `%s` is empty", r->spec->input));
}

static bool read_labels(const CellReader *r)
{
    const Line *cell = r->cell;
    if (r->spec->side < 0)
        return read_label(r, 0, cell->length);
    bool ok = true;
    for (size_t at = 0; at < cell->length && ok;) {
        const char *blank = memchr(cell->text + at, ' ', cell->length - at);
        size_t end = blank ? (size_t)(blank - cell->text) : cell->length;
        ok = end == at || read_label(r, at, end - at);
        at = end + 1;
    }
    return ok;
}

/* ---- numbers ---- */

enum { LONGEST_NUMBER = 63 }; /* bytes */

static bool read_float(const CellReader *r, size_t at, const char *text)
{
    char *end;
    int32_t bits;
    const float number = strtof(text, &end);
    memcpy(&bits, &number, sizeof bits);
    ids_push(r->values, bits);
    return (!*end && isfinite(number)) ||
           cell_is_wrong(r, at, "'%s' is no finite number of f32", text);
}

/* Element `i` of the cell, which is byte `at`. */
static bool check_integer(const CellReader *r, size_t at, size_t i, int64_t number)
{
    const IdRange *broken = id_ranges_broken(&r->spec->ids, (int64_t)i, (double)number);
    return !broken ||
           cell_is_wrong(r, at,
                         "%" PRId64 " is not from %" PRId64 " to %" PRId64 ", as `%s` must "
                         "be%s",
                         number, broken->least < 0 ? 0 : broken->least, broken->below - 1,
                         r->spec->input, broken->least < 0 ? "; below 0 there is no label" : "");
}

/* The cell's values begin at `first`. */
static bool read_integer(const CellReader *r, size_t first, size_t at, const char *text)
{
    char *end;
    errno = 0;
    const int64_t number = strtoll(text, &end, 10);
    ids_push(r->values, (int32_t)number);
    if (*end || errno || number < INT32_MIN || number > INT32_MAX)
        return cell_is_wrong(r, at, "'%s' is no integer of 32 bits", text);
    return check_integer(r, at, r->values->count - 1 - first, number);
}

/* What stands between numbers: blanks, commas and semicolons, brackets. */
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool is_comma(char c) { return c == ',' || c == ';'; }
static bool parts_numbers(char c) { return is_blank(c) || is_comma(c) || c == '[' || c == ']'; }

/* The number that begins at `at` and ends before `end`. */
static bool read_number(const CellReader *r, size_t first, size_t at, size_t end)
{
    char text[LONGEST_NUMBER + 1];
    if (end - at > LONGEST_NUMBER)
        return cell_is_wrong(r, at, "this is no number");
    memcpy(text, r->cell->text + at, end - at);
    text[end - at] = 0;
    if (strspn(text, "+-.0123456789eE") != end - at)
        return cell_is_wrong(r, at, "'%s' is no number", text);
    return r->spec->kind == COLUMN_FLOATS ? read_float(r, at, text)
                                          : read_integer(r, first, at, text);
}

static bool has_width(const CellReader *r, int64_t n)
{
    const ColumnSpec *spec = r->spec;
    if (spec->side < 0)
        return n == spec->width ||
               cell_is_wrong(r, 0, "the cell has %" PRId64 " number%s, and `%s` takes %" PRId64, n,
                             text_plural(n, "", "s"), spec->input, spec->width);
    return n % spec->width == 0 ||
           cell_is_wrong(r, 0,
                         "the cell has %" PRId64 " numbers, and `%s` takes %" PRId64
                         " for each position",
                         n, spec->input, spec->width);
}

/* Lists may be in brackets, which must match, and each comma stands between two of their
 * elements. */
static bool read_numbers(const CellReader *r)
{
    const Line *cell = r->cell;
    const size_t before = r->values->count;
    int depth = 0;
    bool ok = true, wants = false; /* wants: a comma, or nothing yet, is before */
    for (size_t at = 0; at < cell->length && ok;) {
        const char c = cell->text[at];
        size_t end = at;
        while (end < cell->length && !parts_numbers(cell->text[end]))
            end++;
        if (end > at)
            ok = read_number(r, before, at, end);
        else if (c == ']' && --depth < 0)
            ok = cell_is_wrong(r, at, "a bracket ends that did not begin");
        else if ((is_comma(c) && (wants || r->values->count == before)) || (c == ']' && wants))
            ok = cell_is_wrong(r, at, "a number is missing before this");
        depth += c == '[';
        wants = end > at || c == ']' ? false : is_comma(c) || (wants && (is_blank(c) || c == '['));
        at = end > at ? end : at + 1;
    }
    if (ok && (depth || wants))
        ok = cell_is_wrong(r, cell->length - 1,
                           depth ? "a bracket does not end" : "a number is missing behind this");
    return ok && has_width(r, (int64_t)(r->values->count - before));
}

/* ---- rows of tensors ---- */

static bool read_float_row(const CellReader *r, const Cell *cell, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float number = (float)st_value(cell->tensor, cell->row * n + i);
        int32_t bits;
        memcpy(&bits, &number, sizeof bits);
        ids_push(r->values, bits);
        if (!isfinite(number))
            return cell_is_wrong(r, 0, "its element %" PRId64 " is no finite number of f32", i);
    }
    return true;
}

static bool read_integer_row(const CellReader *r, const Cell *cell, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double number = st_value(cell->tensor, cell->row * n + i);
        const bool fits = number >= INT32_MIN && number <= INT32_MAX && number == rint(number);
        ids_push(r->values, fits ? (int32_t)number : 0);
        if (!fits)
            return cell_is_wrong(r, 0, "its element %" PRId64 " is no integer of 32 bits", i);
        if (!check_integer(r, 0, (size_t)i, (int64_t)number))
            return false;
    }
    return true;
}

static bool read_row(const CellReader *r, const Cell *cell)
{
    const int64_t rows = cell->tensor->dims[0], n = cell->tensor->count / (rows ? rows : 1);
    if (r->spec->kind == COLUMN_TEXT || r->spec->kind == COLUMN_LABELS)
        return cell_is_wrong(r, 0, "`%s` takes words, and a tensor has numbers", r->spec->input);
    return (r->spec->kind == COLUMN_FLOATS ? read_float_row : read_integer_row)(r, cell, n) &&
           has_width(r, n);
}

bool column_read(const ColumnSpec *spec, const Vocabulary *vocab, const Cell *cell, Ids *values,
                 ColumnFault *fault)
{
    const CellReader reader = {spec, &cell->text, values, fault};
    if (cell->tensor)
        return read_row(&reader, cell);
    switch (spec->kind) {
    case COLUMN_TEXT: return read_tokens(&reader, vocab);
    case COLUMN_LABELS: return read_labels(&reader);
    default: return read_numbers(&reader);
    }
}
