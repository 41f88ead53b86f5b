/* Memory in which a thread packs the operands of its products. */
#ifndef RUNTIME_EXEC_WORKSPACE_H
#define RUNTIME_EXEC_WORKSPACE_H

/* TFC_GEMM_WORKSPACE bytes of the calling thread's own, page-aligned. */
void *workspace_here(void);

#endif
