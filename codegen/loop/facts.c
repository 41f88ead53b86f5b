/* What passes ask of ops. */
#include "codegen/loop/passes.h"

/* A quotient by what may be 0 must not be computed where it is not asked for. */
static bool may_trap(const LoOp *op)
{
    bool divides = op->kind == LO_div || op->kind == LO_rem || op->kind == LO_udiv || op->kind == LO_urem;
    return divides && !lo_is_float(op->type) && !lo_is_constant(op->args[1]);
}

bool lo_is_pure(const LoOp *op)
{
    switch (op->kind) {
    case LO_scratch: case LO_load: case LO_carry: case LO_for: case LO_accumulator: case LO_total:
        return false;
    default: return op->type != lo_none && !may_trap(op);
    }
}

void lo_resolve_args(LoOp *op)
{
    for (int i = 0; i < op->n_args; i++)
        while (op->args[i]->instead)
            op->args[i] = op->args[i]->instead;
}
