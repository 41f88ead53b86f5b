/* Memory in which a thread packs the operands of its products. */
#ifndef RUNTIME_EXEC_WORKSPACE_H
#define RUNTIME_EXEC_WORKSPACE_H

#include <stdbool.h>

/* TFC_GEMM_WORKSPACE bytes of the calling thread's own, page-aligned. NULL: out of memory.
 * Once a thread has it, it keeps it. */
void *workspace_here(void);
bool workspace_ready(void); /* the same as an answer, for team_open */

#endif
