/* Memory of the runtime: aligned, in huge pages where it is large. */
#ifndef RUNTIME_EXEC_MEMORY_H
#define RUNTIME_EXEC_MEMORY_H

#include <stdint.h>

/* Zeros; NULL if it cannot be had. Every page is touched once here, so that none is
 * faulted in during a step. Free with free(). */
void *memory_new(int64_t bytes);
/* The same with anything in it, for what is written before it is read. */
void *memory_raw(int64_t bytes);

#endif
