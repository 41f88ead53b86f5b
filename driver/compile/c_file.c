/* A model as one C file: the runtime that it needs, its kernels and tables, and what joins them.
 * Beside it lie the header and, where params or vocabularies are inside, files of their bytes,
 * which the assembler reads by the C file's own path. */
#include "driver/compile/artifact.h"
#include "driver/compile/one_file.h"

#include "base/file.h"
#include "base/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the text ---- */

static void put_opening(const Artifact *a, const char *cpu, Text *out)
{
    text_add(
        out,
        "/* %s, compiled by tfc to C; %s.h tells what there is to call.\n"
        " *\n"
        " *   cc -O2 -march=native -ffp-contract=off -fopenmp-simd -pthread main.c %s -lm\n"
        " *\n"
        " * gcc from 12 on or clang. It needs the C library alone, and its threads where the system has them.\n"
        " * Its loops are cut for the vectors of %s; other processors run them, too, slower. Not for -ffast-math.\n"
        " *\n"
        " * The order: the runtime, a file after the other; kernels, each with the lines of the model that it is\n"
        " * for; the programs' tables; the functions of the header. */\n",
        a->name, a->name, text_visible_name(a->job->arena, file_name(a->output)), cpu);
}

static void put_settings(Text *out)
{
    text_add(out, "%s",
             "#if !defined(_GNU_SOURCE)\n"
             "#define _GNU_SOURCE\n"
             "#endif\n"
             "#if !defined(NDEBUG)\n"
             "#define NDEBUG\n"
             "#endif\n"
             "#if defined(__wasi__) && !defined(_WASI_EMULATED_MMAN)\n"
             "#define _WASI_EMULATED_MMAN\n"
             "#endif\n"
             "#if defined(__wasi__) && !defined(_WASI_EMULATED_GETPID)\n"
             "#define _WASI_EMULATED_GETPID\n"
             "#endif\n"
             "#define TFC_CALL static\n");
}

/* Files of the runtime are here whole, whatever of them this model calls; loops are marked for
 * -fopenmp-simd, which a compiler may not heed. */
static void put_pragmas(Text *out)
{
    text_add(out, "%s",
             "\n"
             "/* A product and a sum are rounded each by itself. */\n"
             "#if defined(__clang__)\n"
             "#pragma STDC FP_CONTRACT OFF\n"
             "#else\n"
             "#pragma GCC optimize(\"fp-contract=off\")\n"
             "#endif\n"
             "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
             "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
             "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n"
             "#if defined(__clang__)\n"
             "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
             "#endif\n");
}

/* The parts of the runtime that the glue needs. */
static bool put_runtime(const Artifact *a, const char *glue, Text *out)
{
    const char *folder = compile_runtime_folder(a->job);
    return folder && one_file(a->job, file_in(a->job->arena, folder, "one_file.parts"), glue, out);
}

bool compile_joined_glue(const Artifact *a, Text *out)
{
    Text glue = {0};
    compile_glue(a, &glue);
    put_settings(out);
    bool ok = put_runtime(a, glue.data, out);
    text_string(out, glue.data);
    text_free(&glue);
    return ok;
}

static bool write_code(const Artifact *a, Text *out)
{
    Text glue = {0};
    compile_glue(a, &glue);
    put_opening(a, a->cpus[0].name ? a->cpus[0].name : a->target->triple, out);
    put_settings(out);
    put_pragmas(out);
    bool ok = put_runtime(a, glue.data, out);
    text_add(out, "\n/* ======== kernels and tables ======== */\n\n");
    text_put(out, a->code.data, a->code.length);
    text_add(out, "/* ======== %s.h ======== */\n\n", a->name);
    text_string(out, glue.data);
    text_free(&glue);
    return ok;
}

/* ---- the files ---- */

enum { MOST_FILES = 2 + MAX_MEMBERS + 2 };

typedef struct Outputs {
    Job *job;
    const char *output; /* the C file */
    char *folder;       /* beside it, where all are made */
    int n;
    const char *written[MOST_FILES], *final[MOST_FILES];
} Outputs;

/* A NewFile, beside the C file in the end. */
static const char *new_output(void *context, const char *name)
{
    Outputs *o = context;
    o->final[o->n] = file_target(o->job->arena, file_beside(o->job->arena, o->output, name));
    o->written[o->n] = file_in(o->job->arena, o->folder, name);
    return o->written[o->n++];
}

static bool put_in_place(const Outputs *o)
{
    for (int i = 0; i < o->n; i++)
        if (file_is_folder(o->final[i]))
            return diag_errno(&o->job->diags, "write", o->final[i], EISDIR), false;
    for (int i = 0; i < o->n; i++)
        if (rename(o->written[i], o->final[i]))
            return diag_errno(&o->job->diags, "write", o->final[i], errno), false;
    return true;
}

bool compile_c(const Artifact *a, const char *header)
{
    Outputs o = {.job = a->job, .output = a->output};
    if (!temporary_folder(file_target(a->job->arena, a->output), 0700, &o.folder))
        return diag_errno(&a->job->diags, "write", a->output, errno), false;
    Text code = {0};
    bool ok = write_code(a, &code);
    ok =
        ok && compile_blobs(a, new_output, &o) &&
        file_write_all(&a->job->diags, new_output(&o, arena_printf(a->job->arena, "%s.h", a->name)),
                       header, strlen(header)) &&
        file_write_all(&a->job->diags, new_output(&o, file_name(a->output)), code.data,
                       code.length) &&
        put_in_place(&o);
    file_remove_tree(o.folder);
    free(o.folder);
    text_free(&code);
    return ok;
}
