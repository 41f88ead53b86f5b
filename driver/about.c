#define _GNU_SOURCE
#include "driver/about.h"

#include "codegen/codegen.h"
#include "runtime/exec/exec.h"
#include "runtime/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *about_processor(Arena *arena)
{
    const char *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t room = 0;
    while (file && !name && getline(&line, &room, file) > 0)
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            const char *at = strchr(line, ':') + 1;
            at += strspn(at, " ");
            name = arena_strndup(arena, at, strcspn(at, "\n"));
        }
    free(line);
    if (file)
        fclose(file);
    return name;
}

bool about_read(Job *job, About *about)
{
    char blas[64];
    tfc_blas_name(blas, sizeof blas);
    *about = (About){
        .llvm = codegen_llvm(job->arena),
        .processor = about_processor(job->arena),
        .code = codegen_processor(&(TargetOptions){.opt_level = 2}, job->arena, &job->diags),
        .blas = arena_strdup(job->arena, blas),
        .mpi = ranks_modules(job->arena),
        .threads = exec_threads(),
    };
    return about->code != NULL;
}
