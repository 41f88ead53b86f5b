/* What a kernel with reductions along its columns computes in which sweep.
 *
 * The level of a value is the number of sweeps that must be over before it can be
 * computed; a reduction is done in the sweep of its operand's level. What several
 * sweeps need is computed again if that is cheap or there is no room to save it; else the first of
 * them saves it. */
#ifndef CODEGEN_EMIT_REGION_SWEEPS_H
#define CODEGEN_EMIT_REGION_SWEEPS_H

#include "codegen/emit/emit.h"

typedef struct SweepPlan {
    int n_sweeps;
    int *level;     /* by value number */
    bool *columnar; /* varies along the columns */
    int *sweep;     /* with may_save: 1 + the last sweep that computes the value; 0: none */
    bool *saved;    /* the value's row is saved for later sweeps */
    int *saved_in;  /* the sweep that saves the row */
} SweepPlan;

/* The plan of e's body, in e's arena. `may_save`: there is room to save rows of values. `ready`: by
 * value number, whether the value is known before the first sweep though its operands are not;
 * NULL: no value is. */
SweepPlan plan_sweeps(Emit *e, bool may_save, const bool *ready);

const Op *sweep_op(const Emit *e, int number); /* the value's op; NULL: an operand of the kernel */
const Type *sweep_type(const Emit *e, int number);
int sweep_yield(const Emit *e, int result); /* the number of the value that is the result */
/* Whether the op is a reduction whose operand has the level `sweep`, along any number of columns,
 * one included. */
bool sweep_reduces_any(const Emit *e, const SweepPlan *plan, int sweep, const Op *op);
/* Whether it is such a reduction along several columns, which is done in the sweep's loop. */
bool sweep_reduces(const Emit *e, const SweepPlan *plan, int sweep, const Op *op);
/* Whether the op is a product that contracts a value of this level that the body computes
 * (attention regions). */
bool sweep_contracts(const Emit *e, const SweepPlan *plan, int sweep, const Op *op);
/* Whether the sweep's loop stores this result. */
bool sweep_stores(const Emit *e, const SweepPlan *plan, int sweep, int result);

#endif
