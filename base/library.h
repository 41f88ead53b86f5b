/* Shared libraries that are loaded when something needs them: starting the program does not pay for them.
 *
 * A library's functions are listed in a file of FUNCTION(name) lines, which the file that loads it includes
 * twice: with LIBRARY_STUB each name becomes a function that jumps to where the library has it, so that
 * calls read as if the program were linked with the library, and one that is not listed does not link;
 * with LIBRARY_ENTRY they are the table that library_load fills. A stub must not be called until that has
 * succeeded. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include "base/diag.h"

typedef struct LibraryFunction {
    const char *name;
    void **address;
} LibraryFunction;

/* Library: where it was when tfc was built, and its name where it is looked for else; `package`: what
 * messages tell to install. */
typedef struct Library {
    const char *path, *name, *package;
    const LibraryFunction *functions;
    int n_functions;
    bool loaded;
} Library;

#if defined(__x86_64__)
#define LIBRARY_JUMP(to) "jmp *" to "(%rip)"
#elif defined(__aarch64__)
#define LIBRARY_JUMP(to) "adrp x16, " to "; ldr x16, [x16, :lo12:" to "]; br x16"
#elif defined(__riscv)
#define LIBRARY_JUMP(to) "ld t1, " to "; jr t1"
#else
#error "tfc computes on x86_64, aarch64 and riscv64"
#endif
#define LIBRARY_STUB(f)                                                                            \
    extern void *library_##f __attribute__((visibility("hidden")));                                \
    void *library_##f;                                                                             \
    __asm__(".text; .balign 16; .globl " #f "; .hidden " #f "; .type " #f ", %function; " #f ": "   \
            LIBRARY_JUMP("library_" #f) "; .size " #f ", .-" #f);
#define LIBRARY_ENTRY(f) {#f, &library_##f},
#define LIBRARY_TABLE(table) .functions = (table), .n_functions = sizeof(table) / sizeof *(table)

/* The path of a module of tfc's own, beside the program or where it is installed; NULL: nowhere. In the arena. */
const char *library_module(Arena *arena, const char *name);
/* Loads it unless it is; it stays for the life of the process. From any thread. False after errors. */
bool library_load(Library *library, Diagnostics *diags);

#endif
