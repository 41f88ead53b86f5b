/* Inside ir_verify.
 *
 *   verify.c      modules and functions; messages; the values defined so far
 *   operands.c    types, attributes, operands, results, uses
 *   place.c       what may stand where, and regions */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/graph.h"

/* A defined value, with the region that has it in its body (NULL: the function). */
typedef struct Definition {
    const Value *value;
    const Op *region;
} Definition;

typedef struct Verifier {
    const Module *module;
    const Function *function;
    const Op *region; /* whose body is being checked */
    Arena *arena;     /* for this check only */
    Diagnostics *diags;
    Definition *defined; /* open addressing by address */
    size_t n_defined, n_slots;
    size_t n_operands, n_uses; /* of ops of the function's body; listed by values */
    Map inputs, outputs;       /* names so far */
} Verifier;

/* ---- verify.c ---- */
/* The message, then the op in its function; false. */
bool verify_fail(Verifier *v, const Op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The op in its function, under a message just given */
void verify_note(Verifier *v, const Op *op);
const char *verify_type_text(Verifier *v, const Type *type);
/* Whether an op here may read the value. */
bool verify_visible(const Verifier *v, const Value *value);
/* The region that has a defined value in its body; NULL: the function. */
const Op *verify_region_of(const Verifier *v, const Value *value);
bool verify_block(Verifier *v, const Block *block);

/* ---- operands.c ---- */
/* NULL, or what is wrong. */
const char *verify_type(const Module *module, const Type *type);
bool verify_attrs(Verifier *v, const Op *op);
bool verify_operands(Verifier *v, const Op *op);
bool verify_results(Verifier *v, const Op *op);
bool verify_uses(Verifier *v, const Op *op);
/* The stated type against the inferred one. */
bool verify_inferred(Verifier *v, const Op *op);

/* ---- place.c ---- */
bool verify_place(Verifier *v, const Op *op);
bool verify_region(Verifier *v, const Op *op);
bool verify_reduction(Verifier *v, const Op *op);

#endif
