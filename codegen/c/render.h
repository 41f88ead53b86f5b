/* Loop IR as C: GNU C11 as gcc (12 and later) and clang take it, with their vector extensions; or
 * OpenCL C 1.2.
 *
 * Functions are static, except a device's kernels; records are constants. Loads and stores stand in
 * the order of the IR; short arithmetic whose result is used once, in straight-line code, is
 * written where it is used. A muladd is a macro that fuses where the processor can (in OpenCL C:
 * fma); pragmas keep the compiler from fusing anything else. */
#ifndef CODEGEN_C_RENDER_H
#define CODEGEN_C_RENDER_H

#include "base/diag.h"
#include "base/map.h"
#include "codegen/loop/loop.h"

/* CDialect: GNU C, or OpenCL C 1.2 (dialect.c). */
typedef struct CDialect CDialect;
extern const CDialect c_gnu, c_opencl;

/* A name of the IR as a C identifier, in the arena. */
const char *c_name(Arena *arena, const char *name);

/* Appends the functions and records of a module, after all passes, and the types and helpers that
 * they need. Before them GNU C needs stdbool.h, stdint.h, math.h and the declaration of
 * TfcKernelArgs; OpenCL C needs nothing, and takes only kernels for a device (CodeTarget.device).
 * `comments`: name of a function → its comment; NULL: none. False after errors: what the dialect
 * cannot say, such as an op that only one processor has. */
bool c_render(LoModule *module, const CDialect *dialect, const Map *comments, Text *out,
              Diagnostics *diags);

#endif
