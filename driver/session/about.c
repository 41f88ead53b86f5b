#define _GNU_SOURCE
#include "driver/session/about.h"

#include "codegen/codegen.h"
#include "codegen/processor.h"
#include "driver/session/tuning.h"
#include "runtime/exec/exec.h"
#include "runtime/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* What stands behind the separator in the first line of a file that begins with the name, without
 * blanks and quotes around it; NULL: there is none. */
static const char *field_of(const char *path, const char *name, char separator, Arena *arena)
{
    const char *value = NULL;
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    while (file && !value && getline(&line, &room, file) > 0)
        if (!strncmp(line, name, strlen(name)) && strchr(line, separator)) {
            const char *at = strchr(line, separator) + 1;
            at += strspn(at, " \"");
            value = arena_strndup(arena, at, strcspn(at, "\"\n"));
        }
    free(line);
    if (file)
        fclose(file);
    return value;
}

const char *about_processor(Arena *arena)
{
    return field_of("/proc/cpuinfo", "model name", ':', arena);
}

/* "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64" (os-release(5), uname(2)) */
static const char *system_name(Arena *arena)
{
    struct utsname names;
    if (uname(&names))
        return "unknown";
    const char *name = field_of("/etc/os-release", "PRETTY_NAME", '=', arena);
    return arena_printf(arena, "%s%s%s %s %s", name ? name : "", name ? ", " : "", names.sysname,
                        names.release, names.machine);
}

/* Of native products: "common", perhaps not of bf16; NULL after an error. */
static const char *bits_text(Job *job)
{
    const Processor *kind = codegen_kind(&(TargetOptions){.opt_level = 2}, job->arena, &job->diags);
    const char *own = kind ? processor_own_bits(kind, true, false, false) : NULL,
               *pairs = kind ? processor_own_bits(kind, true, false, true) : NULL;
    if (own)
        return arena_printf(job->arena, "its own: %s", own);
    if (pairs)
        return arena_printf(job->arena, "common in f32; in bf16 its own: %s", pairs);
    return kind ? "common" : NULL;
}

bool about_read(Job *job, About *about)
{
    *about = (About){
        .llvm = codegen_llvm(job->arena, &job->diags),
        .processor = about_processor(job->arena),
        .code = codegen_processor(&(TargetOptions){.opt_level = 2}, job->arena, &job->diags),
        .bits = bits_text(job),
        .system = system_name(job->arena),
        .blas = tuning_blas(job->arena, &job->diags),
        .mpi = ranks_modules(job->arena),
        .threads = exec_threads(),
    };
    return about->llvm && about->code && about->bits && about->blas;
}

void about_put(const About *about, const char *commit, Text *out)
{
    text_add(
        out,
        "tfc %s\ncommit      %s\nLLVM        %s\nsystem      %s\nprocessor   %s\ncode for    %s\nbits        %s\nthreads     %d\n"
        "OpenBLAS    %s\nMPI         %s\n",
        TFC_VERSION, commit, about->llvm, about->system,
        about->processor ? about->processor : "unknown", about->code, about->bits, about->threads,
        about->blas, about->mpi);
}
