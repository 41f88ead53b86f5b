/* The linker: relocatable ELF objects, as LLVM writes them for this machine, into this process.
 *
 * All sections that are loaded lie in one mapping, by what may be done with them: code, constants (also
 * those with addresses in them), data. Behind the code are jumps to functions of the process, which may lie
 * further off than a call reaches, behind the constants the addresses that code reads from a table.
 * Unwinding tables and notes are not loaded. Objects may be damaged: nothing is read beyond them,
 * and what is not understood is an error that names it. */
#ifndef CODEGEN_LINK_H
#define CODEGEN_LINK_H

#include "codegen/object.h"

/* Where the process has what no object defines; NULL: nowhere, or after an error. */
typedef const void *LinkOutside(const char *name, Diagnostics *diags);

typedef struct LinkedCode {
    void *memory;
    size_t size;
} LinkedCode;

/* The address of the symbol, which one of the objects defines; NULL after errors. The code is the
 * caller's (link_free). */
const void *link_objects(const ObjectFile *files, int n, LinkOutside *outside, const char *symbol,
                         LinkedCode *code, Diagnostics *diags);
void link_free(const LinkedCode *code); /* it must not run again; {0} is nothing */

#endif
