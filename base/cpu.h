/* This machine's processor. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdbool.h>

/* The processor's level: on x86-64 the largest N of 1 to 4 for which it has the instructions of
 * x86-64-vN (the x86-64 psABI); on AArch64 with Linux the bits of an SVE register, 0 without SVE;
 * elsewhere 0. */
int cpu_level(void);
/* Whether the processor multiplies bf16 by AMX and the system lets this process use AMX; false
 * except on x86-64 with Linux. The call asks the system for this permission; threads that start
 * later have it, too. */
bool cpu_allows_amx(void);

/* Whether the processor has AArch64's dot products of bytes (sdot); false elsewhere. */
bool cpu_has_dots(void);

struct Sha256;
/* Adds to the hash what identifies the processor: its name and extensions. On x86-64 these are the
 * parts that are the same on all cores, elsewhere the lines of every core too. (cpu_words.c) */
void cpu_add_words(struct Sha256 *sha);

#endif
