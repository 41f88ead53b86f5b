/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* N of the highest x86-64-vN whose instructions it has (the levels of the x86-64
 * psABI), 1 for the first; 0 where the processor is of another kind. */
int cpu_level(void);
/* Whether it multiplies bf16 in AMX's tile registers and the system, which is asked for
 * them, lets this process and threads to come use them. */
bool cpu_allows_amx(void);

#endif
