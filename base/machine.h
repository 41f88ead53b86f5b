/* This machine's memory, as far as this process may have it, and what it has. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

/* Bytes that can still be had: what the system has free or could free, less where a limit
 * of a control group or of the process (ulimit -v, -d) leaves less. INT64_MAX: unknown. */
int64_t machine_memory_free(void);
int64_t resident_bytes(void);      /* of this process now; 0: unknown */
int64_t peak_resident_bytes(void); /* at most so far */

#endif
