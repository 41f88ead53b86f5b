/* This machine's memory, as far as this process may have it. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

/* Bytes that can still be had: what the system has free or could free, less where a limit
 * of a control group or of the process (ulimit -v, -d) leaves less. INT64_MAX: unknown. */
int64_t machine_memory_free(void);

#endif
