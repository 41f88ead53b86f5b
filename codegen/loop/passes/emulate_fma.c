/* Pass emulate_fma: where the processor has no fused multiply-add, and the target asks for it
 * (--fma emulate), muladd is still rounded once, so that the bits are those of all processors.
 *
 *   f32x4 %9 = muladd %6, %7, %8     →     product and sum in f64x4, the sum rounded to odd, fcast
 *
 * The product of two f32 is exact in f64. Of f64, product and sum are made of halves, some 200 ops
 * (base/portable_math.def). */
#include "codegen/loop/passes/expand_f64.h"
#include "codegen/loop/passes/passes.h"

static void emulate_in(LoModule *module, LoBlock *block)
{
    for (LoOp *op = block->first, *after; op; op = after) {
        after = op->after;
        lo_resolve_args(op);
        if (op->kind == LO_muladd) {
            Lo lo;
            lo_reopen(&lo, module, block->function, op);
            op->instead = lo_exact_muladd(&lo, op->args[0], op->args[1], op->args[2]);
            lo_remove(op);
        }
        if (op->body)
            emulate_in(module, op->body);
        if (op->other)
            emulate_in(module, op->other);
    }
}

void lo_emulate_fma(LoModule *module, const CodeTarget *target)
{
    const bool emulates = target->emulates_fma && !target->processor->fused;
    for (size_t i = 0; emulates && i < module->functions.count; i++)
        emulate_in(module, module->functions.data[i]->body);
}
