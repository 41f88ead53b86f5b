/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* Its level among its architecture's: on x86-64 N of the highest x86-64-vN whose
 * instructions it has (the x86-64 psABI); on AArch64 the bits of SVE's registers, 0 without
 * it; 0 elsewhere. */
int cpu_level(void);
/* Whether the processor multiplies bf16 by AMX and the system allows it to this process. The call
 * asks the system, for threads that are started later, too. */
bool cpu_allows_amx(void);

struct Sha256;
/* Adds what names and extensions of the processor follow from, the same on all of its cores. (cpu_words.c) */
void cpu_add_words(struct Sha256 *sha);

#endif
