/* Memory: what this process can still have, and what it has. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include "base/text.h"

/* Bytes that this process can still have: the least of what the system has free or could free, and
 * of what limits of control groups and of the process (ulimit -v, -d) leave. What cannot be read
 * sets no limit; INT64_MAX: nothing does. */
int64_t machine_memory_free(void);
/* The same by the limits of the process alone. */
int64_t machine_limits_free(void);
/* Appends "this process has 1.2 GB, and 300 MB more can be had", for messages. */
void machine_memory_put(Text *out);
int64_t resident_bytes(void);      /* of this process now; 0: unknown */
int64_t peak_resident_bytes(void); /* the most so far; 0: unknown */

#endif
