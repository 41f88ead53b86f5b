/* The sides of a row of a corpus: its source, its target and the further ragged dimensions of its
 * columns (column.h). */
#ifndef RUNTIME_DATA_SIDES_H
#define RUNTIME_DATA_SIDES_H

#include "base/dim_formula.h"

enum {
    SIDE_SOURCE,
    SIDE_TARGET,
    FIRST_COLUMN, /* of what a row has, in order: source, target, columns */
    MOST_SIDES = 8,
    MOST_COLUMNS = 16,
    MOST_VALUES = FIRST_COLUMN + MOST_COLUMNS
};

/* SideFormula: a side whose length is made of those of others, whose terms are sides; -1: none, of
 * length 0. n 0: it has a length of its own. */
typedef struct SideFormula {
    const char *dim; /* the dimension's name */
    DimFormula formula;
    /* the most positions that the model has along a side that joins texts of several others, which
     * are then cut together, the longest first; 0: it joins none */
    int64_t joined;
} SideFormula;

#endif
