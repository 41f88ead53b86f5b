/* Totals: sums over a batch, or over a whole corpus, of what a program gives for each piece of it: its outputs
 * "total.N" (base/functions.h), which other programs have as inputs (passes/batch_sums.h).
 *
 *   totals_clear(totals);
 *   for each piece: exec_run(counts), totals_take(totals, counts, piece);
 *   totals_finish(totals);
 *   totals_feed(totals, exec);       // before each run of what reads them
 *
 * Pieces are added in their order, in f64, whoever computed them. */
#ifndef RUNTIME_DECODE_TOTALS_H
#define RUNTIME_DECODE_TOTALS_H

#include "runtime/exec/exec.h"

typedef struct Totals Totals;

/* Totals of the program's outputs of that name, if it has any. `pieces`: the most that are added. NULL: out of memory. */
Totals *totals_new(const TfcProgram *program, int64_t pieces);
void totals_free(Totals *totals); /* NULL is allowed */
void totals_clear(Totals *totals);
/* Adds the outputs of the last run to a piece's. */
void totals_take(Totals *totals, Exec *exec, int64_t piece);
/* All pieces' numbers, how many at *n: 0 where nothing was taken. Ranks add theirs before totals_finish. */
double *totals_numbers(Totals *totals, int64_t *n);
void totals_finish(Totals *totals);
/* They become inputs of the executor, where it has them, until they are finished anew. */
void totals_feed(const Totals *totals, Exec *exec);

#endif
