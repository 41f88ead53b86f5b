/* From functions to object files; see object.h. */
#include "codegen/object.h"

#include "codegen/cache.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/gemm/gemm.h"
#include "codegen/llvm/render.h"
#include "codegen/llvm/tables.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/plan/plan.h"
#include "codegen/products.h"

#include "base/team.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Kernels an object file: fewer balance better between threads, more spare the cost
 * that LLVM has for each module. */
enum { KERNELS_A_FILE = 6 };

/* ---- one file ---- */

typedef struct Job {
    const KernelSet *set;
    int n_programs;
    const TfcProgram *const *programs;
    const char *prefix;
} Job;

static LLVMModuleRef emit_tables(const Job *job, const Target *target, LLVMContextRef context)
{
    LLVMModuleRef module = target_new_module(target, context, "tables");
    for (int p = 0; p < job->n_programs; p++)
        tables_emit(context, module, job->programs[p], job->prefix, target->gemm);
    return module;
}

static int kernel_files(const Job *job)
{
    return ((int)job->set->list.count + KERNELS_A_FILE - 1) / KERNELS_A_FILE;
}

static LLVMModuleRef emit_product(const Job *job, int product, const Target *target,
                                  LLVMContextRef context, Diagnostics *diags)
{
    TfcType types[TFC_PRODUCT_TYPES];
    Arena *arena = arena_new();
    LoModule *loops = lo_module_new(arena);
    products_needed(job->programs, job->n_programs, target->gemm, types);
    const char *symbol = arena_printf(arena, "%s%s", job->prefix, product_names[types[product]]);
    emit_gemm(loops, &target->code, types[product], symbol);
    lo_run_passes(loops, &target->code);
    LLVMModuleRef module = render_module(loops, target, context, "products", diags);
    arena_free(arena);
    return module;
}

static LLVMModuleRef emit_some_kernels(const Job *job, int begin, int end, const Target *target,
                                       LLVMContextRef context, Diagnostics *diags)
{
    Arena *arena = arena_new();
    LoModule *loops = lo_module_new(arena);
    emit_kernels(loops, job->set, begin, end, job->prefix, &target->code);
    lo_run_passes(loops, &target->code);
    LLVMModuleRef module = render_module(loops, target, context, "kernels", diags);
    arena_free(arena);
    return module;
}

/* File 0 has the tables, the next ones kernels, the last products. NULL after errors. */
static LLVMModuleRef emit_file(const Job *job, int file, const Target *target, LLVMContextRef context,
                               Diagnostics *diags)
{
    int begin = (file - 1) * KERNELS_A_FILE, end = begin + KERNELS_A_FILE;
    int product = file - 1 - kernel_files(job);
    if (end > (int)job->set->list.count)
        end = (int)job->set->list.count;
    return file == 0      ? emit_tables(job, target, context)
           : product >= 0 ? emit_product(job, product, target, context, diags)
                          : emit_some_kernels(job, begin, end, target, context, diags);
}

static LLVMMemoryBufferRef compile_file(const Job *job, int file, const Target *target,
                                        Diagnostics *diags)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = emit_file(job, file, target, context, diags);
    LLVMMemoryBufferRef buffer = module ? target_emit(target, module, false, diags) : NULL;
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return buffer;
}

/* ---- all files, in parallel ---- */

typedef struct Files {
    const Job *job;
    const TargetOptions *options;
    int n;
    LLVMMemoryBufferRef *buffers;
    Diagnostics *diags;
    _Atomic int next;
    pthread_mutex_t mutex; /* of the diagnostics */
} Files;

/* With a target machine and diagnostics of its own, for all files that it gets to. */
static void compile_some(Files *files, int first)
{
    Arena *arena = arena_new();
    Diagnostics own;
    Target target;
    diag_init(&own, arena);
    bool ready = target_init(&target, files->options, true, &own);
    for (int i = first; i < files->n; i = atomic_fetch_add(&files->next, 1))
        files->buffers[i] = ready ? compile_file(files->job, i, &target, &own) : NULL;
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

static void compile_files(const Job *job, const TargetOptions *options, int n_files,
                          LLVMMemoryBufferRef *buffers, Diagnostics *diags)
{
    Files all = {job, options, n_files, buffers, diags, 0, PTHREAD_MUTEX_INITIALIZER}, *files = &all;
    int threads = team_default();
    team_each(threads, threads < n_files ? threads : n_files, take_files, &files);
}

static bool collect_files(int n_files, const LLVMMemoryBufferRef *buffers, Arena *arena, ObjectSet *out)
{
    bool ok = true;
    ObjectFile *files = ARENA_ARRAY(arena, ObjectFile, n_files);
    for (int i = 0; i < n_files; i++) {
        if (!buffers[i]) {
            ok = false;
            continue;
        }
        files[i].size = LLVMGetBufferSize(buffers[i]);
        files[i].bytes = arena_copy(arena, LLVMGetBufferStart(buffers[i]), files[i].size);
        LLVMDisposeMemoryBuffer(buffers[i]);
    }
    out->n_files = n_files;
    out->files = files;
    return ok;
}

/* ---- the whole ---- */

static bool check_target(const TargetOptions *options, Diagnostics *diags)
{
    Target target;
    bool ok = target_init(&target, options, true, diags);
    target_dispose(&target);
    return ok;
}

static int count_files(const Job *job, GemmChoice gemm)
{
    TfcType types[TFC_PRODUCT_TYPES];
    return 1 + kernel_files(job) + products_needed(job->programs, job->n_programs, gemm, types);
}

static bool compile_job(const Job *job, const TargetOptions *target, Arena *arena, ObjectSet *out,
                        Diagnostics *diags)
{
    GemmChoice gemm = target ? target->gemm : GEMM_BLAS;
    int n_files = count_files(job, gemm);
    LLVMMemoryBufferRef *buffers = ARENA_ARRAY(arena, LLVMMemoryBufferRef, n_files);
    compile_files(job, target, n_files, buffers, diags);
    *out = (ObjectSet){.n_programs = job->n_programs,
                       .n_kernels = (int)job->set->list.count,
                       .programs = job->programs};
    return collect_files(n_files, buffers, arena, out);
}

bool kernels_compile(const KernelSet *set, const TargetOptions *options, const char *prefix,
                     Arena *arena, ObjectSet *out, Diagnostics *diags)
{
    return compile_job(&(Job){.set = set, .prefix = prefix}, options, arena, out, diags);
}

bool object_compile(const Function *const *functions, int n, const TargetOptions *target,
                    const char *prefix, Cache *cache, Arena *arena, ObjectSet *out, Diagnostics *diags)
{
    KernelSet set;
    ProgramKey key;
    ObjectSet kept;
    if (cache)
        key = key_of_objects(target, functions, n, prefix);
    bool is_kept = cache && cache_get(cache, &key, arena, &kept);
    if (!is_kept && !check_target(target, diags))
        return false;
    const TfcProgram *const *programs = plan_programs(functions, n, target, &set, arena, diags);
    if (!programs)
        return false;
    const char **symbols = ARENA_ARRAY(arena, const char *, n);
    for (int i = 0; i < n; i++)
        symbols[i] = arena_printf(arena, "%s%s", prefix, functions[i]->name);
    Job job = {&set, n, programs, prefix};
    bool ok = is_kept || compile_job(&job, target, arena, out, diags);
    if (is_kept)
        *out = (ObjectSet){.n_files = kept.n_files, .files = kept.files, .n_programs = n,
                           .n_kernels = (int)set.list.count, .is_kept = true, .programs = programs};
    out->symbols = symbols;
    if (ok && cache && !is_kept)
        cache_put(cache, &key, out);
    return ok;
}

/* ---- bitcode ---- */

/* All files as one module; NULL after errors. */
static LLVMModuleRef link_files(const Job *job, const Target *target, LLVMContextRef context,
                                Diagnostics *diags)
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
    Target target = {0};
    const TfcProgram *const *programs = target_init(&target, options, true, diags)
                                            ? plan_programs(functions, n, options, &set, arena, diags)
                                            : NULL;
    LLVMContextRef context = programs ? LLVMContextCreate() : NULL;
    LLVMModuleRef module =
        programs ? link_files(&(Job){&set, n, programs, prefix}, &target, context, diags) : NULL;
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
