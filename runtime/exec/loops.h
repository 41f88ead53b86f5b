/* Loops over rows (TfcLoop) inside an Exec. */
#ifndef RUNTIME_EXEC_LOOPS_H
#define RUNTIME_EXEC_LOOPS_H

#include "runtime/exec/state.h"

/* Allocates room for the sums over a chunk; after the steps were bound. False: memory ran out. */
bool loops_bind(Exec *exec);
/* Points the steps of loop l at the rows [begin, begin + rows). */
void loop_begin(Exec *exec, int32_t l, int64_t begin, int64_t rows);
/* After step s of a loop: adds the chunk's sums to those of the chunks before. Does nothing for the
 * first chunk, and for steps that do not sum over rows. */
void loop_sum(Exec *exec, int32_t s);

#endif
