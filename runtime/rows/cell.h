/* Cells: fields of records as text, and the values that an input of a model gets of them. The
 * commands of tfc and compiled libraries read cells by these functions alone, so that what one
 * accepts the other does.
 *
 * A value has 32 bits: an integer, or the bits of a float. The functions append values, and return
 * false with the reason in *fault; what was appended by then stays. */
#ifndef RUNTIME_ROWS_CELL_H
#define RUNTIME_ROWS_CELL_H

#include "base/id_range.h"
#include "base/line.h"
#include "runtime/rows/row_fault.h"
#include "runtime/text/grow.h"

/* CellNumbers: an input that takes numbers.
 *   input      its name, for messages
 *   is_float   f32; else integers of 32 bits
 *   is_along   `width` numbers for each position of a dimension; else `width` in all
 *   ids        which integers the input takes, counted within the cell */
typedef struct CellNumbers {
    const char *input;
    bool is_float, is_along;
    int64_t width;
    IdRanges ids;
} CellNumbers;

/* Numbers between blanks, commas or semicolons; lists may be in brackets, which must match, and
 * each comma stands between two of their elements. 2.0 is an integer, as in JSON (RFC 8259,
 * section 6). */
bool cell_read_numbers(const CellNumbers *numbers, const Line *cell, TokenIds *values,
                       RowFault *fault);
/* Whether the input takes so many numbers; else *fault says how many it takes. */
bool cell_has_width(const CellNumbers *numbers, int64_t n, RowFault *fault);
/* Whether element `element` may be this integer; else *fault says which it may be. */
bool cell_takes_integer(const CellNumbers *numbers, size_t at, int64_t element, int64_t integer,
                        RowFault *fault);

/* CellLabels: an input that takes labels of a list.
 *   input      its name, for messages
 *   is_along   words between blanks, each of which is a label; else the cell is one
 *   n, first   how many labels there are, and the value of the first
 *   find       the number of a label in the list, from 0; -1: it is not there */
typedef struct CellLabels {
    const char *input;
    bool is_along;
    int64_t n;
    int32_t first;
    int32_t (*find)(const void *list, const char *text, size_t length);
    const void *list;
} CellLabels;

bool cell_read_labels(const CellLabels *labels, const Line *cell, TokenIds *values,
                      RowFault *fault);

#endif
