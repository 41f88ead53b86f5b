/* Which processors compute, with which products, the bits that all others compute. */
#include "codegen/processor.h"

#include <stddef.h>

const char *processor_own_bits(const Processor *processor, bool native, bool emulated, bool pairs)
{
    if (!processor->fused && !emulated)
        return "the processor has no fused multiply-add";
    if (pairs && processor->pairs == TARGET_PAIRS_AMX)
        return "AMX adds products of bf16 in another order";
    return native ? NULL : "OpenBLAS computes products (--gemm)";
}
