/* Programs for OpenCL devices: kernels that compute one element at a time, each work item one unit;
 * products are kernels, too. */
#include "codegen/c/opencl.h"

#include "codegen/c/render.h"
#include "codegen/c/unit.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/gemm/device_product.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/plan/plan.h"

/* ---- what there is no kernel for ---- */

/* An attention is made of tiles, and a cache is the decoder's memory. */
static bool check_kernel(const KernelEntry *entry, Diagnostics *diags)
{
    OpKind kind = entry->op->kind;
    if (kind != OP_attention && kind != OP_append)
        return true;
    diag_error(diags, entry->op->loc, "%s has no kernel for an OpenCL device yet%s",
               op_info[kind].name,
               kind == OP_attention ? "; --passes=" OPENCL_PASSES " makes none" : "");
    return false;
}

static bool check_program(const KernelSet *set, const TfcProgram *program, Diagnostics *diags)
{
    bool ok = true;
    for (size_t k = 0; k < set->list.count; k++)
        ok &= check_kernel(&set->list.data[k], diags);
    for (int32_t s = 0; s < program->n_steps; s++)
        if ((program->steps[s].kind == TFC_STEP_GEMM || program->steps[s].kind == TFC_STEP_PACK) &&
            product_quant(program->steps[s].gemm.product)) {
            diag_error(diags, (Loc){0},
                       "products of integers have no kernel for an OpenCL device yet");
            return false;
        }
    for (int32_t s = 0; s < program->n_steps; s++)
        if (program->steps[s].kind == TFC_STEP_GEMM && program->steps[s].gemm.grouping) {
            diag_error(diags, (Loc){0},
                       "products by looked-up matrices have no kernel for an OpenCL device yet");
            return false;
        }
    if (program->n_loops) {
        diag_error(
            diags, (Loc){0},
            "a loop over rows has no kernels for an OpenCL device yet; --passes=" OPENCL_PASSES
            " makes none");
        ok = false;
    }
    return ok;
}

/* ---- products ---- */

static const char *product_name(const TfcGemmStep *gemm, Arena *arena)
{
    return arena_printf(arena, "product_%s%s%s%s", element_info(gemm->type)->name,
                        gemm->type == gemm->result ? "" : "_",
                        gemm->type == gemm->result ? "" : element_info(gemm->result)->name,
                        gemm->accumulate ? "_add" : "");
}

/* The kernel that a product step needs, written where it is the first. */
static const char *product_entry(LoModule *loops, const TfcGemmStep *gemm, Arena *arena)
{
    const char *name = product_name(gemm, arena);
    if (!lo_find_function(loops, name))
        emit_device_product(loops, &(DeviceProduct){gemm->type, gemm->result, gemm->accumulate},
                            name);
    return name;
}

static const char *const *entries_of(LoModule *loops, const TfcProgram *program, Arena *arena)
{
    const char **entries = ARENA_ARRAY(arena, const char *, program->n_steps + 1);
    for (int32_t s = 0; s < program->n_steps; s++) {
        const TfcStep *step = &program->steps[s];
        if (step->kind == TFC_STEP_KERNEL)
            entries[s] = c_name(arena, program->kernel_names[step->kernel.kernel]);
        else if (step->kind == TFC_STEP_GEMM)
            entries[s] = product_entry(loops, &step->gemm, arena);
    }
    return entries;
}

/* ---- the whole ---- */

bool opencl_program(const Function *function, Arena *arena, TfcDeviceCode *out, Diagnostics *diags)
{
    KernelSet set;
    Map comments;
    Text text = {0};
    CodeTarget target;
    kernels_init(&set, arena);
    const TfcProgram *program = plan_program(function, &set, arena, diags);
    if (!program || !check_program(&set, program, diags) ||
        !codegen_target(&(TargetOptions){.cpu = "generic"}, &target, diags))
        return false;
    target.device = target.scalar = true; /* functions are the device's own */
    LoModule *loops = lo_module_new(arena);
    map_init(&comments, arena);
    c_note_places(&set, "", &comments, arena);
    emit_kernels(loops, &set, 0, (int)set.list.count, "", &target);
    const char *const *entries = entries_of(loops, program, arena);
    lo_run_passes(loops, &target);
    bool ok = c_render(loops, &c_opencl, &comments, &text, diags);
    *out = (TfcDeviceCode){program, text_keep(arena, &text), entries};
    return ok;
}
