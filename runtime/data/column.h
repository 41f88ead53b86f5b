/* Columns: values that a row of a corpus has beside its source and target (corpus.h). Each column
 * is a field of a table and feeds one input of the model.
 *
 * A value has 32 bits: an id, an integer, or the bits of a float. Columns with the same side share
 * a ragged dimension, so that in each row they have the same number of positions. */
#ifndef RUNTIME_DATA_COLUMN_H
#define RUNTIME_DATA_COLUMN_H

#include "runtime/data/labels.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/sides.h"
#include "runtime/data/vocabulary.h"
#include "runtime/rows/cell.h"

/* HideRule: how tokens of a text are hidden (hiding.h).
 *   rate          the share that is chosen; 0: none is
 *   keep, random  shares of the chosen that stay, and that become other tokens; the rest becomes
 *                 the mask token
 *   whole_words   the tokens of a word are chosen together */
typedef struct HideRule {
    double rate, keep, random;
    bool whole_words;
} HideRule;

/* ColumnSpec: what a column is.
 *   input, field   of the model; of the table
 *   side           of its ragged dimension; -1: each row has `width` values
 *   width          values of a row or, with a side, of a position
 *   is_framed      a text gets the special tokens of a source
 *   by_words       labels: those of a text's words, each at its word's first token, -1 at the
 *                  others; a text: along it lie such labels
 *   beside_target  numbers or labels of the tokens of the text that the model predicts
 *   is_source      a text of the sources' vocabulary
 *   hide           of a text
 *   prompt         of a text: what stands before each, as if it were written there; NULL: nothing
 *   vocab          of a text: its own; NULL: that of the corpus
 *   labels, first  of COLUMN_LABELS: the list, and the id of its first
 *   many           of COLUMN_LABELS: the mark between the labels of a set, of which a row has
 *                  `width` truth values; 0: they are no sets
 *   counts         of a set: the model's constant that says how many labels there are; NULL: none
 *   is_ctc         labels of a CTC loss, whose blank is 0
 *   below          how many tokens, labels or integers the model has; 0: any number
 *   missing        of COLUMN_FLOATS
 *   ids            of COLUMN_INTEGERS: which the model takes, the elements of a row counted, or
 *                  those of a position; the caller's */
typedef struct ColumnSpec {
    const char *input, *field;
    ColumnKind kind;
    int side;
    int64_t width, below;
    bool is_framed, by_words, beside_target, is_source, is_ctc;
    HideRule hide;
    const char *prompt;
    Vocabulary *vocab;
    const Labels *labels;
    char many;
    const char *counts;
    MissingKind missing;
    int32_t first;
    IdRanges ids;
} ColumnSpec;

/* The vocabulary of a column of text in a corpus with the vocabulary `vocab`. */
static inline const Vocabulary *column_vocab(const ColumnSpec *spec, const Vocabulary *vocab)
{
    return spec->vocab ? spec->vocab : spec->is_source ? vocab_source(vocab) : vocab;
}
/* What stands around the tokens of a column of text; around other columns nothing. */
TextFrame column_frame(const ColumnSpec *spec, const Vocabulary *vocab);
/* How its cells have labels. */
LabelMarks column_marks(const ColumnSpec *spec);
/* How the column's cells become values; as long as spec and vocabulary live. `vocab`: of the
 * corpus, for a text. */
RowColumn column_row(const ColumnSpec *spec, const Vocabulary *vocab);
/* How many different values there are, all from -column_none on: tokens of the vocabulary, labels,
 * truth values of a set,
 * integers that are all ids of one range; 0: any value of 32 bits. */
int64_t column_below(const ColumnSpec *spec, const Vocabulary *vocab);
/* 1: a value may be -1, no label; else 0. */
static inline int32_t column_none(const ColumnSpec *spec)
{
    return spec->kind == COLUMN_LABELS && spec->by_words;
}
/* What the values are, in the arena: "labels (3, 0123456789abcdef), 1 a row". Columns with the same
 * text have the same values of the same cells, by the same vocabulary. */
const char *column_holds(Arena *arena, const ColumnSpec *spec);

/* Rows: row i is ids[start[i]] … ids[start[i + 1] - 1]. */
typedef struct Rows {
    int64_t n;
    int64_t *start; /* n + 1 */
    Ids ids;
} Rows;

static inline int64_t rows_length(const Rows *rows, int64_t i)
{
    return rows->n ? rows->start[i + 1] - rows->start[i] : 0;
}

/* Cell: of a text; or row `row` of a tensor, along its first axis. */
typedef struct Cell {
    Line text;
    const StTensor *tensor; /* NULL: a text */
    int64_t row;
} Cell;

/* Appends a cell's values. False: the cell is wrong, and *fault says why; what was appended by then
 * stays. */
bool column_read(const ColumnSpec *spec, const Vocabulary *vocab, const Cell *cell, Ids *values,
                 RowFault *fault);

#endif
