/* Memory of the runtime: 64-byte aligned, in huge pages where it is large; and pages of files. */
#ifndef RUNTIME_EXEC_MEMORY_H
#define RUNTIME_EXEC_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory; NULL: memory ran out. Every page is written once here, so that no page fault
 * happens during a step. Free with free(). */
void *memory_new(int64_t bytes);
/* The same with undefined content, for memory that is written before it is read. */
void *memory_raw(int64_t bytes);
/* The same, but no page is written here: the system provides each at its first write. */
void *memory_reserve(int64_t bytes);
/* Finds the mapping [*begin, *end) around an address if it is a file's and not writable, as that of
 * a program's constants is. False: it is not, or /proc/self/maps cannot be read. */
bool memory_find_file(const void *address, const char **begin, const char **end);
/* Gives back the memory of the whole pages in such data; a later read gets them from the file. */
void memory_leave_file(const void *data, int64_t bytes);

#endif
