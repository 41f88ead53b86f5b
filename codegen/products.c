/* Which programs multiply what; see products.h. */
#include "codegen/products.h"

const char *const product_names[TFC_PRODUCT_TYPES] = {
    "gemm.f32",
    "gemm.f64",
    "gemm.bf16",
#define QUANT(NAME, word, ...) "gemm." word,
#include "base/quants.def"
};

/* Of each buffer: whether a kernel reads it, as lookups read what a step packs. */
static bool *read_by_kernels(const TfcProgram *program, Arena *arena)
{
    bool *read = ARENA_ARRAY(arena, bool, program->n_buffers + 1);
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcKernelStep *kernel = &program->steps[s].kernel;
        for (int32_t v = 0; program->steps[s].kind == TFC_STEP_KERNEL && v < kernel->n_views; v++)
            read[kernel->views[v].buffer] = true;
    }
    return read;
}

static void find_products(const TfcProgram *program, GemmChoice gemm, bool found[TFC_PRODUCT_TYPES])
{
    Arena *arena = arena_new();
    const bool *read = read_by_kernels(program, arena);
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcGemmStep *step = &program->steps[s].gemm;
        const TfcStepKind kind = program->steps[s].kind;
        const bool blas =
            gemm == GEMM_BLAS && (int)step->product < TFC_BLAS_TYPES && !step->grouping;
        if ((kind == TFC_STEP_GEMM && !blas) || (kind == TFC_STEP_PACK && read[step->panels - 1]))
            found[step->product] = true;
    }
    arena_free(arena);
}

bool program_has_product(const TfcProgram *program, TfcProductType type, GemmChoice gemm)
{
    bool found[TFC_PRODUCT_TYPES] = {0};
    find_products(program, gemm, found);
    return found[type];
}

int products_needed(const TfcProgram *const *programs, int n, GemmChoice gemm,
                    TfcProductType types[TFC_PRODUCT_TYPES])
{
    bool found[TFC_PRODUCT_TYPES] = {0};
    int count = 0;
    for (int p = 0; p < n; p++)
        find_products(programs[p], gemm, found);
    for (int type = 0; type < TFC_PRODUCT_TYPES; type++)
        if (found[type])
            types[count++] = (TfcProductType)type;
    return count;
}
