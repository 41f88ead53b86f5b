/* The linker: loads relocatable ELF objects, as LLVM writes them for this machine, into this
 * process.
 *
 * All loaded sections are in one mapping, grouped by access: code, constants (also constants with
 * addresses in them), data. After the code there are jumps to functions of the process, which may
 * be further away than a call reaches; after the constants there is a table of addresses that code
 * reads. Unwinding tables, notes and sections that need no memory (of debuggers) are not loaded.
 * Objects may be damaged: nothing is read beyond their end, and the error says what is wrong. */
#ifndef CODEGEN_LINK_H
#define CODEGEN_LINK_H

#include "codegen/object.h"

/* Returns the address in the process of a symbol that no object defines; NULL: there is none, or
 * after an error. */
typedef const void *LinkOutside(const char *name, Diagnostics *diags);

typedef struct LinkedCode {
    void *memory;
    size_t size;
} LinkedCode;

/* If this environment variable is set, linked functions are added to perf's map
 * (/tmp/perf-PID.map), so that `perf report` names kernels; a map that cannot be written is a
 * warning. */
#define LINK_PERF_MAP "TFC_PERF_MAP"

/* Links objects, and returns the address of a symbol that one of them defines. The caller owns
 * *code and frees it by link_free. NULL after errors: *code is {0}. */
const void *link_objects(const ObjectFile *files, int n, LinkOutside *outside, const char *symbol,
                         LinkedCode *code, Diagnostics *diags);
void link_free(const LinkedCode *code); /* the code must not run again; {0} is allowed */

#endif
