/* Passes over loop IR: each takes a module that obeys the rules (verify.h), and leaves one that
 * computes the same. passes.def has their order. */
#ifndef CODEGEN_LOOP_PASSES_PASSES_H
#define CODEGEN_LOOP_PASSES_PASSES_H

#include "codegen/loop/loop.h"
#include "codegen/processor.h"

#define PASS(name, help) void lo_##name(LoModule *module, const CodeTarget *target);
#include "codegen/loop/passes/passes.def"

/* Runs strip, for builders' seams, and then all passes; values are numbered afterwards. */
void lo_run_passes(LoModule *module, const CodeTarget *target);
/* The same up to the pass `last`; "built": strip alone; NULL: all. False: there is no such pass. */
bool lo_run_passes_until(LoModule *module, const CodeTarget *target, const char *last);
/* Runs one pass by its name; false: there is none. */
bool lo_run_pass(LoModule *module, const CodeTarget *target, const char *name);
/* The names in order, and a line of help of each. */
extern const char *const lo_pass_names[], *const lo_pass_help[];
extern const int lo_n_passes;

/* ---- for passes ---- */

/* Whether the op computes a value from its operands alone: it can stand wherever these are known,
 * executed or not. */
bool lo_is_pure(const LoOp *op);
/* Makes operands that were replaced (LoOp.instead) what replaces them. */
void lo_resolve_args(LoOp *op);
/* Marks, by id, the values of a `for` that differ between its turns: its index, what depends on it,
 * and accumulators. Ids are those of lo_number; `varies` has an entry for each. */
void lo_mark_varying(const LoOp *loop, bool *varies);

#endif
