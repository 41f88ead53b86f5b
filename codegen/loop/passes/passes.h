/* Passes over loop IR: each takes a module as builders left it, and leaves a module that means the
 * same. passes.def has their order. */
#ifndef CODEGEN_LOOP_PASSES_PASSES_H
#define CODEGEN_LOOP_PASSES_PASSES_H

#include "codegen/loop/loop.h"
#include "codegen/processor.h"

#define PASS(name, help) void lo_##name(LoModule *module, const CodeTarget *target);
#include "codegen/loop/passes/passes.def"

/* All of them; values are numbered afterwards. */
void lo_run_passes(LoModule *module, const CodeTarget *target);
/* … up to this one; "built": none. NULL: all. False: there is no such pass. */
bool lo_run_passes_until(LoModule *module, const CodeTarget *target, const char *last);
/* One by its name; false: there is none. */
bool lo_run_pass(LoModule *module, const CodeTarget *target, const char *name);
/* The names in order, and a line of help of each. */
extern const char *const lo_pass_names[], *const lo_pass_help[];
extern const int lo_n_passes;

/* ---- for passes ---- */

/* Whether the op computes a value from its operands alone: it can stand wherever these are known,
 * executed or not. */
bool lo_is_pure(const LoOp *op);
/* Operands that were replaced (LoOp.instead) become what replaces them. */
void lo_resolve_args(LoOp *op);
/* Marks, by id, the values of a `for` that differ between its turns: its index, what depends on it,
 * and accumulators. Ids are those of lo_number; `varies` has one more than there are. */
void lo_mark_varying(const LoOp *loop, bool *varies);

#endif
