/* From functions to object files; see object.h. */
#include "codegen/object.h"

#include "codegen/cache.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/gemm/gemm.h"
#include "codegen/llvm/render.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/loop/text/text.h"
#include "codegen/plan/plan.h"
#include "codegen/products.h"

#include "base/team.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Kernels an object file: where programs share them one, else some, which spares the cost that LLVM
 * has for each module and functions that kernels have in common; and all of attention, which have
 * the most in common. */
enum { KERNELS_A_FILE = 6 };

/* ---- one file ---- */

typedef struct ObjectJob {
    KernelSet set;  /* in the order of files */
    int n_together; /* the first of them, which are one file */
    int n_programs;
    const TfcProgram *const *programs;
    const char *prefix;
    const TargetOptions *options;
    /* of kernels and products one by one; NULL: none, and a file has KERNELS_A_FILE */
    Cache *cache;
} ObjectJob;

static LLVMModuleRef emit_tables(const ObjectJob *job, const LlvmTarget *target,
                                 LLVMContextRef context)
{
    LLVMModuleRef module = target_new_module(target, context, "tables");
    tables_emit(context, module, job->n_programs, job->programs, job->prefix, target->gemm);
    return module;
}

static bool is_of_attention(const KernelEntry *entry) { return entry->op->kind == OP_attention; }

/* Kernels of attention are first, unless each kernel has a file of its own. */
static ObjectJob job_of(const KernelSet *set, int n, const TfcProgram *const *programs,
                        const char *prefix, const TargetOptions *options, Cache *cache,
                        Arena *arena)
{
    ObjectJob job = {*set, 0, n, programs, prefix, options, cache};
    if (cache)
        return job;
    memset(&job.set.list, 0, sizeof job.set.list);
    for (int others = 0; others < 2; others++) {
        for (size_t k = 0; k < set->list.count; k++)
            if (is_of_attention(&set->list.data[k]) != others)
                vec_push(arena, job.set.list, set->list.data[k]);
        job.n_together = others ? job.n_together : (int)job.set.list.count;
    }
    return job;
}

static int kernels_a_file(const ObjectJob *job) { return job->cache ? 1 : KERNELS_A_FILE; }

/* File 0 has the tables, the next ones kernels, the last a product each. */
static int first_product(const ObjectJob *job)
{
    const int rest = (int)job->set.list.count - job->n_together;
    return 1 + (job->n_together > 0) + (rest + kernels_a_file(job) - 1) / kernels_a_file(job);
}

/* The number of the first kernel of a file; behind all: how many there are. */
static int first_kernel(const ObjectJob *job, int file)
{
    const int n = (int)job->set.list.count, of_rest = file - 1 - (job->n_together > 0);
    const int first = of_rest < 0 ? 0 : job->n_together + of_rest * kernels_a_file(job);
    return first < n ? first : n;
}

/* What a file but the first computes, as loop IR. */
static LoModule *emit_loops(const ObjectJob *job, int file, const LlvmTarget *target, Arena *arena)
{
    LoModule *loops = lo_module_new(arena);
    if (file < first_product(job)) {
        emit_kernels(loops, &job->set, first_kernel(job, file), first_kernel(job, file + 1),
                     job->prefix, &target->code);
    } else {
        TfcProductType types[TFC_PRODUCT_TYPES];
        products_needed(job->programs, job->n_programs, target->gemm, types);
        TfcProductType type = types[file - first_product(job)];
        emit_gemm(loops, &target->code, type,
                  arena_printf(arena, "%s%s", job->prefix, product_names[type]));
    }
    lo_run_passes(loops, &target->code);
    return loops;
}

static LLVMModuleRef render_loops(const ObjectJob *job, int file, LoModule *loops,
                                  const LlvmTarget *target, LLVMContextRef context,
                                  Diagnostics *diags)
{
    return render_module(loops, target, context, file < first_product(job) ? "kernels" : "products",
                         diags);
}

/* NULL after errors. */
static LLVMModuleRef emit_file(const ObjectJob *job, int file, const LlvmTarget *target,
                               LLVMContextRef context, Diagnostics *diags)
{
    if (file == 0)
        return emit_tables(job, target, context);
    Arena *arena = arena_new();
    LLVMModuleRef module =
        render_loops(job, file, emit_loops(job, file, target, arena), target, context, diags);
    arena_free(arena);
    return module;
}

/* CompiledFile: bytes NULL after errors; `key`: what it is to be kept under, where `is_new`. */
typedef struct CompiledFile {
    LLVMMemoryBufferRef bytes;
    ProgramKey key;
    bool is_new;
} CompiledFile;

static LLVMMemoryBufferRef recall_file(const ObjectJob *job, LoModule *loops, Arena *arena,
                                       ProgramKey *key)
{
    Text text = {0};
    ObjectFile kept;
    lo_print_module(loops, &text);
    *key = key_of_loops(job->options, text.data, text.length);
    text_free(&text);
    return cache_get_part(job->cache, key, arena, &kept)
               ? LLVMCreateMemoryBufferWithMemoryRangeCopy(kept.bytes, kept.size, "kept")
               : NULL;
}

static CompiledFile compile_file(const ObjectJob *job, int file, const LlvmTarget *target,
                                 Diagnostics *diags)
{
    CompiledFile out = {0};
    Arena *arena = arena_new();
    LoModule *loops = file ? emit_loops(job, file, target, arena) : NULL;
    if (loops && job->cache) {
        out.bytes = recall_file(job, loops, arena, &out.key);
        out.is_new = !out.bytes;
    }
    if (!out.bytes) {
        LLVMContextRef context = LLVMContextCreate();
        LLVMModuleRef module = loops ? render_loops(job, file, loops, target, context, diags)
                                     : emit_tables(job, target, context);
        out.bytes = module ? target_emit(target, module, false, diags) : NULL;
        if (module)
            LLVMDisposeModule(module);
        LLVMContextDispose(context);
    }
    arena_free(arena);
    return out;
}

/* ---- all files, in parallel ---- */

typedef struct Files {
    const ObjectJob *job;
    int n;
    CompiledFile *compiled;
    Diagnostics *diags;
    _Atomic int next;
    pthread_mutex_t mutex; /* of the diagnostics */
} Files;

/* With a target machine and diagnostics of its own, for all files that it gets to. */
static void compile_some(Files *files, int first)
{
    Arena *arena = arena_new();
    Diagnostics own;
    LlvmTarget target;
    diag_init(&own, arena);
    bool ready = target_init(&target, files->job->options, true, &own);
    for (int i = first; i < files->n; i = atomic_fetch_add(&files->next, 1))
        files->compiled[i] = ready ? compile_file(files->job, i, &target, &own) : (CompiledFile){0};
    pthread_mutex_lock(&files->mutex);
    for (size_t i = 0; i < own.list.count; i++)
        diag_error(files->diags, own.list.data[i].loc, "%s", own.list.data[i].message);
    pthread_mutex_unlock(&files->mutex);
    target_dispose(&target);
    arena_free(arena);
}

static void take_files(const void *context, int64_t task)
{
    (void)task;
    Files *files = *(Files *const *)context;
    int first = atomic_fetch_add(&files->next, 1);
    if (first < files->n)
        compile_some(files, first);
}

static void compile_files(const ObjectJob *job, int n_files, CompiledFile *compiled,
                          Diagnostics *diags)
{
    Files all = {job, n_files, compiled, diags, 0, PTHREAD_MUTEX_INITIALIZER}, *files = &all;
    int threads = team_default();
    team_each(threads, threads < n_files ? threads : n_files, take_files, &files);
}

static bool collect_files(const ObjectJob *job, int n_files, const CompiledFile *compiled,
                          Arena *arena, ObjectSet *out)
{
    bool ok = true;
    ObjectFile *files = ARENA_ARRAY(arena, ObjectFile, n_files);
    for (int i = 0; i < n_files; i++) {
        LLVMMemoryBufferRef bytes = compiled[i].bytes;
        if (!bytes) {
            ok = false;
            continue;
        }
        files[i].size = LLVMGetBufferSize(bytes);
        files[i].bytes = arena_copy(arena, LLVMGetBufferStart(bytes), files[i].size);
        LLVMDisposeMemoryBuffer(bytes);
        if (compiled[i].is_new)
            cache_put_part(job->cache, &compiled[i].key, &files[i]);
        else if (job->cache && i && i < first_product(job))
            out->n_kept++;
    }
    out->n_files = n_files;
    out->files = files;
    return ok;
}

/* ---- the whole ---- */

static bool check_target(const TargetOptions *options, Diagnostics *diags)
{
    LlvmTarget target;
    bool ok = target_init(&target, options, true, diags);
    target_dispose(&target);
    return ok;
}

static int count_files(const ObjectJob *job, GemmChoice gemm)
{
    TfcProductType types[TFC_PRODUCT_TYPES];
    return first_product(job) + products_needed(job->programs, job->n_programs, gemm, types);
}

static bool compile_job(const ObjectJob *job, Arena *arena, ObjectSet *out, Diagnostics *diags)
{
    int n_files = count_files(job, job->options ? job->options->gemm : GEMM_BLAS);
    CompiledFile *compiled = ARENA_ARRAY(arena, CompiledFile, n_files);
    compile_files(job, n_files, compiled, diags);
    *out = (ObjectSet){.n_programs = job->n_programs,
                       .n_kernels = (int)job->set.list.count,
                       .programs = job->programs};
    return collect_files(job, n_files, compiled, arena, out);
}

bool kernels_compile(const KernelSet *set, const TargetOptions *options, const char *prefix,
                     Arena *arena, ObjectSet *out, Diagnostics *diags)
{
    const ObjectJob job = job_of(set, 0, NULL, prefix, options, NULL, arena);
    return compile_job(&job, arena, out, diags);
}

bool object_compile(const Function *const *functions, int n, const TargetOptions *target,
                    const char *prefix, Cache *cache, const ProgramKey *key, Arena *arena,
                    ObjectSet *out, Diagnostics *diags)
{
    KernelSet set;
    ProgramKey own;
    ObjectSet kept;
    if (cache && !key) {
        own = key_of_objects(target, functions, n, prefix);
        key = &own;
    }
    bool is_kept = cache && cache_get(cache, key, arena, &kept);
    if (!is_kept && !check_target(target, diags))
        return false;
    const TfcProgram *const *programs = plan_programs(functions, n, target, &set, arena, diags);
    if (!programs)
        return false;
    const char **symbols = ARENA_ARRAY(arena, const char *, n);
    for (int i = 0; i < n; i++)
        symbols[i] = arena_printf(arena, "%s%s", prefix, functions[i]->name);
    const ObjectJob job = job_of(&set, n, programs, prefix, target, *prefix ? NULL : cache, arena);
    bool ok = is_kept || compile_job(&job, arena, out, diags);
    if (is_kept)
        *out = (ObjectSet){.n_files = kept.n_files,
                           .files = kept.files,
                           .n_programs = n,
                           .n_kernels = (int)set.list.count,
                           .n_kept = (int)set.list.count,
                           .is_kept = true,
                           .programs = programs};
    out->symbols = symbols;
    if (ok && cache && !is_kept)
        cache_put(cache, key, out);
    return ok;
}

/* ---- bitcode ---- */

/* All files as one module; NULL after errors. */
static LLVMModuleRef link_files(const ObjectJob *job, const LlvmTarget *target,
                                LLVMContextRef context, Diagnostics *diags)
{
    LLVMModuleRef whole = target_new_module(target, context, "programs");
    for (int i = 0; i < count_files(job, target->gemm); i++) {
        LLVMModuleRef module = emit_file(job, i, target, context, diags);
        if (!module || LLVMLinkModules2(whole, module)) {
            assert(!module && "the modules of one program fit together");
            LLVMDisposeModule(whole);
            return NULL;
        }
    }
    return whole;
}

bool object_bitcode(const Function *const *functions, int n, const TargetOptions *options,
                    const char *prefix, Text *out, Diagnostics *diags)
{
    Arena *arena = arena_new();
    KernelSet set;
    LlvmTarget target = {0};
    const TfcProgram *const *programs =
        target_init(&target, options, true, diags)
            ? plan_programs(functions, n, options, &set, arena, diags)
            : NULL;
    LLVMContextRef context = programs ? LLVMContextCreate() : NULL;
    LLVMModuleRef module = NULL;
    if (programs) {
        const ObjectJob job = job_of(&set, n, programs, prefix, options, NULL, arena);
        module = link_files(&job, &target, context, diags);
    }
    if (module) {
        LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(module);
        text_put(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        LLVMDisposeMemoryBuffer(buffer);
        LLVMDisposeModule(module);
    }
    if (context)
        LLVMContextDispose(context);
    target_dispose(&target);
    arena_free(arena);
    return module != NULL;
}
