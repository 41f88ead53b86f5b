/* Loop IR as C: GNU C11 as gcc (12 and later) and clang take it, vectors by their vector
 * extensions.
 *
 * Functions are static, records are constants. Loads and stores stand in the order of the IR;
 * arithmetic that is used once is written where it is used. A muladd is a macro, fused where the
 * processor can; pragmas keep the compiler from fusing anything else. */
#ifndef CODEGEN_C_RENDER_H
#define CODEGEN_C_RENDER_H

#include "base/diag.h"
#include "base/map.h"
#include "codegen/loop/loop.h"

/* GNU C, or OpenCL C 1.2 (dialect.c). */
typedef struct CDialect CDialect;
extern const CDialect c_gnu, c_opencl;

/* A name of the IR as C can say it, in the arena. */
const char *c_name(Arena *arena, const char *name);

/* Writes what the types of a module after all passes need, its functions and its records. Before
 * them GNU C needs stdbool.h, stdint.h, math.h and the declaration of TfcKernelArgs; OpenCL C needs
 * nothing, and takes kernels for a device alone (CodeTarget.device). A function's
 * comment is what `comments` has under its name, if anything. False after errors: an op that only
 * one processor has. */
bool c_render(LoModule *module, const CDialect *dialect, const Map *comments, Text *out,
              Diagnostics *diags);

#endif
