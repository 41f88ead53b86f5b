/* Functions of f64 as ops of loop IR, for pass expand_math: base/portable_math.def, which the host
 * computes, too, op for op. */
#ifndef CODEGEN_LOOP_PASSES_EXPAND_F64_H
#define CODEGEN_LOOP_PASSES_EXPAND_F64_H

#include "codegen/loop/build.h"

/* The function of the C library of this name, of f64 operands; NULL: there is none here. */
LoValue lo_expand_f64(Lo *lo, const char *name, LoValue const *x);
/* x^y of f32: computed in f64 and rounded once. */
LoValue lo_pow_f32(Lo *lo, LoValue x, LoValue y);
/* a·b + x of f32 or f64 rounded once, without fused multiply-add. */
LoValue lo_exact_muladd(Lo *lo, LoValue a, LoValue b, LoValue x);

#endif
