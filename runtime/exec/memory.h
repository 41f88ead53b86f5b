/* Memory of the runtime: aligned, in huge pages where it is large; and pages of files. */
#ifndef RUNTIME_EXEC_MEMORY_H
#define RUNTIME_EXEC_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Memory with zeros; NULL: memory ran out. Every page is written once here, so that no page fault
 * happens during a step. Free with free(). */
void *memory_new(int64_t bytes);
/* The same with undefined content, for memory that is written before it is read. */
void *memory_raw(int64_t bytes);
/* The same, whose pages come as they are written. */
void *memory_reserve(int64_t bytes);
/* The pages around an address that are a file's, mapped and never written, as the constants of a
 * program are. False: they are others, or the system does not tell. */
bool memory_find_file(const void *address, const char **begin, const char **end);
/* Takes no more memory for such pages, until they are read again. */
void memory_leave_file(const void *data, int64_t bytes);

#endif
