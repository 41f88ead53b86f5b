/* The JIT: object files linked into this process, each set of them by itself, so that
 * names of different programs cannot clash.
 *
 * Of the process, objects may call only the functions that are listed here: OpenBLAS's products,
 * the C library's functions that the scalar reference and f64 call, and what LLVM's code
 * generator may call on its own. */
#include "codegen/jit.h"

#include "base/clock.h"
#include "codegen/cache.h"
#include "codegen/link.h"
#include "codegen/processor.h"
#include "runtime/blas/openblas.h"

#include <math.h>
#include <string.h>

typedef struct KeyedProgram {
    const TfcProgram *program;
    ProgramKey key;
} KeyedProgram;

struct Jit {
    Arena *arena;
    TargetOptions options;
    Cache *cache; /* NULL: nothing is kept */
    VEC(LinkedCode) loaded;
    VEC(KeyedProgram) keyed;
    JitStats stats;
};

/* ---- symbols ---- */

typedef void (*AnyFunction)(void);
typedef struct NativeSymbol {
    const char *name;
    AnyFunction function;
} NativeSymbol;

#define NATIVE(f) {#f, (AnyFunction)(f)}
static const NativeSymbol natives[] = {
    NATIVE(exp),          NATIVE(log),          NATIVE(tanh),   NATIVE(erf),    NATIVE(sin),
    NATIVE(cos),          NATIVE(pow),          NATIVE(expf),   NATIVE(logf),   NATIVE(tanhf),
    NATIVE(erff),         NATIVE(sinf),         NATIVE(cosf),   NATIVE(powf),   NATIVE(floor),
    NATIVE(floorf),       NATIVE(fma),          NATIVE(fmaf),   NATIVE(expm1),  NATIVE(expm1f),
    NATIVE(log1p),        NATIVE(log1pf),       NATIVE(memcpy), NATIVE(memset), NATIVE(memmove),
    NATIVE(tfc_blas_f32), NATIVE(tfc_blas_f64),
};

static bool is_blas(const char *name) { return !strncmp(name, "tfc_blas_", strlen("tfc_blas_")); }

/* OpenBLAS is loaded for programs that name it. */
static const void *find_native(const char *name, Diagnostics *diags)
{
    for (size_t i = 0; i < sizeof natives / sizeof natives[0]; i++)
        if (!strcmp(natives[i].name, name))
            return !is_blas(name) || openblas_load(diags)
                       ? (const void *)(uintptr_t)natives[i].function
                       : NULL;
    return NULL;
}

/* ---- making and freeing ---- */

Jit *jit_new(const TargetOptions *options, Diagnostics *diags)
{
    Arena *arena = arena_new();
    Jit *jit = ARENA_NEW(arena, Jit);
    jit->arena = arena;
    jit->options = options ? *options : (TargetOptions){.opt_level = 2};
    if (target_settle(&jit->options, diags)) {
        if (jit->options.cpu)
            jit->options.cpu = arena_strdup(arena, jit->options.cpu);
        return jit;
    }
    jit_free(jit);
    return NULL;
}

void jit_free(Jit *jit)
{
    if (!jit)
        return;
    for (size_t i = 0; i < jit->loaded.count; i++)
        link_free(&jit->loaded.data[i]);
    cache_close(jit->cache);
    arena_free(jit->arena);
}

void jit_use_cache(Jit *jit, const char *folder)
{
    jit->cache = cache_open(jit->arena, folder, CACHE_BYTES);
    jit->stats.cache_note = cache_note(jit->cache);
}

/* ---- loading ---- */

/* Where the symbol is; NULL after errors. */
static const void *load_symbol(Jit *jit, const ObjectSet *objects, const char *symbol,
                               Diagnostics *diags)
{
    LinkedCode code;
    const void *address =
        link_objects(objects->files, objects->n_files, find_native, symbol, &code, diags);
    if (address)
        vec_push(jit->arena, jit->loaded, code);
    return address;
}

const TfcProgram *jit_load(Jit *jit, const ObjectSet *objects, Diagnostics *diags)
{
    return load_symbol(jit, objects, objects->symbols[0], diags);
}

/* ---- programs ---- */

const TfcProgram *jit_compile(Jit *jit, const Function *function, const ProgramKey *key,
                              Diagnostics *diags)
{
    double start = clock_seconds();
    Arena *arena = arena_new();
    ObjectSet objects;
    const TfcProgram *program = NULL;
    if (object_compile(&function, 1, &jit->options, "", jit->cache, key, arena, &objects, diags)) {
        program = jit_load(jit, &objects, diags);
        *(objects.is_kept ? &jit->stats.programs_cached : &jit->stats.programs_compiled) += 1;
        jit->stats.kernels_cached += objects.n_kept;
        jit->stats.kernels_compiled += objects.n_kernels - objects.n_kept;
    }
    if (program && key)
        vec_push(jit->arena, jit->keyed, ((KeyedProgram){program, *key}));
    jit->stats.cache_note = cache_note(jit->cache);
    arena_free(arena);
    jit->stats.seconds += clock_seconds() - start;
    return program;
}

const TfcProgram *jit_recall(Jit *jit, const ProgramKey *key)
{
    if (!jit->cache)
        return NULL;
    double start = clock_seconds();
    Arena *arena = arena_new();
    Diagnostics ignored; /* what cannot be loaded is compiled */
    ObjectSet objects;
    diag_init(&ignored, arena);
    const TfcProgram *program = NULL;
    if (cache_get(jit->cache, key, arena, &objects))
        program = jit_load(jit, &objects, &ignored);
    if (program) {
        vec_push(jit->arena, jit->keyed, ((KeyedProgram){program, *key}));
        jit->stats.programs_cached++;
        jit->stats.kernels_cached += objects.n_kernels;
    }
    arena_free(arena);
    jit->stats.seconds += clock_seconds() - start;
    return program;
}

ProgramKey jit_key(const Jit *jit, const Function *function, const char *pipeline)
{
    return key_of(&jit->options, function, pipeline);
}

const ProgramKey *jit_key_of(const Jit *jit, const TfcProgram *program)
{
    for (size_t i = 0; i < jit->keyed.count; i++)
        if (jit->keyed.data[i].program == program)
            return &jit->keyed.data[i].key;
    return NULL;
}

TfcKernel jit_kernel(Jit *jit, const Module *module, const Op *op, const Signature *signature,
                     Diagnostics *diags)
{
    Arena *arena = arena_new();
    KernelSet set;
    ObjectSet objects;
    const void *address = NULL;
    kernels_init(&set, arena);
    kernels_add(&set, module, op, signature);
    if (kernels_compile(&set, &jit->options, "", arena, &objects, diags)) {
        address = load_symbol(jit, &objects, kernels_name(&set, 0), diags);
        jit->stats.kernels_compiled++;
    }
    arena_free(arena);
    return (TfcKernel)(uintptr_t)address;
}

JitStats jit_stats(const Jit *jit) { return jit->stats; }
