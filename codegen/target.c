/* Targets: CPU names to vector widths, and LLVM's optimiser and code generator. */
#define _POSIX_C_SOURCE 200809L
#include "codegen/target.h"

#include "base/cpu.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPUs known by name: the x86-64 level each has, which says how wide its
 * vectors are, and whether any machine of that level runs its code. Others have
 * extensions that the code generator uses (vpermb, insertq, …); their names are
 * refused where code is to run, unless LLVM calls this machine by that name. */
typedef struct CpuInfo {
    const char *name;
    int level;
    bool is_level; /* its level is all that its code needs */
} CpuInfo;

static const CpuInfo x86_cpus[] = {
    {"x86-64", 1, true},          {"x86-64-v2", 2, true},      {"x86-64-v3", 3, true},
    {"x86-64-v4", 4, true},       {"nehalem", 2, true},        {"westmere", 2, true},
    {"sandybridge", 2, false},    {"ivybridge", 2, false},     {"haswell", 3, true},
    {"broadwell", 3, true},       {"skylake", 3, true},       {"alderlake", 3, false},
    {"skylake-avx512", 4, true}, {"cascadelake", 4, false},   {"cooperlake", 4, false},
    {"icelake-client", 4, false}, {"icelake-server", 4, false}, {"tigerlake", 4, false},
    {"sapphirerapids", 4, false}, {"emeraldrapids", 4, false}, {"graniterapids", 4, false},
    {"znver1", 3, false},         {"znver2", 3, false},        {"znver3", 3, false},
    {"znver4", 4, false},         {"znver5", 4, false},
};
static const CpuInfo arm_cpus[] = {
    {"generic", 1, true},      {"cortex-a53", 1, false},  {"cortex-a57", 1, false},
    {"cortex-a72", 1, false},  {"cortex-a76", 1, false},  {"cortex-x1", 1, false},
    {"neoverse-n1", 1, false}, {"neoverse-v1", 1, false}, {"neoverse-n2", 1, false},
    {"neoverse-v2", 1, false}, {"apple-m1", 1, false},    {"apple-m2", 1, false},
};
static const CpuInfo riscv_cpus[] = {{"generic-rv64", 1, true}, {"sifive-u74", 1, false}};
static const CpuInfo wasm_cpus[] = {{"generic", 1, true}};
enum { MAX_CPUS = sizeof x86_cpus / sizeof x86_cpus[0] };

/* CPUs that multiply pairs of bf16. Those with AMX have vdpbf16ps, too, at half the rate of
 * f32's fused multiply-add. */
static const struct {
    const char *name;
    TargetPairs pairs;
} pairs_cpus[] = {
    {"cooperlake", TARGET_PAIRS_DOTS},    {"znver4", TARGET_PAIRS_DOTS},
    {"znver5", TARGET_PAIRS_DOTS},        {"sapphirerapids", TARGET_PAIRS_AMX},
    {"emeraldrapids", TARGET_PAIRS_AMX}, {"graniterapids", TARGET_PAIRS_AMX},
};

#define INITIALISE(llvm)                                                                           \
    static void initialise_##llvm(void)                                                            \
    {                                                                                              \
        LLVMInitialize##llvm##TargetInfo();                                                        \
        LLVMInitialize##llvm##Target();                                                            \
        LLVMInitialize##llvm##TargetMC();                                                          \
        LLVMInitialize##llvm##AsmPrinter();                                                        \
        LLVMInitialize##llvm##AsmParser();                                                         \
    }
INITIALISE(X86)
INITIALISE(AArch64)
INITIALISE(RISCV)
INITIALISE(WebAssembly)

/* The architectures that kernels were tried on: all little-endian. Vector widths by
 * level, from 1; a level past the last has no fused multiply-add. */
typedef struct Arch {
    const char *name; /* how triples begin */
    void (*initialise)(void);
    const CpuInfo *cpus;
    int n_cpus, vector_bits[4], fma_level;
    const char *features, *abi;
    LLVMRelocMode relocations;
} Arch;

static const Arch arches[] = {
    {"x86_64", initialise_X86, x86_cpus, MAX_CPUS, {128, 128, 256, 512}, 3, "", NULL, LLVMRelocPIC},
    {"aarch64", initialise_AArch64, arm_cpus, sizeof arm_cpus / sizeof arm_cpus[0], {128}, 1, "", NULL,
     LLVMRelocPIC},
    {"riscv64", initialise_RISCV, riscv_cpus, sizeof riscv_cpus / sizeof riscv_cpus[0], {0}, 1,
     "+m,+a,+f,+d,+c", "lp64d", LLVMRelocPIC},
    {"wasm32", initialise_WebAssembly, wasm_cpus, 1, {128}, 5, "+simd128", NULL, LLVMRelocStatic},
};
enum { N_ARCHES = sizeof arches / sizeof arches[0] };

static const Arch *find_arch(const char *triple)
{
    for (int i = 0; i < N_ARCHES; i++) {
        size_t n = strlen(arches[i].name);
        if (!strncmp(triple, arches[i].name, n) && (!triple[n] || triple[n] == '-'))
            return &arches[i];
    }
    return NULL;
}

static const CpuInfo *find_cpu(const Arch *arch, const char *name)
{
    for (int i = 0; i < arch->n_cpus; i++)
        if (!strcmp(arch->cpus[i].name, name))
            return &arch->cpus[i];
    return NULL;
}

static void report_unknown_cpu(const Arch *arch, const char *name, Diagnostics *diags)
{
    const char *names[MAX_CPUS];
    for (int i = 0; i < arch->n_cpus; i++)
        names[i] = arch->cpus[i].name;
    const char *hint = text_suggest(diags->arena, "\"", name, names, (size_t)arch->n_cpus);
    diag_error(diags, (Loc){0}, "no CPU is called \"%s\"%s", name, hint);
    if (*hint)
        return;
    if (arch == &arches[0])
        diag_note(diags, (Loc){0},
                  "the general ones are x86-64, x86-64-v2, x86-64-v3 and x86-64-v4");
    else
        diag_note(diags, (Loc){0}, "the general one is %s", arch->cpus[0].name);
}

/* Of this machine what its features say. */
static TargetPairs pairs_of(const char *cpu, const char *features)
{
    if (strstr(features, "+amx-bf16"))
        return TARGET_PAIRS_AMX;
    if (strstr(features, "+avx512bf16"))
        return TARGET_PAIRS_DOTS;
    for (size_t i = 0; !*features && i < sizeof pairs_cpus / sizeof pairs_cpus[0]; i++)
        if (!strcmp(pairs_cpus[i].name, cpu))
            return pairs_cpus[i].pairs;
    return TARGET_PAIRS_WIDENED;
}

/* Width and availability of FMA follow from the level. */
static void set_cpu(Target *target, const Arch *arch, const char *name, const char *features, int level)
{
    target->cpu = strdup(name);
    target->features = strdup(features);
    target->vector_bits = target->scalar ? 0 : arch->vector_bits[level - 1];
    target->fma = level >= arch->fma_level;
    target->x86 = arch == &arches[0];
    if (target->vector_bits == 512)
        target->pairs = pairs_of(name, features);
}

static void set_host(Target *target, const Arch *arch, const char *name)
{
    char *features = LLVMGetHostCPUFeatures();
    set_cpu(target, arch, name, features, cpu_level());
    LLVMDisposeMessage(features);
}

/* What will run in this process may use AMX if the system allows it. Code called "native"
 * goes into libraries, which do not ask the system for it. */
static bool may_use_amx(const char *name, bool foreign)
{
    if (name && !strcmp(name, "native"))
        return false;
    return (name && foreign) || cpu_allows_amx();
}

bool target_is_here(const char *cpu)
{
    char *host = LLVMGetHostCPUName();
    bool is = !cpu || !strcmp(cpu, "native") || !strcmp(cpu, host);
    LLVMDisposeMessage(host);
    return is;
}

static bool choose_cpu(Target *target, const Arch *arch, const char *name, bool foreign,
                       Diagnostics *diags)
{
    char *host = LLVMGetHostCPUName();
    const bool here = arch == &arches[0];
    const CpuInfo *cpu = name ? find_cpu(arch, name) : &arch->cpus[0];
    bool ok = true;
    if (here && (!name || !strcmp(name, "native")))
        set_host(target, arch, host);
    else if (!cpu) {
        report_unknown_cpu(arch, name, diags);
        ok = false;
    } else if (!foreign && (!cpu->is_level || cpu->level > cpu_level())) {
        diag_error(diags, (Loc){0}, "this machine (%s, x86-64-v%d) cannot run code for \"%s\"",
                   host, cpu_level(), name);
        ok = false;
    } else
        set_cpu(target, arch, cpu->name, arch->features, cpu->level);
    LLVMDisposeMessage(host);
    if (target->pairs == TARGET_PAIRS_AMX && !may_use_amx(name, foreign))
        target->pairs = TARGET_PAIRS_WIDENED;
    return ok;
}

static void set_options(void)
{
    /* Loop strength reduction takes a third of the time of code generation and finds
     * nothing: addresses are a base and an index already. */
    const char *const settings[] = {"tfc", "-disable-lsr"};
    LLVMParseCommandLineOptions(2, settings, "");
}

/* LLVM's registry of targets is not for several threads at once. */
static void initialise_llvm(const Arch *arch)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool options_set, ready[N_ARCHES];
    pthread_mutex_lock(&lock);
    if (!options_set)
        set_options();
    options_set = true;
    if (!ready[arch - arches])
        arch->initialise();
    ready[arch - arches] = true;
    pthread_mutex_unlock(&lock);
}

static const Arch *choose_arch(const char *triple, Diagnostics *diags)
{
    const char *names[N_ARCHES];
    const Arch *arch = find_arch(triple);
    if (arch)
        return arch;
    for (int i = 0; i < N_ARCHES; i++)
        names[i] = arches[i].name;
    const char *hint = text_suggest(diags->arena, "\"", triple, names, N_ARCHES);
    diag_error(diags, (Loc){0}, "there is no code generator for \"%s\"%s", triple, hint);
    if (!*hint)
        diag_note(diags, (Loc){0}, "targets begin with x86_64, aarch64, riscv64 or wasm32");
    return NULL;
}

static bool make_machine(Target *target, const Arch *arch, const char *triple, Diagnostics *diags)
{
    char *message = NULL;
    LLVMTargetRef llvm_target;
    initialise_llvm(arch);
    if (LLVMGetTargetFromTriple(triple, &llvm_target, &message)) {
        diag_error(diags, (Loc){0}, "LLVM has no target for %s: %s", triple, message);
        LLVMDisposeMessage(message);
        return false;
    }
    bool optimise = target->opt_level > 0 && !target->scalar;
    LLVMTargetMachineOptionsRef o = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(o, target->cpu);
    LLVMTargetMachineOptionsSetFeatures(o, target->features);
    if (arch->abi)
        LLVMTargetMachineOptionsSetABI(o, arch->abi);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(
        o, optimise ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelNone);
    LLVMTargetMachineOptionsSetRelocMode(o, arch->relocations);
    target->machine = LLVMCreateTargetMachineWithOptions(llvm_target, triple, o);
    LLVMDisposeTargetMachineOptions(o);
    if (!target->machine)
        diag_error(diags, (Loc){0}, "LLVM has no code generator for %s", triple);
    return target->machine != NULL;
}

bool target_init(Target *target, const TargetOptions *options, bool foreign, Diagnostics *diags)
{
    *target = (Target){.scalar = options && options->scalar,
                       .opt_level = options ? options->opt_level : 2,
                       .gemm = options ? options->gemm : GEMM_BLAS};
    char *triple = options && options->triple ? LLVMNormalizeTargetTriple(options->triple)
                                              : LLVMGetDefaultTargetTriple();
    const Arch *arch = choose_arch(triple, diags);
    bool ok = arch && choose_cpu(target, arch, options ? options->cpu : NULL, foreign, diags) &&
              make_machine(target, arch, triple, diags);
    LLVMDisposeMessage(triple);
    return ok;
}

void target_dispose(Target *target)
{
    if (target->machine)
        LLVMDisposeTargetMachine(target->machine);
    free(target->cpu);
    free(target->features);
    *target = (Target){0};
}

LLVMModuleRef target_new_module(const Target *target, LLVMContextRef context, const char *name)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(target->machine);
    char *triple = LLVMGetTargetMachineTriple(target->machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    return module;
}

bool target_optimise(const Target *target, LLVMModuleRef module, Diagnostics *diags)
{
#ifndef NDEBUG
    char *text = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &text)) {
        LLVMDumpModule(module);
        fprintf(stderr, "a kernel is not valid LLVM IR: %s\n", text);
        abort(); /* like an assertion: no input may lead here */
    }
    LLVMDisposeMessage(text);
#endif
    if (target->opt_level == 0 || target->scalar)
        return true;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(
        module, "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
        target->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    diag_error(diags, (Loc){0}, "LLVM could not optimise the kernels: %s", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

LLVMMemoryBufferRef target_emit(const Target *target, LLVMModuleRef module, bool assembly,
                                Diagnostics *diags)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (!LLVMTargetMachineEmitToMemoryBuffer(target->machine, module,
                                             assembly ? LLVMAssemblyFile : LLVMObjectFile, &message,
                                             &buffer))
        return buffer;
    diag_error(diags, (Loc){0}, "LLVM could not generate code: %s", message);
    LLVMDisposeMessage(message);
    return NULL;
}

const char *codegen_processor(const TargetOptions *options, Arena *arena, Diagnostics *diags)
{
    static const char *const pairs[] = {"", ", vdpbf16ps", ", AMX"};
    Target target;
    const char *name = NULL;
    if (target_init(&target, options, false, diags)) {
        name = arena_printf(arena, "%s, %d bits%s", target.cpu, target.vector_bits,
                            pairs[target.pairs]);
        target_dispose(&target);
    }
    return name;
}
