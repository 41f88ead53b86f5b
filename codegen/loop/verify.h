/* The verifier of loop IR: it checks every rule of docs/loop-ir.md. */
#ifndef CODEGEN_LOOP_VERIFY_H
#define CODEGEN_LOOP_VERIFY_H

#include "codegen/loop/loop.h"

/* Reports the ops that break a rule, with the rule and the op's line; after MOST_ERRORS errors ops
 * are no longer checked. False: there are errors. Numbers values (lo_number). */
bool lo_verify(LoModule *module, Diagnostics *diags);

/* ---- inside ---- */

typedef struct LoVerifier {
    LoModule *module;
    Diagnostics *diags;
    Arena *arena;
    int errors_before;
    LoFunction *function;
    const LoOp **visible; /* by id: the value, if it is in scope here; else NULL */
} LoVerifier;

/* Reports that the op breaks a rule; returns false. */
bool lo_broken(LoVerifier *v, const LoOp *op, const char *rule, ...)
    __attribute__((format(printf, 3, 4)));
bool lo_is_seen(const LoVerifier *v, const LoOp *value); /* whether the value is in scope */
/* Checks the rules of this kind of op. The op must already obey the rules of all ops: its operands
 * are in scope, and as many as its row says. */
bool lo_verify_own(LoVerifier *v, const LoOp *op);
/* Checks the loops whose turns are to become vectors or one turn (LoVector), in a block that breaks
 * no other rule. */
void lo_verify_turns(LoVerifier *v, const LoBlock *block);

#endif
