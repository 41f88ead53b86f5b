/* Programs: compiling, setting the batch, running. */
#define _GNU_SOURCE
#include "tests/graphs/program.h"

#include "codegen/c/unit.h"
#include "ir/text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a library of the same objects ---- */

static bool write_object(const char *path, const ObjectFile *file)
{
    FILE *out = fopen(path, "wb");
    bool ok = out && fwrite(file->bytes, 1, file->size, out) == file->size;
    return out && !fclose(out) && ok;
}

static const TfcProgram *open_library(Program *program, const char *folder, const char *command,
                                      const char *symbol)
{
    Opened *opened = program->opened;
    bool ok = command && !system(arena_printf(opened->arena, "%s -lm", command));
    if (ok)
        program->library =
            dlopen(arena_printf(opened->arena, "%s/lib.so", folder), RTLD_NOW | RTLD_LOCAL);
    if (system(arena_printf(opened->arena, "rm -rf %s", folder)))
        ok = false;
    program->rejected = !program->library;
    if (program->rejected)
        diag_error(&opened->diags, (Loc){0}, "the library cannot be made: %s",
                   ok ? dlerror() : "cc");
    return program->library ? dlsym(program->library, symbol) : NULL;
}

/* Writes the program as C, compiles it with cc and opens the library. From the project's root. */
static const TfcProgram *compile_c(Program *program, const TargetOptions *target)
{
    Opened *opened = program->opened;
    const Function *function = opened->function;
    ObjectSet set;
    Text text = {0};
    char folder[] = "/tmp/graphs-XXXXXX";
    text_add(&text, "#include \"runtime/exec/program.h\"\n#include <math.h>\n");
    if (!c_programs(&function, 1, target, "graph_", opened->arena, &set, &text, &opened->diags) ||
        !mkdtemp(folder)) {
        text_free(&text);
        return NULL;
    }
    text_add(&text, "extern const TfcProgram *const graph;\nconst TfcProgram *const graph = &%s;\n",
             set.symbols[0]);
    FILE *out = fopen(arena_printf(opened->arena, "%s/graph.c", folder), "wb");
    bool ok = out && fwrite(text.data, 1, text.length, out) == text.length;
    ok = out && !fclose(out) && ok;
    text_free(&text);
    const char *command = arena_printf(
        opened->arena,
        "cc -O1 -march=native -ffp-contract=off -Wall -Wextra -Werror -I. -shared -fPIC %s/graph.c -o %s/lib.so",
        folder, folder);
    const TfcProgram *const *tables =
        (const void *)open_library(program, folder, ok ? command : NULL, "graph");
    return tables ? *tables : NULL;
}

/* Links the objects with cc and opens the library; NULL if that cannot be done. */
static const TfcProgram *link_library(Program *program, const TargetOptions *target)
{
    Opened *opened = program->opened;
    const Function *function = opened->function;
    ObjectSet set;
    char folder[] = "/tmp/graphs-XXXXXX";
    if (!object_compile(&function, 1, target, "graph_", NULL, NULL, opened->arena, &set,
                        &opened->diags) ||
        !mkdtemp(folder))
        return NULL;
    const char *command = arena_printf(opened->arena, "cc -shared -o %s/lib.so", folder);
    bool ok = true;
    for (int i = 0; i < set.n_files; i++) {
        const char *path = arena_printf(opened->arena, "%s/%d.o", folder, i);
        ok = ok && write_object(path, &set.files[i]);
        command = arena_printf(opened->arena, "%s %s", command, path);
    }
    return open_library(program, folder, ok ? command : NULL, set.symbols[0]);
}

/* ---- making ---- */

static Outcome refused(Opened *opened, const char *where)
{
    return outcome_of_diags(RESULT_REFUSED, &opened->diags, where);
}

static void note_pass(void *observer, const PassInfo *pass, Function *function)
{
    ((Seen *)observer)->remade++;
}

Outcome program_make(Program *program, Opened *opened, const Case *c, const Run *run, Build build,
                     Seen *seen)
{
    *program = (Program){.c = c, .opened = opened};
    PipelineOptions options = run_pipeline(run);
    options.observe = note_pass;
    options.observer = seen;
    TargetOptions target = run_target(run);
    if (!lower_opened(run, opened, &c->batches[0], options))
        return outcome_of_diags(RESULT_INVALID, &opened->diags, "pipeline");
    if (!ir_verify(opened->module, &opened->diags))
        return outcome_of_diags(RESULT_INVALID, &opened->diags, "verify");
    note_function(opened->function, seen);
    program->store = store_new();
    if (build == BUILD_OPENCL)
        return opencl_make(program) ? outcome_ok() : refused(opened, "compile");
    if (build == BUILD_LIBRARY || build == BUILD_C) {
        target.gemm = GEMM_NATIVE;
        target.cpu = target.cpu ? target.cpu : "native";
        program->tables =
            build == BUILD_C ? compile_c(program, &target) : link_library(program, &target);
    } else {
        program->jit = jit_new(&target, &opened->diags);
        if (program->jit && getenv("TFC_CACHE")) /* not the user's own */
            jit_use_cache(program->jit, NULL);
        program->tables =
            program->jit ? jit_compile(program->jit, opened->function, NULL, &opened->diags) : NULL;
    }
    if (program->tables && build == BUILD_INTERPRETED)
        program->tables = interpret_kernels(program, &target);
    if (program->rejected)
        return outcome_of_diags(RESULT_INVALID, &opened->diags,
                                build == BUILD_INTERPRETED ? "loop IR" : "cc");
    if (!program->tables)
        return refused(opened, "compile");
    if (!store_add_program(program->store, program->tables))
        return outcome(RESULT_REFUSED, "store", "no memory for params");
    program->exec = exec_new(program->tables, program->store);
    return outcome_ok();
}

static void free_caches(Program *program)
{
    for (int i = 0; i < program->n_caches; i++)
        free(program->caches[i].data);
    program->n_caches = 0;
}

void program_free(Program *program)
{
    opencl_free(program);
    exec_free(program->exec);
    free_caches(program);
    store_free(program->store);
    if (program->jit)
        jit_free(program->jit);
    if (program->library)
        dlclose(program->library);
}

/* ---- values ---- */

void program_give(Program *program, const Given *given)
{
    free_caches(program);
    program->caches =
        arena_array(program->opened->arena, (size_t)given->n + 1, sizeof *program->caches);
    for (int i = 0; i < given->n; i++) {
        const OracleTensor *from = &given->tensors[i];
        StoreTensor *tensor = store_find(program->store, from->name);
        void *data = tensor ? tensor->data : NULL;
        if (!tensor) {
            if (!exec_cache(program->exec, from->name, NULL))
                continue; /* an input */
            data = aligned_alloc(64, (size_t)(from->count * 8 + 127) / 64 * 64);
            exec_cache(program->exec, from->name, data);
            program->caches[program->n_caches++] = (ProgramCache){from->name, data};
        }
        for (int64_t e = 0; e < from->count; e++)
            store_value(from->type.dtype, data, e, from->data[e]);
    }
    store_changed(program->store);
}

void program_params(Program *program, Given *given)
{
    for (int i = 0; i < given->n; i++) {
        OracleTensor *to = &given->tensors[i];
        const StoreTensor *tensor = store_find(program->store, to->name);
        for (int64_t e = 0; tensor && e < to->count; e++)
            to->data[e] = load_value(to->type.dtype, tensor->data, e);
    }
}

/* Inputs in memory of their own, just as long as they are, so that reads past their end show. */
static bool set_inputs(Program *program, const Given *given)
{
    for (int i = 0; i < given->n; i++) {
        const OracleTensor *from = &given->tensors[i];
        if (store_find(program->store, from->name))
            continue;
        void *data = arena_alloc(program->opened->arena, (size_t)from->count * 8 + 8);
        for (int64_t e = 0; e < from->count; e++)
            store_value(from->type.dtype, data, e, from->data[e]);
        exec_input(program->exec, from->name,
                   data); /* one that is not read is no input of the program */
    }
    return true;
}

bool program_run(Program *program, const Batch *batch, const Given *given, uint64_t step,
                 int threads)
{
    const Module *module = program->opened->module;
    for (size_t i = 0; i < module->symbols.count; i++) {
        const BatchDim *d = &batch->dims[i];
        int dim = exec_dim(program->exec, module->symbols.data[i].name);
        if (symbol_is_made(module, (int)i))
            continue;
        if (d->n >= 0)
            exec_set_ragged(program->exec, dim, d->n, d->lengths, NULL);
        else
            exec_set_dim(program->exec, dim, d->extent);
    }
    exec_set_threads(threads);
    exec_set_rng(program->exec, program->c->seed, step);
    return set_inputs(program, given) &&
           (program->device ? opencl_run(program) : exec_run(program->exec)) &&
           !program->opened->diags.errors;
}

const void *program_output(Program *program, const char *name, int64_t *count)
{
    *count = exec_output_count(program->exec, name);
    return program->device ? opencl_output(program, name, *count)
                           : exec_output(program->exec, name);
}

const void *program_param(Program *program, const char *name, int64_t *count)
{
    const StoreTensor *tensor = store_find(program->store, name);
    *count = tensor ? tensor->count : -1;
    for (int i = 0; !tensor && i < program->n_caches; i++)
        if (!strcmp(program->caches[i].name, name))
            return program->caches[i].data;
    return tensor ? tensor->data : NULL;
}
