/* Targets: CPU names to rows of targets.def, and LLVM's optimiser and code generator. */
#define _POSIX_C_SOURCE 200809L
#include "codegen/llvm/target.h"

#include "base/cpu.h"
#include "codegen/cache.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define PROCESSOR(name, ...) AT_##name,
#define CPU(...)
#include "codegen/targets.def"
    N_PROCESSORS
};

static const Processor processors[N_PROCESSORS] = {
#define PROCESSOR(name, ...) {#name, __VA_ARGS__},
#define CPU(...)
#include "codegen/targets.def"
};

typedef struct CpuInfo {
    const char *name;
    const Processor *processor;
    int level;
    bool exact;
} CpuInfo;

static const CpuInfo cpus[] = {
#define PROCESSOR(...)
#define CPU(name, kind, level, exact) {name, &processors[AT_##kind], level, exact},
#include "codegen/targets.def"
};
enum { N_CPUS = sizeof cpus / sizeof cpus[0] };

#define INITIALISE(llvm)                    \
    static void initialise_##llvm(void)     \
    {                                       \
        LLVMInitialize##llvm##TargetInfo(); \
        LLVMInitialize##llvm##Target();     \
        LLVMInitialize##llvm##TargetMC();   \
        LLVMInitialize##llvm##AsmPrinter(); \
        LLVMInitialize##llvm##AsmParser();  \
    }
INITIALISE(X86)
INITIALISE(AArch64)
INITIALISE(RISCV)
INITIALISE(WebAssembly)

/* The architectures that kernels were tried on: all little-endian. */
typedef struct Arch {
    const char *name; /* how triples begin */
    void (*initialise)(void);
    const char *level; /* what its levels are called (base/cpu.h); NULL: it has none */
    const char *abi;
    int granule; /* bits of a register at vscale 1, if functions tell the least vscale; else 0 */
    LLVMRelocMode relocations;
} Arch;

static const Arch arches[] = {
    {"x86_64", initialise_X86, "x86-64-v%d", NULL, 0, LLVMRelocPIC},
    {"aarch64", initialise_AArch64, "%d bits of SVE", NULL, 128, LLVMRelocPIC},
    {"riscv64", initialise_RISCV, NULL, "lp64d", 0, LLVMRelocPIC},
    {"wasm32", initialise_WebAssembly, NULL, NULL, 0, LLVMRelocStatic},
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

/* This machine's; NULL if no kernels were tried on its like. */
static const Arch *arch_here(void)
{
#if defined(__x86_64__)
    return find_arch("x86_64");
#elif defined(__aarch64__)
    return find_arch("aarch64");
#elif defined(__riscv) && __riscv_xlen == 64
    return find_arch("riscv64");
#else
    return NULL;
#endif
}

static bool is_of(const Processor *processor, const Arch *arch)
{
    return !strcmp(processor->arch, arch->name);
}

/* NULL: the general one. */
static const CpuInfo *find_cpu(const Arch *arch, const char *name)
{
    for (int i = 0; i < N_CPUS; i++)
        if (is_of(cpus[i].processor, arch) && (!name || !strcmp(cpus[i].name, name)))
            return &cpus[i];
    return NULL;
}

static void report_unknown_cpu(const Arch *arch, const char *name, Diagnostics *diags)
{
    const char *names[N_CPUS];
    size_t n = 0;
    for (int i = 0; i < N_CPUS; i++)
        if (is_of(cpus[i].processor, arch))
            names[n++] = cpus[i].name;
    const char *hint = text_suggest(diags->arena, "\"", name, names, n);
    diag_error(diags, (Loc){0}, "no CPU is called \"%s\"%s", name, hint);
    const bool levels = !strcmp(names[0], "x86-64");
    if (!*hint)
        diag_note(diags, (Loc){0}, "the general one%s %s", levels ? "s are" : " is",
                  levels ? "x86-64, x86-64-v2, x86-64-v3 and x86-64-v4" : names[0]);
}

/* What will run in this process may use AMX if the system allows it. Code called "native"
 * goes into libraries, which do not ask the system for it. */
static bool may_use_amx(const char *name, bool foreign)
{
    if (name && !strcmp(name, "native"))
        return false;
    return (name && foreign) || cpu_allows_amx();
}

/* What this machine is, by its level and what LLVM says it has. */
static const Processor *processor_here(const Arch *arch, const char *features, bool amx)
{
    for (int i = 0; i < N_PROCESSORS; i++) {
        const Processor *p = &processors[i];
        if (is_of(p, arch) && p->level <= cpu_level() && strstr(features, p->feature) &&
            (amx || p->pairs != TARGET_PAIRS_AMX))
            return p;
    }
    return &processors[AT_scalar];
}

static void set_cpu(LlvmTarget *target, const Processor *processor, const char *name,
                    const char *features)
{
    target->cpu = strdup(name);
    target->features = strdup(features);
    memory_need(target->cpu && target->features);
    target->code.processor = target->code.scalar ? &processors[AT_scalar] : processor;
}

static void set_host(LlvmTarget *target, const Arch *arch, const char *name, bool amx)
{
    char *found = LLVMGetHostCPUFeatures();
    Text features = {0};
    text_add(&features, "%s%s", found, cpu_has_dots() ? ",+dotprod" : ""); /* LLVM does not tell */
    const Processor *processor = processor_here(arch, features.data, amx);
    text_add(&features, "%s%s", *processor->features ? "," : "", processor->features);
    set_cpu(target, processor, name, features.data);
    text_free(&features);
    LLVMDisposeMessage(found);
}

/* Whether LLVM calls this machine so. */
static bool is_host(const char *cpu)
{
    char *host = LLVMGetHostCPUName();
    bool is = !strcmp(cpu, host);
    LLVMDisposeMessage(host);
    return is;
}

/* Whether the name is of code that any machine of a level runs, and this one has the level. */
static bool is_level(const char *name)
{
    const CpuInfo *cpu = arch_here() ? find_cpu(arch_here(), name) : NULL;
    return cpu && cpu->exact && cpu->level <= cpu_level();
}

bool target_settle(TargetOptions *options, Diagnostics *diags)
{
    LlvmTarget target;
    if (options->cpu && !strcmp(options->cpu, "native"))
        options->cpu = NULL;
    options->triple = NULL;
    if (arch_here() && (!options->cpu || is_level(options->cpu))) {
        if (!options->cpu)
            cpu_allows_amx(); /* before there are threads */
        return true;
    }
    if (!llvm_load(diags))
        return false;
    if (options->cpu && is_host(options->cpu))
        options->cpu = NULL;
    bool ok = target_init(&target, options, false, diags);
    target_dispose(&target);
    return ok;
}

static void report_other_cpu(const Arch *arch, const char *host, const char *name,
                             Diagnostics *diags)
{
    char level[32] = "";
    if (arch->level && cpu_level())
        snprintf(level, sizeof level, arch->level, cpu_level());
    diag_error(diags, (Loc){0}, "this machine (%s%s%s) cannot run code for \"%s\"", host,
               *level ? ", " : "", level, name);
    diag_note(diags, (Loc){0}, "its own code is that for \"native\"");
}

static bool choose_cpu(LlvmTarget *target, const Arch *arch, const TargetOptions *options,
                       bool foreign, Diagnostics *diags)
{
    const char *name = options ? options->cpu : NULL;
    const bool general = !name && options && options->triple;
    const CpuInfo *cpu = find_cpu(arch, name);
    char *host = LLVMGetHostCPUName();
    bool ok = true;
    target->granule = arch->granule;
    if (arch == arch_here() && !general && (!name || !strcmp(name, "native")))
        set_host(target, arch, host, may_use_amx(name, foreign));
    else if (!cpu) {
        report_unknown_cpu(arch, name, diags);
        ok = false;
    } else if (!foreign && (arch != arch_here() || !cpu->exact || cpu->level > cpu_level())) {
        report_other_cpu(arch, host, name, diags);
        ok = false;
    } else
        set_cpu(target, cpu->processor, cpu->name, cpu->processor->features);
    LLVMDisposeMessage(host);
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

/* `here`: the triple is this machine's. */
static const Arch *choose_arch(const char *triple, bool here, Diagnostics *diags)
{
    const char *names[N_ARCHES];
    const Arch *arch = find_arch(triple);
    if (arch)
        return arch;
    for (int i = 0; i < N_ARCHES; i++)
        names[i] = arches[i].name;
    const char *hint = here ? "" : text_suggest(diags->arena, "\"", triple, names, N_ARCHES);
    diag_error(diags, (Loc){0}, "there is no code generator for %s\"%s\"%s",
               here ? "this machine, " : "", triple, hint);
    if (here)
        diag_note(diags, (Loc){0},
                  "tfc trains and computes on x86_64, aarch64 and riscv64; its compile "
                  "--target writes libraries for other systems");
    else if (!*hint)
        diag_note(diags, (Loc){0}, "targets begin with x86_64, aarch64, riscv64 or wasm32");
    return NULL;
}

static bool make_machine(LlvmTarget *target, const Arch *arch, const char *triple,
                         Diagnostics *diags)
{
    char *message = NULL;
    LLVMTargetRef llvm_target;
    initialise_llvm(arch);
    if (LLVMGetTargetFromTriple(triple, &llvm_target, &message)) {
        diag_error(diags, (Loc){0}, "LLVM has no target for %s: %s", triple, message);
        LLVMDisposeMessage(message);
        return false;
    }
    bool optimise = target->opt_level > 0 && !target->code.scalar;
    LLVMTargetMachineOptionsRef o = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(o, target->cpu);
    LLVMTargetMachineOptionsSetFeatures(o, target->features);
    if (arch->abi)
        LLVMTargetMachineOptionsSetABI(o, arch->abi);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(o, optimise ? LLVMCodeGenLevelDefault
                                                           : LLVMCodeGenLevelNone);
    LLVMTargetMachineOptionsSetRelocMode(o, arch->relocations);
    target->machine = LLVMCreateTargetMachineWithOptions(llvm_target, triple, o);
    LLVMDisposeTargetMachineOptions(o);
    if (!target->machine)
        diag_error(diags, (Loc){0}, "LLVM has no code generator for %s", triple);
    return target->machine != NULL;
}

bool target_init(LlvmTarget *target, const TargetOptions *options, bool foreign, Diagnostics *diags)
{
    *target = (LlvmTarget){.code.scalar = options && options->scalar,
                           .code.emulates_fma = options && options->emulates_fma,
                           .opt_level = options ? options->opt_level : 2,
                           .gemm = options ? options->gemm : GEMM_BLAS,
                           .choice = options ? options->choice : (TfcChoice){{0}}};
    if (!llvm_load(diags))
        return false;
    char *triple = options && options->triple ? LLVMNormalizeTargetTriple(options->triple)
                                              : LLVMGetDefaultTargetTriple();
    const Arch *arch = choose_arch(triple, !options || !options->triple, diags);
    bool ok = arch && choose_cpu(target, arch, options, foreign, diags) &&
              make_machine(target, arch, triple, diags);
    LLVMDisposeMessage(triple);
    return ok;
}

void target_dispose(LlvmTarget *target)
{
    if (target->machine)
        LLVMDisposeTargetMachine(target->machine);
    free(target->cpu);
    free(target->features);
    *target = (LlvmTarget){0};
}

LLVMModuleRef target_new_module(const LlvmTarget *target, LLVMContextRef context, const char *name)
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

/* Where registers are of any length, vectors of a fixed one take them if functions say that
 * they are long enough. */
static void tell_lengths(const LlvmTarget *target, LLVMModuleRef module)
{
    if (target->code.processor->vector_bits <= target->granule || !target->granule)
        return;
    static const char name[] = "vscale_range";
    uint64_t least = (uint64_t)(target->code.processor->vector_bits / target->granule);
    LLVMAttributeRef range = LLVMCreateEnumAttribute(
        LLVMGetModuleContext(module), LLVMGetEnumAttributeKindForName(name, sizeof name - 1),
        least << 32);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, range);
}

bool target_optimise(const LlvmTarget *target, LLVMModuleRef module, Diagnostics *diags)
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
    tell_lengths(target, module);
    if (target->opt_level == 0 || target->code.scalar)
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

LLVMMemoryBufferRef target_emit(const LlvmTarget *target, LLVMModuleRef module, bool assembly,
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

static const char *name_processor(const void *options, Arena *arena, Diagnostics *diags)
{
    static const char *const pairs[] = {"", ", vdpbf16ps", ", AMX"};
    LlvmTarget target;
    const char *name = NULL;
    if (target_init(&target, options, false, diags)) {
        const Processor *p = target.code.processor;
        const char *fma = p->fused                   ? ""
                          : target.code.emulates_fma ? ", fused multiply-add emulated"
                                                     : ", without fused multiply-add";
        name = arena_printf(arena, "%s, %d bits%s%s", target.cpu, p->vector_bits, pairs[p->pairs],
                            fma);
        target_dispose(&target);
    }
    return name;
}

/* What is said of the options' processor, kept in the cache under this word; NULL after errors. */
static const char *kept_words(const char *word, MakeText *make, const TargetOptions *options,
                              Arena *arena, Diagnostics *diags)
{
    TargetOptions settled = *options;
    if (!target_settle(&settled, diags))
        return NULL;
    ProgramKey key = key_of_text(arena_printf(arena, "%s %s scalar %d fma %d", word,
                                              settled.cpu ? settled.cpu : "", settled.scalar,
                                              settled.emulates_fma),
                                 NULL);
    return cache_made_text(&key, make, &settled, arena, diags);
}

const char *codegen_processor(const TargetOptions *options, Arena *arena, Diagnostics *diags)
{
    return kept_words("processor", name_processor, options, arena, diags);
}

static const char *name_kind(const void *options, Arena *arena, Diagnostics *diags)
{
    LlvmTarget target;
    const char *name = NULL;
    if (target_init(&target, options, false, diags)) {
        name = arena_strdup(arena, target.code.processor->name);
        target_dispose(&target);
    }
    return name;
}

const Processor *codegen_kind(const TargetOptions *options, Arena *arena, Diagnostics *diags)
{
    const char *name = kept_words("kind of processor", name_kind, options, arena, diags);
    for (int i = 0; name && i < N_PROCESSORS; i++)
        if (!strcmp(processors[i].name, name))
            return &processors[i];
    return NULL;
}

bool codegen_target(const TargetOptions *options, CodeTarget *out, Diagnostics *diags)
{
    LlvmTarget target;
    if (options->cpu && !strcmp(options->cpu, "generic")) {
        *out = (CodeTarget){.processor = &processors[AT_scalar],
                            .emulates_fma = options->emulates_fma};
        return true;
    }
    bool ok = target_init(&target, options, true, diags);
    *out = target.code;
    target_dispose(&target);
    return ok;
}

static const char *tell_version(const void *context, Arena *arena, Diagnostics *diags)
{
    unsigned major, minor, patch;
    if (!llvm_load(diags))
        return NULL;
    LLVMGetVersion(&major, &minor, &patch);
    return arena_printf(arena, "%u.%u.%u", major, minor, patch);
}

const char *codegen_llvm(Arena *arena, Diagnostics *diags)
{
    ProgramKey key = key_of_text("LLVM's version", NULL);
    return cache_made_text(&key, tell_version, NULL, arena, diags);
}

bool codegen_is_here(const char *triple)
{
    const Arch *arch = find_arch(triple);
    return arch && arch == arch_here();
}
