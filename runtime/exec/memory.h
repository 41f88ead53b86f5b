/* Memory of the runtime: aligned, in huge pages where it is large. */
#ifndef RUNTIME_EXEC_MEMORY_H
#define RUNTIME_EXEC_MEMORY_H

#include <stdint.h>

/* Memory with zeros; NULL: memory ran out. Every page is written once here, so that no page fault
 * happens during a step. Free with free(). */
void *memory_new(int64_t bytes);
/* The same with undefined content, for memory that is written before it is read. */
void *memory_raw(int64_t bytes);

#endif
