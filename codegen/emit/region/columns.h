/* The loops that column kernels and scatter_add share: units of output columns,
 * and inside them everything that is reduced over. */
#ifndef CODEGEN_EMIT_REGION_COLUMNS_H
#define CODEGEN_EMIT_REGION_COLUMNS_H

#include "codegen/emit/emit.h"

enum { GROUP = 4 }; /* vectors of columns that go through the rows together, at most */

typedef struct ColumnWork ColumnWork;

typedef struct Columns {
    const ColumnWork *work;
    void *data;
    bool folds;         /* the unit is one column, or the last axis is reduced, too */
    bool loops_columns; /* `add` is called once a row, and loops over the last axis */
    bool even;          /* every chunk has COLUMN_CHUNK columns */
    LoValue start, end; /* columns of this unit */
    int n_loops;
    LoLoop loops[MAX_RANK * (SUM_LEVELS + 1)];
    LoValue *outer[MAX_RANK * (SUM_LEVELS + 1)]; /* by loop: see sum_enter; NULL: no block */
    LoIf exists;
    bool guarded;
    bool bound[MAX_RANK];
} Columns;

/* ColumnWork: `sums`, the accumulators whose rows are added block by block, and functions that
 * build what is done for a column: `begin` before its rows; `enter`, `add` (if the row has the
 * column) and `leave` in each row; `finish` after its rows. Only `begin` and `add` must not be
 * NULL.
 * Columns become lanes (pass vectorise), unless Columns.folds. */
struct ColumnWork {
    SumSlots *sums; /* or NULL: rows come one after the other */
    void (*begin)(Emit *e, Columns *c);
    void (*enter)(Emit *e, Columns *c);
    void (*add)(Emit *e, Columns *c);
    void (*leave)(Emit *e, Columns *c);
    void (*finish)(Emit *e, Columns *c);
    bool single; /* a reduced last axis is looped over like any other */
    bool apart;  /* `add` has conditions that differ between columns */
};

/* Builds the loops over the call's units; `data` is handed on as Columns.data. */
void columns_run(Emit *e, const ColumnWork *work, void *data);

#endif
