/* Relocations of this machine's architecture: how an address is written into code. */
#ifndef CODEGEN_RELOCATION_H
#define CODEGEN_RELOCATION_H

#include <stdbool.h>
#include <stdint.h>

/* RelocationTarget: the address that is written. */
typedef enum RelocationTarget {
    TO_SYMBOL, /* the symbol's */
    TO_CALLED, /* the symbol's, or, if no object defines the symbol, that of a jump to it */
    TO_SLOT,   /* that of the entry of the table (link.h) that has the symbol's address */
    /* that of another relocation, which stands at the symbol and writes the upper part of the
     * address; this one writes the lower part */
    TO_PAIR,
    TO_NOTHING /* nothing is written */
} RelocationTarget;

/* `form`: how the address is written, a constant of relocation.c. */
typedef struct Relocation {
    uint32_t type;
    RelocationTarget target;
    int form;
} Relocation;

enum { STUB_BYTES = 16 };
extern const int relocation_machine; /* EM_X86_64, …; EM_NONE: objects cannot be linked here */

const Relocation *relocation_find(uint32_t type);   /* NULL: the type is not known */
int relocation_bytes(const Relocation *relocation); /* that it writes */
/* Writes the address `to` at `at`, absolute or as the distance from `place`: the address of `at`,
 * or with TO_PAIR that of the other relocation; with TO_NOTHING, nothing. False: `to` is too far
 * away, or misaligned. */
bool relocation_apply(const Relocation *relocation, unsigned char *at, uint64_t place, uint64_t to);
/* Writes at most STUB_BYTES of code at `at` that jump to the address stored at `slot`. False: the
 * slot is too far. */
bool relocation_stub(unsigned char *at, uint64_t slot);

#endif
