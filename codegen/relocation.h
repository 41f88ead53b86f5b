/* Relocations of this machine's architecture: how an address is written into code. */
#ifndef CODEGEN_RELOCATION_H
#define CODEGEN_RELOCATION_H

#include <stdbool.h>
#include <stdint.h>

/* What is written: the symbol's address; the same or, of what the objects do not define, that of a jump to
 * it; that of the place in the table that holds its address; the lower part of what the instruction at the
 * symbol got the upper part of, by a relocation of its own; nothing. */
typedef enum RelocationTarget { TO_SYMBOL, TO_CALLED, TO_SLOT, TO_PAIR, TO_NOTHING } RelocationTarget;

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
/* Writes the way to `to` at `at`, which will be at the address `place`. False: it is too far. */
bool relocation_apply(const Relocation *relocation, unsigned char *at, uint64_t place, uint64_t to);
/* Writes STUB_BYTES of code at `at` that jump to the address in `slot`. False: that is too far. */
bool relocation_stub(unsigned char *at, uint64_t slot);

#endif
