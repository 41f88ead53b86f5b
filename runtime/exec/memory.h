/* Memory of the runtime: zeroed, aligned, in huge pages where it is large. */
#ifndef RUNTIME_EXEC_MEMORY_H
#define RUNTIME_EXEC_MEMORY_H

#include <stdint.h>

/* NULL if it cannot be had. Every page is touched once here, so that none is
 * faulted in during a step. Free with free(). */
void *memory_new(int64_t bytes);

#endif
