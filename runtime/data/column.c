/* Reading a column's cells: text, labels, numbers. */
#include "runtime/data/column.h"

#include <inttypes.h>
#include <math.h>
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
    case COLUMN_LABELS:
        if (spec->many)
            return 2;
        return (int64_t)spec->labels->words.count + spec->first + column_none(spec);
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
        if (spec->many)
            return arena_printf(arena, "sets of labels (%zu, %016" PRIx64 "), %" PRId64 " a row",
                                spec->labels->words.count, labels_hash(spec->labels), spec->width);
        return arena_printf(arena, "labels (%zu, %016" PRIx64 ") from %d on, 1 a %s",
                            spec->labels->words.count, labels_hash(spec->labels), (int)spec->first,
                            spec->by_words ? "word, at its first token" : each);
    default:
        return arena_printf(arena, "%s, %" PRId64 " a %s",
                            spec->kind != COLUMN_FLOATS       ? "integers"
                            : spec->missing == MISSING_MARKED ? "which floats are missing"
                            : spec->missing == MISSING_ZERO   ? "floats, 0 where they are missing"
                                                              : "floats",
                            spec->width, each);
    }
}

TextFrame column_frame(const ColumnSpec *spec, const Vocabulary *vocab)
{
    TextFrame frame = TEXT_UNFRAMED;
    if (spec->kind != COLUMN_TEXT)
        return frame;
    const Vocabulary *own = column_vocab(spec, vocab);
    const TokenRules *rules = vocab_rules(own);
    if (spec->is_framed) {
        frame.begin = rules->source_begin;
        frame.end = rules->source_end;
    }
    if (spec->hide.rate > 0) {
        frame.blank = vocab_blank(own);
        frame.mask = rules->mask;
    }
    return frame;
}

static int32_t find_label(const void *list, const char *text, size_t length)
{
    return labels_find(list, text, length);
}

LabelMarks column_marks(const ColumnSpec *spec)
{
    return (LabelMarks){spec->many ? spec->many : spec->side >= 0 ? ' ' : 0, spec->many != 0};
}

RowColumn column_row(const ColumnSpec *spec, const Vocabulary *vocab)
{
    const Labels *labels = spec->kind == COLUMN_LABELS ? spec->labels : NULL;
    return (RowColumn){.input = spec->input,
                       .kind = spec->kind,
                       .is_along = spec->side >= 0,
                       .width = spec->width,
                       .frame = column_frame(spec, vocab),
                       .marks = column_marks(spec),
                       .labels = labels ? labels->words.data : NULL,
                       .n_labels = labels ? (int64_t)labels->words.count : 0,
                       .first = spec->first,
                       .find = labels ? find_label : NULL,
                       .list = labels,
                       .ids = spec->ids,
                       .missing = spec->missing};
}

/* ---- rows of tensors ---- */

/* TensorRow: n values of a column, and where they go. */
typedef struct TensorRow {
    const RowColumn *column;
    const StTensor *tensor;
    int64_t first, n;
    Ids *values;
    RowFault *fault;
} TensorRow;

static bool read_float_row(const TensorRow *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        float number = (float)st_value(r->tensor, r->first + i);
        int32_t bits;
        if (r->column->missing)
            number = cell_float(r->column, number, isnan(number));
        memcpy(&bits, &number, sizeof bits);
        ids_push(r->values, bits);
        if (!isfinite(number))
            return row_is_wrong(r->fault, 0, "its element %" PRId64 " is no finite number of f32",
                                i);
    }
    return true;
}

static bool read_integer_row(const TensorRow *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        const double number = st_value(r->tensor, r->first + i);
        const bool fits = number >= INT32_MIN && number <= INT32_MAX && number == rint(number);
        ids_push(r->values, fits ? (int32_t)number : 0);
        if (!fits)
            return row_is_wrong(r->fault, 0, "its element %" PRId64 " is no integer of 32 bits", i);
        if (!cell_takes_integer(r->column, 0, i, (int64_t)number, r->fault))
            return false;
    }
    return true;
}

static bool read_row(const RowColumn *column, const Cell *cell, Ids *values, RowFault *fault)
{
    const int64_t rows = cell->tensor->dims[0], n = cell->tensor->count / (rows ? rows : 1);
    const TensorRow row = {column, cell->tensor, cell->row * n, n, values, fault};
    if (column->kind == COLUMN_TEXT || column->kind == COLUMN_LABELS)
        return row_is_wrong(fault, 0, "`%s` takes words, and a tensor has numbers", column->input);
    return (column->kind == COLUMN_FLOATS ? read_float_row(&row) : read_integer_row(&row)) &&
           cell_has_width(column, n, fault);
}

/* A text behind its column's prompt; places in the text are counted from the prompt on. */
static bool read_prompted(const RowColumn *column, const Tokenizer *tokenizer, const char *prompt,
                          const Line *text, Ids *values, RowFault *fault)
{
    const size_t front = strlen(prompt);
    char *whole = memory_resized(NULL, front + text->length + 1);
    memcpy(whole, prompt, front);
    if (text->length)
        memcpy(whole + front, text->text, text->length);
    const bool ok =
        cell_read(column, tokenizer, &(Line){whole, front + text->length}, values, NULL, fault);
    fault->at = fault->at > front ? fault->at - front : 0;
    free(whole);
    return ok;
}

bool column_read(const ColumnSpec *spec, const Vocabulary *vocab, const Cell *cell, Ids *values,
                 RowFault *fault)
{
    const RowColumn column = column_row(spec, vocab);
    const Tokenizer *tokenizer =
        spec->kind == COLUMN_TEXT ? vocab_tokenizer(column_vocab(spec, vocab)) : NULL;
    fault->text[0] = 0;
    const bool ok =
        cell->tensor   ? read_row(&column, cell, values, fault)
        : spec->prompt ? read_prompted(&column, tokenizer, spec->prompt, &cell->text, values, fault)
                       : cell_read(&column, tokenizer, &cell->text, values, NULL, fault);
    memory_need(ok || fault->text[0]);
    return ok;
}
