/* Inside derive_incremental.
 *
 *   incremental.c  what is asked for; where values come from; the encoder cut out
 *   step.c         the value wanted for its roles: leaves, memory, caches, or built by its op
 *   ops.c          ops over operands that are built for the roles they need
 *   shortlist.c    derive_shortlist
 *
 * The role of a target dimension T in decode_step: Q (the newest tokens) or P (all so far). */
#ifndef PASSES_INCREMENTAL_INCREMENTAL_H
#define PASSES_INCREMENTAL_INCREMENTAL_H

#include "ir/builder.h"
#include "ir/side.h"

typedef enum DimRole { ROLE_Q = 'Q', ROLE_P = 'P' } DimRole;
typedef struct Roles {
    char of[MAX_RANK]; /* 0 for dimensions other than T */
} Roles;

/* What is known of a value of the forward. */
typedef struct Origin {
    bool target, other; /* comes from the target's tokens; from another input */
    bool length;        /* it or what it is computed from has a dimension T or reads T's size */
    int n_built;
    struct {
        Roles roles;
        Value *value;
    } built[8];
    Value *memory; /* as an input of decode_step */
} Origin;

typedef struct Step {
    Module *module;
    Diagnostics *diags;
    Function *forward, *encode, *step;
    SideTable origins; /* value of the forward → its Origin */
    Builder b;
    int batch, time, q, p; /* the symbols B, T, Q, P */
    int n_memory, n_caches;
    bool failed;
} Step;

static inline Origin *origin(const Step *s, const Value *v)
{
    return side_of_value(&s->origins, v);
}

/* ---- step.c ---- */
/* The value in decode_step with its target dimensions in these roles; NULL after a message. */
Value *build_step(Step *s, Value *v, Roles roles);
/* Reports, once, that the op cannot be computed a position at a time; NULL. */
Value *refuse(Step *s, const Op *op, const char *why);
Dim as_step_dim(const Step *s, Dim dim, char role);
/* Whether the value in decode_step has the batch in front, which the forward's lacks. */
static inline bool is_lifted(const Value *v, const Value *built)
{
    return built->type.rank > v->type.rank;
}

/* ---- incremental.c ---- */
/* The symbol of that name and batch, which is added if there is none; if another symbol has the
 * name, its name ends with '. */
int named_symbol(Module *module, const char *name, int batch);

/* ---- ops.c ---- */
/* The op's result in decode_step, for these roles; NULL after a message. */
Value *build_elementwise(Step *s, Op *op, Roles roles);
Value *build_along_rows(Step *s, Op *op, Roles roles); /* reductions and the like */
Value *build_shape(Step *s, Op *op, Roles roles);
Value *build_contraction(Step *s, Op *op, Roles roles);
Value *build_lookup(Step *s, Op *op, Roles roles); /* gather */

#endif
