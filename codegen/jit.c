/* The JIT: kernels are written into one pending LLVM module, compiled together
 * to an object, and linked into this process by LLJIT. Kernels are found by hash,
 * so a Jit compiles each structure once, however many functions use it.
 *
 * Only absolute symbols are offered to the object: the C library's functions that
 * the scalar reference and f64 call, and what LLVM's code generator may call on
 * its own. */
#include "codegen/jit.h"

#include "codegen/emit/emit.h"

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct Kernel {
    uint64_t hash;
    const char *name;
    TfcKernel address; /* NULL until jit_finish */
} Kernel;

struct Jit {
    Arena *arena;
    Target target;
    LLVMOrcLLJITRef orc; /* NULL in a dump */
    VEC(Kernel) kernels;
    Map by_name;         /* name → number + 1 */
    int compiled;        /* kernels before this one are compiled */
    LLVMContextRef context; /* of the pending module, NULL: none */
    LLVMModuleRef module;
    Text *dump;
    bool assembly;
    JitStats stats;
};

static double seconds_now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool report(LLVMErrorRef error, const char *what, Diagnostics *diags)
{
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    diag_error(diags, (Loc){0}, "%s: %s", what, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

/* ---- symbols ---- */

typedef void (*AnyFunction)(void);
typedef struct NativeSymbol {
    const char *name;
    AnyFunction function;
} NativeSymbol;

#define NATIVE(f) {#f, (AnyFunction)(f)}
static const NativeSymbol natives[] = {
    NATIVE(exp),    NATIVE(log),    NATIVE(tanh),    NATIVE(erf),    NATIVE(sin),  NATIVE(cos),
    NATIVE(pow),    NATIVE(expf),   NATIVE(logf),    NATIVE(tanhf),  NATIVE(erff), NATIVE(sinf),
    NATIVE(cosf),   NATIVE(powf),   NATIVE(floor),   NATIVE(floorf), NATIVE(fma),  NATIVE(fmaf),
    NATIVE(memcpy), NATIVE(memset), NATIVE(memmove),
};
enum { N_NATIVES = sizeof natives / sizeof natives[0] };

static bool define_natives(Jit *jit, Diagnostics *diags)
{
    LLVMOrcCSymbolMapPair pairs[N_NATIVES];
    for (int i = 0; i < N_NATIVES; i++) {
        LLVMJITSymbolFlags flags = {
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
        /* The map takes over the reference to each name. */
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit->orc, natives[i].name);
        pairs[i].Sym =
            (LLVMJITEvaluatedSymbol){(LLVMOrcExecutorAddress)(uintptr_t)natives[i].function, flags};
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, N_NATIVES);
    LLVMErrorRef error = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit->orc), unit);
    if (error)
        LLVMOrcDisposeMaterializationUnit(unit);
    return report(error, "the JIT cannot define its symbols", diags);
}

/* ---- making and freeing ---- */

static Jit *new_jit(const TargetOptions *options, bool foreign, Diagnostics *diags)
{
    Arena *arena = arena_new();
    Jit *jit = ARENA_NEW(arena, Jit);
    jit->arena = arena;
    map_init(&jit->by_name, arena);
    if (target_init(&jit->target, options, foreign, diags))
        return jit;
    jit_free(jit);
    return NULL;
}

Jit *jit_new(const TargetOptions *options, Diagnostics *diags)
{
    Jit *jit = new_jit(options, false, diags);
    if (!jit)
        return NULL;
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit->orc, LLVMOrcCreateLLJITBuilder());
    if (report(error, "the JIT cannot start", diags) && define_natives(jit, diags))
        return jit;
    jit_free(jit);
    return NULL;
}

Jit *jit_new_dump(const TargetOptions *options, bool assembly, Text *out, Diagnostics *diags)
{
    Jit *jit = new_jit(options, true, diags);
    if (jit) {
        jit->dump = out;
        jit->assembly = assembly;
    }
    return jit;
}

static void drop_pending(Jit *jit)
{
    if (jit->module)
        LLVMDisposeModule(jit->module);
    if (jit->context)
        LLVMContextDispose(jit->context);
    jit->module = NULL;
    jit->context = NULL;
}

void jit_free(Jit *jit)
{
    if (!jit)
        return;
    drop_pending(jit);
    if (jit->orc)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->orc));
    target_dispose(&jit->target);
    arena_free(jit->arena);
}

/* ---- kernels ---- */

/* Element types that kernels do not have yet are the user's to hear of. */
static bool check_types(const Op *op, Diagnostics *diags)
{
    Arena *arena = arena_new();
    Body body = body_of(arena, op);
    bool bf16 = false;
    for (int i = 0; i < body.n_inputs; i++)
        bf16 |= body.inputs[i]->type.dtype == DT_BF16;
    for (int i = 0; i < body.n_ops; i++)
        bf16 |= body.ops[i].op->results[0].type.dtype == DT_BF16;
    arena_free(arena);
    if (bf16)
        diag_error(diags, op->loc, "kernels do not have bf16 elements yet: use f32");
    return !bf16;
}

static int find_kernel(const Jit *jit, const char *name)
{
    return (int)(intptr_t)map_get(&jit->by_name, name) - 1;
}

int jit_add(Jit *jit, const Module *module, const Op *op, const Signature *signature,
            Diagnostics *diags)
{
    const char *kind = op->body || op_is_own_kernel(op) ? op_info[op->kind].name : "row";
    char name[64];
    snprintf(name, sizeof name, "%s.%016llx", kind, (unsigned long long)signature->hash);
    int found = find_kernel(jit, name);
    if (found >= 0) {
        jit->stats.kernels_reused++;
        return found;
    }
    if (!check_types(op, diags))
        return -1;
    double start = seconds_now();
    if (!jit->module) {
        jit->context = LLVMContextCreate();
        jit->module = target_new_module(&jit->target, jit->context, "kernels");
    }
    Kernel kernel = {.hash = signature->hash, .name = arena_strdup(jit->arena, name)};
    emit_kernel(jit->context, jit->module, &jit->target, module, op, signature, kernel.name);
    vec_push(jit->arena, jit->kernels, kernel);
    map_set(&jit->by_name, kernel.name, (void *)(intptr_t)jit->kernels.count);
    jit->stats.kernels_compiled++;
    jit->stats.seconds += seconds_now() - start;
    return (int)jit->kernels.count - 1;
}

/* The object, or the text a dump is after. */
static bool compile_pending(Jit *jit, Diagnostics *diags)
{
    if (!target_optimise(&jit->target, jit->module, diags))
        return false;
    if (jit->dump && !jit->assembly) {
        char *text = LLVMPrintModuleToString(jit->module);
        text_put(jit->dump, text, strlen(text));
        LLVMDisposeMessage(text);
        return true;
    }
    LLVMMemoryBufferRef buffer = target_emit(&jit->target, jit->module, jit->dump != NULL, diags);
    if (!buffer)
        return false;
    if (jit->dump) {
        text_put(jit->dump, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
        return true;
    }
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->orc);
    return report(LLVMOrcLLJITAddObjectFile(jit->orc, library, buffer),
                  "the JIT cannot load the kernels", diags);
}

bool jit_finish(Jit *jit, Diagnostics *diags)
{
    if (!jit->module)
        return true;
    double start = seconds_now();
    bool ok = compile_pending(jit, diags);
    drop_pending(jit);
    for (; ok && !jit->dump && jit->compiled < (int)jit->kernels.count; jit->compiled++) {
        Kernel *kernel = &jit->kernels.data[jit->compiled];
        LLVMOrcExecutorAddress address = 0;
        ok = report(LLVMOrcLLJITLookup(jit->orc, &address, kernel->name), "a kernel is missing",
                    diags);
        kernel->address = (TfcKernel)(uintptr_t)address;
    }
    jit->stats.seconds += seconds_now() - start;
    return ok;
}

TfcKernel jit_address(const Jit *jit, int kernel)
{
    return jit->kernels.data[kernel].address;
}

const char *jit_kernel_name(const Jit *jit, int kernel)
{
    return jit->kernels.data[kernel].name;
}

JitStats jit_stats(const Jit *jit)
{
    return jit->stats;
}
