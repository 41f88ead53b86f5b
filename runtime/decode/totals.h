/* Totals: sums of a program's outputs "total.N" (base/functions.h) over the pieces of a batch, or
 * over a whole corpus. Other programs have the sums as inputs (passes/batch_sums.h).
 *
 *   totals_clear(totals);
 *   for each piece: exec_run(counts), totals_take(totals, counts, piece);
 *   totals_finish(totals);
 *   totals_feed(totals, exec);       // before each run of what reads them
 *
 * Pieces are added in their order, in f64, whichever rank computed them. */
#ifndef RUNTIME_DECODE_TOTALS_H
#define RUNTIME_DECODE_TOTALS_H

#include "runtime/exec/exec.h"

typedef struct Totals Totals;

/* Totals for the program's outputs "total.N"; of a program without such outputs they stay empty.
 * `pieces`: the most pieces that are added. The program must outlive them. NULL: memory ran out. */
Totals *totals_new(const TfcProgram *program, int64_t pieces);
void totals_free(Totals *totals); /* NULL is allowed */
void totals_clear(Totals *totals);
/* Adds the outputs of the last run to the numbers of a piece. */
void totals_take(Totals *totals, Exec *exec, int64_t piece);
/* The numbers of all pieces, and at *n how many; those of a piece are 0 until totals_take adds to
 * them. Ranks sum the numbers before totals_finish. */
double *totals_numbers(Totals *totals, int64_t *n);
void totals_finish(Totals *totals);
/* Gives the totals to the executor as inputs, as far as its program has them. The totals are not
 * copied, and change at the next totals_finish. */
void totals_feed(const Totals *totals, Exec *exec);

#endif
