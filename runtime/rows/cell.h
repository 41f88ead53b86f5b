/* Cells: fields of records as text, and the values that an input of a model gets of them. The
 * commands of tfc and compiled libraries read cells by these functions alone, so that what one
 * accepts the other does.
 *
 * A value has 32 bits: an integer, or the bits of a float. The functions append values, and return
 * false with the reason in *fault; what was appended by then stays. */
#ifndef RUNTIME_ROWS_CELL_H
#define RUNTIME_ROWS_CELL_H

#include "runtime/rows/row_column.h"

/* Appends the values of a cell. Numbers stand between blanks, commas or semicolons; lists of them
 * may be in brackets, which must match, and each comma stands between two of their elements; 2.0 is
 * an integer, as in JSON (RFC 8259, section 6). tokenizer, own: of a text, as text_frame_encode has
 * them; else they are not read. */
bool cell_read(const RowColumn *column, const Tokenizer *tokenizer, const Line *cell,
               TokenIds *values, size_t *own, RowFault *fault);
/* The next label of a cell from byte *at on, which begins as 0, and what is behind it; false: there
 * is no more. A cell that is one label has one, though it may be empty. */
bool cell_next_label(LabelMarks marks, const Line *cell, size_t *at, Line *label);
/* The value of an input whose values may be missing. */
float cell_float(const RowColumn *column, float number, bool is_missing);
/* Whether the input takes so many numbers; else *fault says how many it takes. */
bool cell_has_width(const RowColumn *column, int64_t n, RowFault *fault);
/* Whether element `element` may be this integer; else *fault says which it may be. */
bool cell_takes_integer(const RowColumn *column, size_t at, int64_t element, int64_t integer,
                        RowFault *fault);

#endif
