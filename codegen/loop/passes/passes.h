/* Passes over loop IR: each takes a module that obeys the rules (verify.h), and leaves such a
 * module, which computes the same; but vectorise adds in another order, and the functions of
 * expand_math round in another way. passes.def has their order. */
#ifndef CODEGEN_LOOP_PASSES_PASSES_H
#define CODEGEN_LOOP_PASSES_PASSES_H

#include "codegen/loop/loop.h"
#include "codegen/processor.h"

#define PASS(name, help) void lo_##name(LoModule *module, const CodeTarget *target);
#include "codegen/loop/passes/passes.def"

/* Runs strip, which removes builders' seams, and then all passes; values are numbered (lo_number)
 * afterwards. */
void lo_run_passes(LoModule *module, const CodeTarget *target);
/* Runs strip, and then the passes up to `last`; "built": strip alone; NULL: all. False: there is no
 * such pass, and none was run. */
bool lo_run_passes_until(LoModule *module, const CodeTarget *target, const char *last);
/* Runs one pass by its name; false: there is none. */
bool lo_run_pass(LoModule *module, const CodeTarget *target, const char *name);
/* The names in order, and a line of help of each. */
extern const char *const lo_pass_names[], *const lo_pass_help[];
extern const int lo_n_passes;

/* ---- for passes ---- */

/* Whether the op computes a value from its operands alone and cannot trap: it can be moved to any
 * place where its operands are known, and executed there for nothing. */
bool lo_is_pure(const LoOp *op);
/* Replaces each operand that has a LoOp.instead by that. */
void lo_resolve_args(LoOp *op);
/* Marks, by id, the values of a `for` that differ between its turns: its index, the accumulators in
 * its body, and what depends on these. Ids are those of lo_number; `varies` has an entry for
 * each. */
void lo_mark_varying(const LoOp *loop, bool *varies);

#endif
