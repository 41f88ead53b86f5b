/* The JIT: object files linked into this process by LLJIT, each set of them in a
 * library of its own, so that names of different programs cannot clash.
 *
 * Only absolute symbols are offered to the objects: OpenBLAS's products, the C
 * library's functions that the scalar reference and f64 call, and what LLVM's code
 * generator may call on its own. */
#include "codegen/jit.h"

#include "codegen/cache.h"
#include "codegen/llvm/target.h"

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct Jit {
    Arena *arena;
    TargetOptions options;
    Target target;
    LLVMOrcLLJITRef orc;
    Cache *cache; /* NULL: nothing is kept */
    int n_libraries;
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
    NATIVE(expm1),  NATIVE(expm1f), NATIVE(log1p),  NATIVE(log1pf),
    NATIVE(memcpy), NATIVE(memset), NATIVE(memmove),
    NATIVE(tfc_blas_f32), NATIVE(tfc_blas_f64),
};
enum { N_NATIVES = sizeof natives / sizeof natives[0] };

static bool define_natives(Jit *jit, LLVMOrcJITDylibRef library, Diagnostics *diags)
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
    LLVMErrorRef error = LLVMOrcJITDylibDefine(library, unit);
    if (error)
        LLVMOrcDisposeMaterializationUnit(unit);
    return report(error, "the JIT cannot define its symbols", diags);
}

/* ---- making and freeing ---- */

Jit *jit_new(const TargetOptions *options, Diagnostics *diags)
{
    Arena *arena = arena_new();
    Jit *jit = ARENA_NEW(arena, Jit);
    jit->arena = arena;
    jit->options = options ? *options : (TargetOptions){.opt_level = 2};
    jit->options.cpu = target_is_here(jit->options.cpu) ? NULL : arena_strdup(arena, jit->options.cpu);
    jit->options.triple = NULL;
    if (target_init(&jit->target, &jit->options, false, diags) &&
        report(LLVMOrcCreateLLJIT(&jit->orc, LLVMOrcCreateLLJITBuilder()), "the JIT cannot start",
               diags))
        return jit;
    jit_free(jit);
    return NULL;
}

void jit_free(Jit *jit)
{
    if (!jit)
        return;
    if (jit->orc)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->orc));
    cache_close(jit->cache);
    target_dispose(&jit->target);
    arena_free(jit->arena);
}

void jit_use_cache(Jit *jit, const char *folder)
{
    jit->cache = cache_open(jit->arena, folder, CACHE_BYTES);
    jit->stats.cache_note = cache_note(jit->cache);
}

/* ---- loading ---- */

static bool add_objects(Jit *jit, LLVMOrcJITDylibRef library, const ObjectSet *objects,
                        Diagnostics *diags)
{
    for (int i = 0; i < objects->n_files; i++) {
        const ObjectFile *file = &objects->files[i];
        LLVMMemoryBufferRef buffer = /* taken over by the JIT, whatever happens */
            LLVMCreateMemoryBufferWithMemoryRangeCopy(file->bytes, file->size, file->name);
        if (!report(LLVMOrcLLJITAddObjectFile(jit->orc, library, buffer),
                    "the JIT cannot load object code", diags))
            return false;
    }
    return true;
}

typedef struct Found {
    LLVMErrorRef error;
    uintptr_t address;
} Found;

static void take_address(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, size_t n, void *context)
{
    Found *found = context;
    found->error = error;
    if (!error && n == 1)
        found->address = (uintptr_t)result[0].Sym.Address;
}

/* Links what the symbol needs. Nothing is left for other threads, so the answer has
 * come when the call returns. */
static uintptr_t look_up(Jit *jit, LLVMOrcJITDylibRef library, const char *symbol,
                         Diagnostics *diags)
{
    LLVMOrcCJITDylibSearchOrderElement order = {library, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcCLookupSetElement element = {LLVMOrcLLJITMangleAndIntern(jit->orc, symbol),
                                        LLVMOrcSymbolLookupFlagsRequiredSymbol};
    Found found = {0};
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(jit->orc), LLVMOrcLookupKindStatic,
                                  &order, 1, &element, 1, take_address, &found);
    report(found.error, "the JIT cannot link object code", diags);
    return found.address;
}

static uintptr_t load_symbol(Jit *jit, const ObjectSet *objects, const char *symbol,
                             Diagnostics *diags)
{
    char name[32];
    snprintf(name, sizeof name, "program.%d", jit->n_libraries++);
    LLVMOrcJITDylibRef library =
        LLVMOrcExecutionSessionCreateBareJITDylib(LLVMOrcLLJITGetExecutionSession(jit->orc), name);
    if (!define_natives(jit, library, diags) || !add_objects(jit, library, objects, diags))
        return 0;
    return look_up(jit, library, symbol, diags);
}

const TfcProgram *jit_load(Jit *jit, const ObjectSet *objects, Diagnostics *diags)
{
    return (const TfcProgram *)load_symbol(jit, objects, objects->symbols[0], diags);
}

/* ---- programs ---- */

const TfcProgram *jit_compile(Jit *jit, const Function *function, const ProgramKey *key,
                              Diagnostics *diags)
{
    double start = seconds_now();
    Arena *arena = arena_new();
    ObjectSet objects;
    const TfcProgram *program = NULL;
    if (object_compile(&function, 1, &jit->options, "", arena, &objects, diags)) {
        program = jit_load(jit, &objects, diags);
        jit->stats.programs_compiled++;
        jit->stats.kernels_compiled += objects.n_kernels;
    }
    if (program && key && jit->cache) {
        cache_put(jit->cache, key, &objects);
        jit->stats.cache_note = cache_note(jit->cache);
    }
    arena_free(arena);
    jit->stats.seconds += seconds_now() - start;
    return program;
}

const TfcProgram *jit_recall(Jit *jit, const ProgramKey *key)
{
    if (!jit->cache)
        return NULL;
    double start = seconds_now();
    Arena *arena = arena_new();
    Diagnostics ignored; /* what cannot be loaded is compiled */
    ObjectSet objects;
    diag_init(&ignored, arena);
    const TfcProgram *program = NULL;
    if (cache_get(jit->cache, key, arena, &objects))
        program = jit_load(jit, &objects, &ignored);
    if (program) {
        jit->stats.programs_cached++;
        jit->stats.kernels_cached += objects.n_kernels;
    }
    arena_free(arena);
    jit->stats.seconds += seconds_now() - start;
    return program;
}

ProgramKey jit_key(const Jit *jit, const Function *function, const char *pipeline)
{
    return key_of(&jit->target, function, pipeline);
}

TfcKernel jit_kernel(Jit *jit, const Module *module, const Op *op, const Signature *signature,
                     Diagnostics *diags)
{
    Arena *arena = arena_new();
    KernelSet set;
    ObjectSet objects;
    uintptr_t address = 0;
    kernels_init(&set, arena);
    kernels_add(&set, module, op, signature);
    if (kernels_compile(&set, &jit->options, "", arena, &objects, diags)) {
        address = load_symbol(jit, &objects, kernels_name(&set, 0), diags);
        jit->stats.kernels_compiled++;
    }
    arena_free(arena);
    return (TfcKernel)address;
}

JitStats jit_stats(const Jit *jit)
{
    return jit->stats;
}
