/* The loops that column kernels and scatter_add share: units of output columns,
 * and inside them everything that is reduced over. */
#ifndef CODEGEN_EMIT_REGION_COLUMNS_H
#define CODEGEN_EMIT_REGION_COLUMNS_H

#include "codegen/emit/emit.h"

enum { GROUP = 4 }; /* vectors of columns that go through the rows together */

typedef struct ColumnWork ColumnWork;

typedef struct Columns {
    const ColumnWork *work;
    void *data;
    bool folds;         /* the unit is one column, or the last axis is reduced too … */
    bool loops_columns; /* … and add is called once a row, to loop over it */
    bool even;          /* every chunk is COLUMN_CHUNK columns */
    LoValue start, end; /* columns of this unit */
    int n_loops;
    LoLoop loops[MAX_RANK];
    LoIf exists;
    bool guarded;
    bool bound[MAX_RANK];
} Columns;

/* What is done for a column: before its rows, in each row (before, what the column adds, after),
 * and after its rows. Only `begin` and `add` must be there. Columns become lanes (pass
 * vectorise). */
struct ColumnWork {
    void (*begin)(Emit *e, Columns *c);
    void (*enter)(Emit *e, Columns *c);
    void (*add)(Emit *e, Columns *c);
    void (*leave)(Emit *e, Columns *c);
    void (*finish)(Emit *e, Columns *c);
    bool single; /* a reduced last axis is looped over like any other */
};

void columns_run(Emit *e, const ColumnWork *work, void *data);

#endif
