/* The list of passes, and what they share; see passes.h. */
#include "codegen/loop/passes.h"

#include <string.h>

typedef struct Pass {
    const char *name;
    void (*run)(LoModule *module, const CodeTarget *target);
} Pass;

static const Pass passes[] = {
#define PASS(name, help) {#name, lo_##name},
#include "codegen/loop/passes.def"
};
enum { N_PASSES = sizeof passes / sizeof *passes };

static void number_all(LoModule *module)
{
    for (size_t i = 0; i < module->functions.count; i++)
        lo_number(module->functions.data[i]);
}

void lo_run_passes(LoModule *module, const CodeTarget *target)
{
    for (int i = 0; i < N_PASSES; i++)
        passes[i].run(module, target);
    number_all(module);
}

bool lo_run_pass(LoModule *module, const CodeTarget *target, const char *name)
{
    for (int i = 0; i < N_PASSES; i++)
        if (!strcmp(passes[i].name, name)) {
            passes[i].run(module, target);
            number_all(module);
            return true;
        }
    return false;
}

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
