/* Relocations of this machine's architecture: how an address is written into code. */
#ifndef CODEGEN_RELOCATION_H
#define CODEGEN_RELOCATION_H

#include <stdbool.h>
#include <stdint.h>

/* RelocationTarget: the address that is written. */
typedef enum RelocationTarget {
    TO_SYMBOL, /* the symbol's */
    TO_CALLED, /* the symbol's, or, if no object defines it, that of a jump to it */
    TO_SLOT,   /* of the table's entry with the symbol's address */
    /* that of another relocation, which stands at the symbol and writes the upper part; this one
     * writes the lower part */
    TO_PAIR,
    TO_NOTHING /* nothing is written */
} RelocationTarget;

/* `form`: how it is written, a constant of relocation.c. */
typedef struct Relocation {
    uint32_t type;
    RelocationTarget target;
    int form;
} Relocation;

enum { STUB_BYTES = 16 };
extern const int relocation_machine; /* EM_X86_64, …; EM_NONE: objects cannot be linked here */

const Relocation *relocation_find(uint32_t type);   /* NULL: not one that LLVM's code has */
int relocation_bytes(const Relocation *relocation); /* how many it writes */
/* Writes the address `to` at `at`, absolute or as the distance from `place`: the address that `at`
 * will have, or of TO_PAIR that of the other relocation. False: it is too far, or misaligned. */
bool relocation_apply(const Relocation *relocation, unsigned char *at, uint64_t place, uint64_t to);
/* Writes at most STUB_BYTES of code at `at` that jump to the address stored at `slot`. False: the
 * slot is too far. */
bool relocation_stub(unsigned char *at, uint64_t slot);

#endif
