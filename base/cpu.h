/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* Its level among its architecture's: on x86-64 N of the highest x86-64-vN whose
 * instructions it has (the x86-64 psABI); on AArch64 the bits of SVE's registers, 0 without
 * it; 0 elsewhere. */
int cpu_level(void);
/* Whether it multiplies bf16 in AMX's tile registers and the system, which is asked for
 * them, lets this process and threads to come use them. */
bool cpu_allows_amx(void);

#endif
