/* dump --stage loops, llvm and asm: the kernels of a function as text, for any CPU. */
#include "codegen/emit/emit.h"
#include "codegen/emit/gemm/gemm.h"
#include "codegen/llvm/render.h"
#include "codegen/llvm/target.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/text/text.h"
#include "codegen/loop/verify.h"
#include "codegen/plan/plan.h"
#include "codegen/products.h"

#include <string.h>

static bool print_module(const LlvmTarget *target, LLVMModuleRef module, bool assembly, Text *out,
                         Diagnostics *diags)
{
    if (!assembly) {
        char *text = LLVMPrintModuleToString(module);
        text_put(out, text, strlen(text));
        LLVMDisposeMessage(text);
        return true;
    }
    LLVMMemoryBufferRef buffer = target_emit(target, module, true, diags);
    if (!buffer)
        return false;
    text_put(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}

/* Native products go with the kernels where they are asked for. */
static LoModule *loops_of(const KernelSet *set, const TfcProgram *program, const LlvmTarget *target,
                          Arena *arena)
{
    LoModule *loops = lo_module_new(arena);
    emit_kernels(loops, set, 0, (int)set->list.count, "", &target->code);
    for (int type = 0; program && type < TFC_PRODUCT_TYPES; type++)
        if (program_has_product(program, (TfcProductType)type, target->gemm))
            emit_gemm(loops, &target->code, (TfcProductType)type, product_names[type]);
    return loops;
}

bool kernels_dump(const KernelSet *set, const TfcProgram *program, const TargetOptions *options,
                  bool assembly, Text *out, Diagnostics *diags)
{
    LlvmTarget target;
    bool ok = target_init(&target, options, true, diags);
    if (ok) {
        Arena *arena = arena_new();
        LLVMContextRef context = LLVMContextCreate();
        LoModule *loops = loops_of(set, program, &target, arena);
        lo_run_passes(loops, &target.code);
        LLVMModuleRef module = render_module(loops, &target, context, "kernels", diags);
        ok = module && print_module(&target, module, assembly, out, diags);
        if (module)
            LLVMDisposeModule(module);
        LLVMContextDispose(context);
        arena_free(arena);
    }
    target_dispose(&target);
    return ok;
}

static bool unknown_pass(const char *name, Diagnostics *diags)
{
    const char *hint = text_suggest(diags->arena, "'", name, lo_pass_names, (size_t)lo_n_passes);
    diag_error(diags, (Loc){0}, "loop IR has no pass '%s'%s", name,
               *hint ? hint : "; tfc opt --list shows them");
    return false;
}

LoModule *codegen_loops(const Function *function, const TargetOptions *options, const char *after,
                        Arena *arena, Diagnostics *diags)
{
    KernelSet set;
    LlvmTarget target = {0};
    LoModule *loops = NULL;
    kernels_init(&set, arena);
    const TfcProgram *program = plan_program(function, &set, arena, diags);
    if (program && target_init(&target, options, true, diags)) {
        loops = loops_of(&set, program, &target, arena);
        if (!lo_run_passes_until(loops, &target.code, after) && !unknown_pass(after, diags))
            loops = NULL;
    }
    target_dispose(&target);
    return loops;
}

static bool run_passes(LoModule *loops, const CodeTarget *target, const char *passes, bool each,
                       Text *out, Diagnostics *diags)
{
    for (const char *at = passes; *at;) {
        size_t length = strcspn(at, ",");
        const char *name = arena_strndup(diags->arena, at, length);
        at += length + (at[length] == ',');
        if (!lo_run_pass(loops, target, name))
            return unknown_pass(name, diags);
        if (!each)
            continue;
        text_add(out, "# after %s\n", name);
        lo_print_module(loops, out);
    }
    return true;
}

bool codegen_opt_loops(const Source *source, const char *passes, const TargetOptions *options,
                       bool each, Text *out, Diagnostics *diags)
{
    Arena *arena = arena_new();
    LlvmTarget target = {0};
    LoModule *loops = lo_parse(arena, diags, source);
    bool ok = loops && lo_verify(loops, diags) && target_init(&target, options, true, diags) &&
              run_passes(loops, &target.code, passes, each, out, diags);
    if (ok && !each)
        lo_print_module(loops, out);
    target_dispose(&target);
    arena_free(arena);
    return ok;
}

bool codegen_dump(const Function *function, const TargetOptions *options, bool assembly, Text *out,
                  Diagnostics *diags)
{
    Arena *arena = arena_new();
    KernelSet set;
    kernels_init(&set, arena);
    const TfcProgram *program = plan_program(function, &set, arena, diags);
    bool ok = program && kernels_dump(&set, program, options, assembly, out, diags);
    arena_free(arena);
    return ok;
}
