/* What `tfc compile` compiles for: --target, --cpu, and which products go with them. */
#include "driver/compile/artifact.h"

#include "base/cpu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const linux_options[] = {"-fPIC", "-pthread", "-fopenmp-simd", NULL};
static const char *const linux_link[] = {"-Wl,--gc-sections,--as-needed,-z,noexecstack", NULL};
/* One thread, static code, a stack for kernels' rows of scratch. */
static const char *const wasi_options[] = {"-msimd128", "-D_WASI_EMULATED_MMAN",
                                           "-D_WASI_EMULATED_GETPID", NULL};
static const char *const wasi_link[] = {"-lwasi-emulated-mman", "-lwasi-emulated-getpid",
                                        "-Wl,-z,stack-size=8388608", NULL};

static const CompileTarget targets[] = {
    {"x86_64-linux-gnu", "x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu and libc6-dev-amd64-cross",
     linux_options, linux_link, true, false},
    {"aarch64-linux-gnu", "aarch64-linux-gnu-gcc",
     "gcc-aarch64-linux-gnu and libc6-dev-arm64-cross", linux_options, linux_link, false, false},
    {"riscv64-linux-gnu", "riscv64-linux-gnu-gcc",
     "gcc-riscv64-linux-gnu and libc6-dev-riscv64-cross", linux_options, linux_link, false, false},
    {"wasm32-wasi", "clang-19 --target=wasm32-wasi",
     "clang-19, lld-19, wasi-libc and libclang-rt-19-dev-wasm32", wasi_options, wasi_link, false,
     true},
};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

static const char script_target[] = "wasm32-wasi";

ArtifactKind artifact_kind_of(const char *emit)
{
    static const char *const words[] = {
        [ARTIFACT_SO] = "so", [ARTIFACT_OBJ] = "obj",   [ARTIFACT_EXE] = "exe",
        [ARTIFACT_C] = "c",   [ARTIFACT_LLVM] = "llvm", [ARTIFACT_ASM] = "asm",
        [ARTIFACT_BC] = "bc", [ARTIFACT_JS] = "js",     [ARTIFACT_HTML] = "html"};
    int kind = 0;
    while (kind < ARTIFACT_KINDS && strcmp(emit, words[kind]))
        kind++;
    assert(kind < ARTIFACT_KINDS);
    return (ArtifactKind)kind;
}

bool artifact_is_alone(const Artifact *a)
{
    return a->makes == ARTIFACT_EXE || artifact_is_script(a);
}

bool artifact_is_script(const Artifact *a)
{
    return a->makes == ARTIFACT_JS || a->makes == ARTIFACT_HTML;
}

bool artifact_is_c(const Artifact *a) { return a->makes == ARTIFACT_C; }

bool artifact_shows_name(const Artifact *a)
{
    return a->makes == ARTIFACT_SO || a->makes == ARTIFACT_OBJ || artifact_is_c(a) ||
           a->makes == ARTIFACT_JS;
}

bool artifact_is_foreign(const Artifact *a) { return !codegen_is_here(a->target->triple); }

bool artifact_is_joined(const Artifact *a)
{
    const bool is_linked = !artifact_is_c(a) && a->makes != ARTIFACT_OBJ;
    return artifact_is_c(a) || (is_linked && artifact_is_foreign(a) && !getenv("TFC_RUNTIME"));
}

const char *artifact_compiler(const Artifact *a)
{
    return artifact_is_foreign(a) ? a->target->compiler : "cc";
}

const char *artifact_packages(const Artifact *a)
{
    return artifact_is_foreign(a) ? a->target->packages : "gcc";
}

static bool choose_target(Artifact *a, const char *triple)
{
    const char *names[N_TARGETS];
    Text list = {0};
    a->target = NULL;
    for (int i = 0; i < N_TARGETS; i++) {
        names[i] = targets[i].triple;
        text_add(&list, "%s%s", i ? i + 1 < N_TARGETS ? ", " : " or " : "", names[i]);
        if (triple ? !strcmp(triple, names[i]) : codegen_is_here(names[i]))
            a->target = &targets[i];
    }
    if (!a->target && triple)
        job_error(a->job, "no target is called \"%s\": %s%s", triple, list.data,
                  text_suggest(a->job->arena, "\"", triple, names, N_TARGETS));
    else if (!a->target)
        job_error(a->job, "this system is none that tfc compiles for: --target names one, %s",
                  list.data);
    text_free(&list);
    return a->target != NULL;
}

/* ---- CPUs ---- */

/* One of an x86-64's, where this system is one; kept in falling order of levels. */
static bool add_level(Artifact *a, const char *name)
{
    static const char *const names[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"};
    int level = 0;
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, names[i]))
            level = i < 4 ? i + 1 : cpu_level();
    if (!level)
        return job_error(a->job,
                         "no CPU to compile for is called \"%s\": x86-64, x86-64-v2, x86-64-v3, "
                         "x86-64-v4 or native%s",
                         name, text_suggest(a->job->arena, "\"", name, names, 5));
    for (int i = 0; i < a->n_cpus; i++)
        if (a->cpus[i].level == level)
            return job_error(a->job, "--cpu names %s twice (%s is the same level)", a->cpus[i].name,
                             name);
    int at = a->n_cpus++;
    for (; at > 0 && a->cpus[at - 1].level < level; at--)
        a->cpus[at] = a->cpus[at - 1];
    a->cpus[at] = (CompiledCpu){.name = name, .level = level};
    return true;
}

/* Any other that codegen knows; its code does not ask what runs it. */
static bool add_other(Artifact *a, const char *name)
{
    if (name && strchr(name, ','))
        return job_error(a->job, "several CPUs in one file are for x86-64: %s takes one",
                         a->target->triple);
    a->cpus[a->n_cpus++] = (CompiledCpu){.name = name};
    return true;
}

static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

/* Of C: the vectors that its loops are cut for. */
static bool add_vectors(Artifact *a, const char *name)
{
    if (name && strchr(name, ','))
        return job_error(a->job, "C is for one CPU: --cpu names several");
    if (!name && !artifact_is_foreign(a) && a->target->has_levels)
        name = levels[cpu_level() - 1];
    a->cpus[a->n_cpus++] = (CompiledCpu){.name = name};
    return true;
}

static bool add_cpus(Artifact *a, const char *list)
{
    if (artifact_is_c(a))
        return add_vectors(a, list);
    if (artifact_is_foreign(a) || !a->target->has_levels)
        return add_other(a, list);
    if (!list)
        return add_level(a, levels[cpu_level() - 1]);
    char *names = arena_strdup(a->job->arena, list), *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!add_level(a, name))
            return false;
    return a->n_cpus > 0 || job_error(a->job, "--cpu names none");
}

/* ---- products ---- */

static bool choose_gemm(Artifact *a, const char *word)
{
    if (word && artifact_is_c(a) && strcmp(word, "native"))
        return job_error(a->job, "--gemm %s needs OpenBLAS: C has products of its own", word);
    if (word && artifact_is_foreign(a) && strcmp(word, "native"))
        return job_error(
            a->job, "--gemm %s needs OpenBLAS, which only this system has: %s has native products",
            word, a->target->triple);
    if (word && a->job->emulates_fma && strcmp(word, "native"))
        return job_error(a->job, "--fma emulate is for native products: leave --gemm %s out", word);
    a->gemm = !word || !strcmp(word, "native") ? GEMM_NATIVE
              : !strcmp(word, "blas")          ? GEMM_BLAS
                                               : GEMM_AUTO;
    return a->gemm != GEMM_AUTO || session_choice(a->job, &a->choice);
}

bool artifact_choose_target(Artifact *a, const char *triple, const char *cpus, const char *gemm)
{
    if (artifact_is_script(a) && triple && strcmp(triple, script_target))
        return job_error(a->job, "--emit %s makes WebAssembly: leave --target out", a->emit);
    if (!choose_target(a, artifact_is_script(a) ? script_target : triple))
        return false;
    if (a->target->is_wasm && a->makes == ARTIFACT_SO)
        return job_error(a->job, "%s has no shared libraries: compile a program or an object",
                         triple);
    return add_cpus(a, cpus) && choose_gemm(a, gemm);
}

TargetOptions artifact_target(const Artifact *a, int cpu)
{
    return (TargetOptions){.cpu = a->cpus[cpu].name,
                           .emulates_fma = a->job->emulates_fma,
                           .opt_level = 2,
                           .triple = a->cpus[cpu].level ? NULL : a->target->triple,
                           .gemm = a->gemm,
                           .choice = a->choice};
}
