/* Targets: CPU names to vector widths, and LLVM's optimiser and code generator. */
#define _POSIX_C_SOURCE 200809L
#include "codegen/target.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The CPUs known by name: the x86-64 level each has, which says how wide its
 * vectors are, and whether any machine of that level runs its code. Others have
 * extensions that the code generator uses (vpermb, insertq, …); their names are
 * refused on any other CPU unless LLVM calls this machine by that name. */
typedef struct CpuInfo {
    const char *name;
    int level;
    bool is_level; /* its level is all that its code needs */
} CpuInfo;

static const CpuInfo cpus[] = {
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
enum { N_CPUS = sizeof cpus / sizeof cpus[0] };

static int host_level(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4"))
        return 4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return 3;
    return __builtin_cpu_supports("x86-64-v2") ? 2 : 1;
}

static const CpuInfo *find_cpu(const char *name)
{
    for (int i = 0; i < N_CPUS; i++)
        if (!strcmp(cpus[i].name, name))
            return &cpus[i];
    return NULL;
}

static void report_unknown_cpu(const char *name, Diagnostics *diags)
{
    const char *names[N_CPUS];
    for (int i = 0; i < N_CPUS; i++)
        names[i] = cpus[i].name;
    const char *nearest = text_nearest(name, names, N_CPUS);
    diag_error(diags, (Loc){0}, "no CPU is called \"%s\"", name);
    if (nearest)
        diag_note(diags, (Loc){0}, "did you mean \"%s\"?", nearest);
    else
        diag_note(diags, (Loc){0},
                  "the general ones are x86-64, x86-64-v2, x86-64-v3 and x86-64-v4");
}

/* Width and availability of FMA follow from the level. */
static void set_level(Target *target, int level)
{
    target->vector_bits = target->scalar ? 0 : level >= 4 ? 512 : level == 3 ? 256 : 128;
    target->fma = level >= 3;
}

static bool choose_cpu(Target *target, const char *name, bool foreign, Diagnostics *diags)
{
    char *host = LLVMGetHostCPUName();
    bool ok = true;
    if (!name || !strcmp(name, "native") || !strcmp(name, host)) {
        char *features = LLVMGetHostCPUFeatures();
        target->cpu = strdup(host);
        target->features = strdup(features);
        LLVMDisposeMessage(features);
        set_level(target, host_level());
    } else {
        const CpuInfo *cpu = find_cpu(name);
        if (!cpu) {
            report_unknown_cpu(name, diags);
            ok = false;
        } else if (!foreign && (!cpu->is_level || cpu->level > host_level())) {
            diag_error(diags, (Loc){0}, "this machine (%s, x86-64-v%d) cannot run code for \"%s\"",
                       host, host_level(), name);
            ok = false;
        } else {
            target->cpu = strdup(name);
            target->features = strdup("");
            set_level(target, cpu->level);
        }
    }
    LLVMDisposeMessage(host);
    return ok;
}

static void initialise_llvm(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    /* Loop strength reduction takes a third of the time of code generation and finds
     * nothing: addresses are a base and an index already. */
    const char *const settings[] = {"tfc", "-disable-lsr"};
    LLVMParseCommandLineOptions(2, settings, "");
}

bool target_init(Target *target, const TargetOptions *options, bool foreign, Diagnostics *diags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise_llvm);
    *target = (Target){.scalar = options && options->scalar,
                       .opt_level = options ? options->opt_level : 2};
    if (!choose_cpu(target, options ? options->cpu : NULL, foreign, diags))
        return false;
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    LLVMTargetRef llvm_target;
    if (LLVMGetTargetFromTriple(triple, &llvm_target, &message)) {
        diag_error(diags, (Loc){0}, "LLVM has no target for %s: %s", triple, message);
        LLVMDisposeMessage(message);
    } else {
        bool optimise = target->opt_level > 0 && !target->scalar;
        LLVMTargetMachineOptionsRef o = LLVMCreateTargetMachineOptions();
        LLVMTargetMachineOptionsSetCPU(o, target->cpu);
        LLVMTargetMachineOptionsSetFeatures(o, target->features);
        LLVMTargetMachineOptionsSetCodeGenOptLevel(
            o, optimise ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelNone);
        LLVMTargetMachineOptionsSetRelocMode(o, LLVMRelocPIC);
        target->machine = LLVMCreateTargetMachineWithOptions(llvm_target, triple, o);
        LLVMDisposeTargetMachineOptions(o);
        if (!target->machine)
            diag_error(diags, (Loc){0}, "LLVM has no code generator for %s", triple);
    }
    LLVMDisposeMessage(triple);
    return target->machine != NULL;
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
        diag_error(diags, (Loc){0}, "a kernel is not valid LLVM IR: %s", text);
        LLVMDisposeMessage(text);
        return false;
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
