/* Every rule of loop IR, which docs/loop-ir.md states. */
#ifndef CODEGEN_LOOP_VERIFY_H
#define CODEGEN_LOOP_VERIFY_H

#include "codegen/loop/loop.h"

/* Reports each op that breaks a rule, with the rule and the op's line; numbers values. */
bool lo_verify(LoModule *module, Diagnostics *diags);

/* ---- inside ---- */

typedef struct LoVerifier {
    LoModule *module;
    Diagnostics *diags;
    Arena *arena;
    int errors_before;
    LoFunction *function;
    const LoOp **visible; /* by id: the values that are seen here */
} LoVerifier;

/* Reports that the op breaks a rule; false. */
bool lo_broken(LoVerifier *v, const LoOp *op, const char *rule, ...)
    __attribute__((format(printf, 3, 4)));
bool lo_is_seen(const LoVerifier *v, const LoOp *value);
/* The rules of its own that the op has, of types and of blocks. Its operands are defined, and as
 * many as its row says. */
bool lo_verify_own(LoVerifier *v, const LoOp *op);
/* The rules of loops in a block without other mistakes that are to become vectors. */
void lo_verify_turns(LoVerifier *v, const LoBlock *block);

#endif
