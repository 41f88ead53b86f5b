/* From functions to object files; see object.h. */
#include "codegen/object.h"

#include "codegen/emit/emit.h"
#include "codegen/emit/gemm.h"
#include "codegen/plan/plan.h"
#include "codegen/tables.h"

#include <stdio.h>
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

/* Types whose native products the programs need, in rising order. */
static int product_types(const Job *job, GemmChoice gemm, TfcType types[2])
{
    int n = 0;
    for (int type = 0; gemm != GEMM_BLAS && type < 2; type++)
        for (int p = 0; p < job->n_programs; p++)
            if (program_multiplies(job->programs[p], (TfcType)type)) {
                types[n++] = (TfcType)type;
                break;
            }
    return n;
}

static LLVMModuleRef emit_product(const Job *job, int product, const Target *target,
                                  LLVMContextRef context, Diagnostics *diags)
{
    TfcType types[2];
    char symbol[256];
    LLVMModuleRef module = target_new_module(target, context, "products");
    product_types(job, target->gemm, types);
    snprintf(symbol, sizeof symbol, "%s%s", job->prefix, product_names[types[product]]);
    emit_gemm(context, module, target, types[product] == TFC_F32 ? 4 : 8, symbol);
    if (target_optimise(target, module, diags))
        return module;
    LLVMDisposeModule(module);
    return NULL;
}

/* File 0 has the tables, the next ones kernels, the last products. */
static LLVMMemoryBufferRef compile_file(const Job *job, int file, const Target *target,
                                        Diagnostics *diags)
{
    LLVMContextRef context = LLVMContextCreate();
    int begin = (file - 1) * KERNELS_A_FILE, end = begin + KERNELS_A_FILE;
    int product = file - 1 - kernel_files(job);
    if (end > (int)job->set->list.count)
        end = (int)job->set->list.count;
    LLVMModuleRef module =
        file == 0      ? emit_tables(job, target, context)
        : product >= 0 ? emit_product(job, product, target, context, diags)
                       : emit_kernels(job->set, begin, end, job->prefix, target, context, diags);
    LLVMMemoryBufferRef buffer = module ? target_emit(target, module, false, diags) : NULL;
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return buffer;
}

/* ---- all files, in parallel ---- */

/* Each thread has a target machine and diagnostics of its own. */
static void compile_files(const Job *job, const TargetOptions *options, int n_files,
                          LLVMMemoryBufferRef *buffers, Diagnostics *diags)
{
#pragma omp parallel
    {
        Arena *arena = arena_new();
        Diagnostics own;
        Target target;
        diag_init(&own, arena);
        bool ready = target_init(&target, options, true, &own);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < n_files; i++)
            buffers[i] = ready ? compile_file(job, i, &target, &own) : NULL;
#pragma omp critical(tfc_compile_errors)
        for (size_t i = 0; i < own.list.count; i++)
            diag_error(diags, own.list.data[i].loc, "%s", own.list.data[i].message);
        target_dispose(&target);
        arena_free(arena);
    }
}

static bool collect_files(int n_files, int n_products, const LLVMMemoryBufferRef *buffers, Arena *arena,
                          ObjectSet *out)
{
    bool ok = true;
    ObjectFile *files = ARENA_ARRAY(arena, ObjectFile, n_files);
    for (int i = 0; i < n_files; i++) {
        if (!buffers[i]) {
            ok = false;
            continue;
        }
        int product = i - (n_files - n_products);
        files[i].name = i == 0 ? "tables"
                        : product >= 0 ? arena_printf(arena, "products.%d", product)
                                       : arena_printf(arena, "kernels.%d", i - 1);
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
    if (ok && !target_has_layout(&target)) {
        diag_error(diags, (Loc){0},
                   "programs need 64-bit pointers in little-endian order, which %s has not",
                   options->triple ? options->triple : "this system");
        ok = false;
    }
    target_dispose(&target);
    return ok;
}

static bool compile_job(const Job *job, const TargetOptions *target, Arena *arena, ObjectSet *out,
                        Diagnostics *diags)
{
    int n_kernels = (int)job->set->list.count;
    TfcType types[2];
    int n_products = product_types(job, target ? target->gemm : GEMM_BLAS, types);
    int n_files = 1 + kernel_files(job) + n_products;
    LLVMMemoryBufferRef *buffers = ARENA_ARRAY(arena, LLVMMemoryBufferRef, n_files);
    compile_files(job, target, n_files, buffers, diags);
    *out = (ObjectSet){
        .n_programs = job->n_programs, .n_kernels = n_kernels, .programs = job->programs};
    return collect_files(n_files, n_products, buffers, arena, out);
}

bool kernels_compile(const KernelSet *set, const TargetOptions *options, const char *prefix,
                     Arena *arena, ObjectSet *out, Diagnostics *diags)
{
    return compile_job(&(Job){.set = set, .prefix = prefix}, options, arena, out, diags);
}

bool object_compile(const Function *const *functions, int n, const TargetOptions *target,
                    const char *prefix, Arena *arena, ObjectSet *out, Diagnostics *diags)
{
    if (!check_target(target, diags))
        return false;
    KernelSet set;
    kernels_init(&set, arena);
    const TfcProgram **programs = ARENA_ARRAY(arena, const TfcProgram *, n);
    const char **symbols = ARENA_ARRAY(arena, const char *, n);
    for (int i = 0; i < n; i++) {
        TfcProgram *program = ARENA_NEW(arena, TfcProgram);
        const TfcProgram *planned = plan_program(functions[i], &set, arena, diags);
        if (!planned)
            return false;
        *program = *planned;
        if (!target || target->gemm != GEMM_NATIVE)
            program->products = (TfcProducts){.blas = {tfc_blas_f32, tfc_blas_f64}};
        programs[i] = program;
        symbols[i] = arena_printf(arena, "%s%s", prefix, functions[i]->name);
    }
    Job job = {&set, n, programs, prefix};
    bool ok = compile_job(&job, target, arena, out, diags);
    out->symbols = symbols;
    return ok;
}
