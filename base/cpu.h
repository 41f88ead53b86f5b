/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* The processor's level: on x86-64 N of the highest x86-64-vN whose instructions it has (the
 * x86-64 psABI); on AArch64 the bits of an SVE register, 0 without SVE; elsewhere 0. */
int cpu_level(void);
/* Whether the processor multiplies bf16 by AMX and the system lets this process use AMX. The call
 * asks the system for this permission; threads that start later have it, too. */
bool cpu_allows_amx(void);

struct Sha256;
/* Adds to the hash what identifies the processor: its name and extensions, which are the same on
 * all cores. (cpu_words.c) */
void cpu_add_words(struct Sha256 *sha);

#endif
