/* Reading a column's cells: text, labels, numbers. */
#include "runtime/data/column.h"

#include <inttypes.h>
#include <math.h>
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

/* ColumnReader: a column, and where the values of a cell go. */
typedef struct ColumnReader {
    const ColumnSpec *spec;
    Ids *values;
    RowFault *fault;
} ColumnReader;

static CellNumbers numbers_of(const ColumnSpec *spec)
{
    return (CellNumbers){.input = spec->input,
                         .is_float = spec->kind == COLUMN_FLOATS,
                         .is_along = spec->side >= 0,
                         .width = spec->width,
                         .ids = spec->ids};
}

static bool read_tokens(const ColumnReader *r, const Vocabulary *run, const Line *cell)
{
    const Vocabulary *vocab = column_vocab(r->spec, run);
    const TokenRules *rules = vocab_rules(vocab);
    if (r->spec->is_framed && rules->source_begin >= 0)
        ids_push(r->values, rules->source_begin);
    const size_t first = r->values->count;
    if (!vocab_encode(vocab, cell->text, cell->length, r->values))
        return row_is_wrong(r->fault, 0, "%s", tokenizer_problem());
    if (r->spec->hide.rate > 0 && rules->mask >= 0)
        token_ids_join(r->values, first, vocab_blank(vocab), rules->mask);
    if (r->spec->is_framed && rules->source_end >= 0)
        ids_push(r->values, rules->source_end);
    return true;
}

static int32_t find_label(const void *list, const char *text, size_t length)
{
    return labels_find(list, text, length);
}

static CellLabels labels_of(const ColumnSpec *spec)
{
    return (CellLabels){.input = spec->input,
                        .is_along = spec->side >= 0,
                        .n = (int64_t)spec->labels->words.count,
                        .first = spec->first,
                        .find = find_label,
                        .list = spec->labels};
}

/* ---- rows of tensors ---- */

static bool read_float_row(const ColumnReader *r, const Cell *cell, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float number = (float)st_value(cell->tensor, cell->row * n + i);
        int32_t bits;
        memcpy(&bits, &number, sizeof bits);
        ids_push(r->values, bits);
        if (!isfinite(number))
            return row_is_wrong(r->fault, 0, "its element %" PRId64 " is no finite number of f32",
                                i);
    }
    return true;
}

static bool read_integer_row(const ColumnReader *r, const CellNumbers *numbers, const Cell *cell,
                             int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double number = st_value(cell->tensor, cell->row * n + i);
        const bool fits = number >= INT32_MIN && number <= INT32_MAX && number == rint(number);
        ids_push(r->values, fits ? (int32_t)number : 0);
        if (!fits)
            return row_is_wrong(r->fault, 0, "its element %" PRId64 " is no integer of 32 bits", i);
        if (!cell_takes_integer(numbers, 0, i, (int64_t)number, r->fault))
            return false;
    }
    return true;
}

static bool read_row(const ColumnReader *r, const Cell *cell)
{
    const int64_t rows = cell->tensor->dims[0], n = cell->tensor->count / (rows ? rows : 1);
    const CellNumbers numbers = numbers_of(r->spec);
    if (r->spec->kind == COLUMN_TEXT || r->spec->kind == COLUMN_LABELS)
        return row_is_wrong(r->fault, 0, "`%s` takes words, and a tensor has numbers",
                            r->spec->input);
    return (numbers.is_float ? read_float_row(r, cell, n)
                             : read_integer_row(r, &numbers, cell, n)) &&
           cell_has_width(&numbers, n, r->fault);
}

bool column_read(const ColumnSpec *spec, const Vocabulary *vocab, const Cell *cell, Ids *values,
                 RowFault *fault)
{
    const ColumnReader reader = {spec, values, fault};
    bool ok;
    fault->text[0] = 0;
    if (cell->tensor)
        return read_row(&reader, cell);
    switch (spec->kind) {
    case COLUMN_TEXT: ok = read_tokens(&reader, vocab, &cell->text); break;
    case COLUMN_LABELS: {
        const CellLabels labels = labels_of(spec);
        ok = cell_read_labels(&labels, &cell->text, values, fault);
        break;
    }
    default: {
        const CellNumbers numbers = numbers_of(spec);
        ok = cell_read_numbers(&numbers, &cell->text, values, fault);
    }
    }
    memory_need(ok || fault->text[0]);
    return ok;
}
