/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* Its level among its architecture's: on x86-64 N of the highest x86-64-vN whose
 * instructions it has (the x86-64 psABI); on AArch64 the bits of SVE's registers, 0 without
 * it; 0 elsewhere. */
int cpu_level(void);
/* Whether the processor multiplies bf16 by AMX and the system allows it to this process. The call
 * asks the system for this permission; threads that start later have it, too. */
bool cpu_allows_amx(void);

struct Sha256;
/* Adds the words from which the processor's name and extensions follow; they are the same on all
 * cores. (cpu_words.c) */
void cpu_add_words(struct Sha256 *sha);

#endif
