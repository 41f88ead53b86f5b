/* The loops that column kernels and scatter_add share: units of output columns,
 * and inside them everything that is reduced over. */
#ifndef CODEGEN_EMIT_COLUMNS_H
#define CODEGEN_EMIT_COLUMNS_H

#include "codegen/emit/emit.h"

enum { GROUP = 4 }; /* vectors of columns that go through the rows together */

typedef struct ColumnWork ColumnWork;

typedef struct Columns {
    const ColumnWork *work;
    void *data;
    bool folds;          /* the unit is one column, or the last axis is reduced too … */
    bool loops_columns;  /* … and vector is called once a row, to loop over it */
    bool even;           /* every chunk is COLUMN_CHUNK columns */
    LoValue start, end;  /* columns of this unit */
    LoValue first;       /* of this group */
    int n_loops;
    LoLoop loops[MAX_RANK];
    LoIf exists;
    bool guarded;
    bool bound[MAX_RANK];
} Columns;

/* What is done for a group of n vectors of columns: before its rows, in each row
 * (before, for each vector u, after), and after its rows for each vector. Only
 * `begin` and `vector` must be there. */
struct ColumnWork {
    void (*begin)(Emit *e, Columns *c, int n);
    void (*enter)(Emit *e, Columns *c);
    void (*vector)(Emit *e, Columns *c, int u);
    void (*leave)(Emit *e, Columns *c);
    void (*finish)(Emit *e, Columns *c, int u);
    bool single; /* a reduced last axis is looped over like any other */
};

/* The builder's column becomes the group's vector u, masked at the unit's end if
 * it may be partial. */
void column_at(Emit *e, const Columns *c, int u, bool masked);

void columns_run(Emit *e, const ColumnWork *work, void *data);

#endif
