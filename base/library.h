/* Shared libraries that are loaded at their first use, so that starting the program takes no time
 * for them.
 *
 * A library's functions are listed in a file of FUNCTION(name) lines. The C file that loads the
 * library includes this list twice. With LIBRARY_FUNCTION each name becomes a function that jumps
 * to the library's function: calls look as if the program were linked with the library, and a call
 * of a function that is not listed does not link. With LIBRARY_ENTRY the names become the table
 * that library_load fills. None of the functions may be called before library_load has
 * succeeded. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include "base/diag.h"

typedef struct LibraryFunction {
    const char *name;
    void **address;
} LibraryFunction;

/* Library: a shared library to load.
 *   path      where the library was when tfc was built
 *   name      looked for on the system's paths if the library cannot be loaded from `path`
 *   package   Debian's package, which messages name */
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
/* .popsection restores the section. Without it a compiler that keeps definitions in the file's
 * order would put the variables that follow into .text. */
#define LIBRARY_FUNCTION(f)                                                             \
    extern void *library_##f __attribute__((visibility("hidden")));                     \
    void *library_##f;                                                                  \
    __asm__(".pushsection .text; .balign 16; .globl " #f "; .hidden " #f "; .type " #f  \
            ", %function; " #f ": " LIBRARY_JUMP("library_" #f) "; .size " #f ", .-" #f \
                                                                "; .popsection");
#define LIBRARY_ENTRY(f) {#f, &library_##f},
#define LIBRARY_TABLE(table) .functions = (table), .n_functions = sizeof(table) / sizeof *(table)

/* The first of n places, relative to the program's folder, that exists. In the arena; NULL: none
 * does. */
const char *library_beside(Arena *arena, const char *const places[], size_t n);
/* The path of a module of tfc's own: beside the program, where modules are installed, or in the
 * folder above the program's (tests). In the arena; NULL: not found. */
const char *library_module(Arena *arena, const char *name);
/* Loads the library, unless it is loaded already; it stays loaded until the process ends. Any
 * thread may call. False after errors. */
bool library_load(Library *library, Diagnostics *diags);

#endif
