/* Inside ir_verify.
 *
 *   verify.c      modules and functions; messages; the values defined so far
 *   operands.c    types, attributes, operands, results, uses
 *   place.c       what may stand where, and regions */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/graph.h"

/* A defined value, and the region whose body defines it (NULL: the function's body). */
typedef struct Definition {
    const Value *value;
    const Op *region;
} Definition;

typedef struct Verifier {
    const Module *module;
    const Function *function;
    const Op *region; /* whose body is being checked; NULL: the function's */
    Arena *arena;     /* for this check only */
    Diagnostics *diags;
    Definition *defined; /* open addressing by address */
    size_t n_defined, n_slots;
    /* operands of the ops in the function's body; entries in the lists of uses of its values */
    size_t n_operands, n_uses;
    Map inputs, outputs; /* names so far */
} Verifier;

/* ---- verify.c ---- */
/* Reports the message at the op, with a note that shows the op and its function; returns false. */
bool verify_fail(Verifier *v, const Op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the note of verify_fail to a message that was just given. */
void verify_note(Verifier *v, const Op *op);
const char *verify_type_text(Verifier *v, const Type *type);
/* Whether an op of the body being checked may read the value: the value is defined there, or
 * before it in the function's body. */
bool verify_visible(const Verifier *v, const Value *value);
/* The region whose body defines the value, which must be defined; NULL: the function's body. */
const Op *verify_region_of(const Verifier *v, const Value *value);
bool verify_block(Verifier *v, const Block *block);

/* ---- operands.c ---- */
/* What is wrong with a type; NULL: nothing. */
const char *verify_type(const Module *module, const Type *type);
bool verify_attrs(Verifier *v, const Op *op);
bool verify_operands(Verifier *v, const Op *op);
bool verify_results(Verifier *v, const Op *op);
bool verify_uses(Verifier *v, const Op *op);
/* Compares the stated type with the inferred one. */
bool verify_inferred(Verifier *v, const Op *op);

/* ---- place.c ---- */
/* Where a table that is packed stands. */
bool verify_table(Verifier *v, const Op *gather);
bool verify_place(Verifier *v, const Op *op);
bool verify_region(Verifier *v, const Op *op);
bool verify_reduction(Verifier *v, const Op *op);

#endif
