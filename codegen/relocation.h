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
    /* the lower part of the address whose upper part was written, by another relocation, at the
     * symbol */
    TO_PAIR,
    TO_NOTHING
} RelocationTarget;

/* `form`: of relocation.c. */
typedef struct Relocation {
    uint32_t type;
    RelocationTarget target;
    int form;
} Relocation;

enum { STUB_BYTES = 16 };
extern const int relocation_machine; /* EM_X86_64, …; EM_NONE: objects cannot be linked here */

const Relocation *relocation_find(uint32_t type); /* NULL: not one that LLVM's code has */
int relocation_bytes(const Relocation *relocation);
/* Writes the address `to`, absolute or relative, at `at`, which will have the address `place`.
 * False: it is too far. */
bool relocation_apply(const Relocation *relocation, unsigned char *at, uint64_t place, uint64_t to);
/* Writes STUB_BYTES of code at `at` that jump to the address stored at `slot`. False: the slot is
 * too far. */
bool relocation_stub(unsigned char *at, uint64_t slot);

#endif
