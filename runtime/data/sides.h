/* The sides of a row of a corpus: its source, its target and the further ragged dimensions of its
 * columns (column.h). */
#ifndef RUNTIME_DATA_SIDES_H
#define RUNTIME_DATA_SIDES_H

enum { SIDE_SOURCE, SIDE_TARGET, MOST_SIDES = 8, MOST_COLUMNS = 16 };

#endif
