/* The sides of a row of a corpus: its source, its target and the further ragged dimensions of its
 * columns (column.h). */
#ifndef RUNTIME_DATA_SIDES_H
#define RUNTIME_DATA_SIDES_H

#include <stdint.h>

enum { SIDE_SOURCE, SIDE_TARGET, MOST_SIDES = 8, MOST_COLUMNS = 16, MOST_SIDE_TERMS = 4 };

/* SideFormula: a side whose length is made of those of others (ir/type.h, DimFormula). n 0: it has
 * a length of its own. */
typedef struct SideFormula {
    const char *dim; /* the dimension's name */
    int n;
    struct {
        int side;
        int64_t times;
    } terms[MOST_SIDE_TERMS];
    int64_t plus, divisor;
} SideFormula;

#endif
