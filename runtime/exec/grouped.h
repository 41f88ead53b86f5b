/* Products whose rows, or terms, an index groups (TfcGroups): the rows of each group are found by a
 * counting sort, in ascending order, and each group is a product of its own, cut into blocks. */
#ifndef RUNTIME_EXEC_GROUPED_H
#define RUNTIME_EXEC_GROUPED_H

#include "base/team.h"
#include "runtime/exec/gemm_tasks.h"

/* Makes room for the groups of any index, and sets n_tasks to the most tasks there can be; false:
 * memory ran out. */
bool grouped_bind(BoundGemm *bound);
void grouped_run(const BoundGemm *bound, void *const *buffers, Team *team);

#endif
