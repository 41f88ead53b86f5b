/* Which programs multiply what; see products.h. */
#include "codegen/products.h"

const char *const product_names[TFC_PRODUCT_TYPES] = {
    "gemm.f32",
    "gemm.f64",
    "gemm.bf16",
#define QUANT(NAME, word, ...) "gemm." word,
#include "base/quants.def"
};

/* Whether a lookup reads what the step packs. */
static bool kernel_reads(const TfcProgram *program, int32_t buffer)
{
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcKernelStep *kernel = &program->steps[s].kernel;
        for (int32_t v = 0; program->steps[s].kind == TFC_STEP_KERNEL && v < kernel->n_views; v++)
            if (kernel->views[v].buffer == buffer)
                return true;
    }
    return false;
}

bool program_has_product(const TfcProgram *program, TfcProductType type, GemmChoice gemm)
{
    const bool blas = gemm == GEMM_BLAS && (int)type < TFC_BLAS_TYPES;
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        const bool native = !blas || step->gemm.grouping;
        if ((step->kind == TFC_STEP_GEMM && native && step->gemm.product == type) ||
            (step->kind == TFC_STEP_PACK && step->gemm.product == type &&
             kernel_reads(program, step->gemm.panels - 1)))
            return true;
    }
    return false;
}

int products_needed(const TfcProgram *const *programs, int n, GemmChoice gemm,
                    TfcProductType types[TFC_PRODUCT_TYPES])
{
    int found = 0;
    for (int type = 0; type < TFC_PRODUCT_TYPES; type++)
        for (int p = 0; p < n; p++)
            if (program_has_product(programs[p], (TfcProductType)type, gemm)) {
                types[found++] = (TfcProductType)type;
                break;
            }
    return found;
}
