/* RowColumn: what a field of a record holds of an input of a model, and so how it becomes the
 * input's values. The commands of tfc make it of a table's columns (runtime/data/column.h); a
 * compiled library has it as constant data, so its numbers have 64 bits. */
#ifndef RUNTIME_ROWS_ROW_COLUMN_H
#define RUNTIME_ROWS_ROW_COLUMN_H

#include "base/id_range.h"
#include "runtime/rows/text_frame.h"

typedef enum ColumnKind {
    COLUMN_TEXT,   /* tokens of a vocabulary */
    COLUMN_LABELS, /* of a list: as LabelMarks says; of a set a truth value for each of the list */
    COLUMN_INTEGERS, /* numbers between blanks, commas or brackets, as the next */
    COLUMN_FLOATS
} ColumnKind;

/* LabelMarks: how a cell has labels. Zeros: it is one.
 *   between   what stands between them: a blank along a dimension, or the mark of a set
 *   is_set    they are a set: blanks around them do not belong to them, empty ones are passed, and
 *             one that is there twice counts once; in a cell with line breaks each line is one,
 *             which is how a list of texts comes as a cell (record_json.h) */
typedef struct LabelMarks {
    int64_t between, is_set;
} LabelMarks;

/* MissingKind: what an input has of a value of floats that is missing: an empty cell, NA, NaN, null
 * or none. */
typedef enum MissingKind {
    MISSING_REFUSED,
    MISSING_ZERO,
    MISSING_MARKED /* 1; 0 for a value that is there */
} MissingKind;

/* RowColumn: one input.
 *   input             its name
 *   kind              ColumnKind
 *   is_along, width   1: it has `width` values for each position of a dimension; 0: `width` in all
 *   frame             of a text
 *   marks             of labels
 *   labels, n_labels  of labels: the list; the first is the value `first`
 *   find, list        the number of a label in it, from 0, or -1; NULL: it is searched
 *   missing           of floats: a MissingKind
 *   ids               of integers: which the input takes, counted within the cell */
typedef struct RowColumn {
    const char *input;
    int64_t kind, is_along, width;
    TextFrame frame;
    LabelMarks marks;
    const char *const *labels;
    int64_t n_labels, first;
    int32_t (*find)(const void *list, const char *text, size_t length);
    const void *list;
    IdRanges ids;
    int64_t missing;
} RowColumn;

#endif
