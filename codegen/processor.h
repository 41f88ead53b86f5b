/* Processor: what code generation knows about the processor for which kernels are compiled. */
#ifndef CODEGEN_PROCESSOR_H
#define CODEGEN_PROCESSOR_H

#include <stdbool.h>

/* TargetPairs: the instruction that multiplies pairs of bf16. */
typedef enum TargetPairs {
    TARGET_PAIRS_WIDENED, /* as f32 */
    TARGET_PAIRS_DOTS,    /* vdpbf16ps, 512 bits wide */
    TARGET_PAIRS_AMX      /* tdpbf16ps */
} TargetPairs;

/* A row of targets.def, where its columns are explained. */
typedef struct Processor {
    const char *name, *arch;
    int level;
    const char *feature, *features;
    int vector_bits, registers;
    bool fused, masks_are_free, scales_at_once;
    TargetPairs pairs;
    int line, ahead, second_level; /* bytes */
} Processor;

/* CodeTarget: what builders of loop IR know about the target. */
typedef struct CodeTarget {
    const Processor *processor;
    bool scalar; /* the reference: functions are the C library's */
    bool mxcsr;  /* the control register MXCSR says how denormals are treated */
    bool device; /* kernels are for a device with memory of its own (runtime/exec/device.h) */
} CodeTarget;

struct TargetOptions;
struct Diagnostics;
/* Settles the options for code that runs in this process. cpu becomes NULL if it names this
 * machine; any other name has a level that states all that its code needs. If code may use AMX, the
 * system is asked for it. LLVM is loaded only if the name alone does not decide. False after
 * errors: this machine cannot run the code. */
bool target_settle(struct TargetOptions *options, struct Diagnostics *diags);
/* The target of C code for these options; for "generic" it computes one number at a time, on any
 * architecture. The processor lives as long as the process. False after errors. */
bool codegen_target(const struct TargetOptions *options, CodeTarget *out,
                    struct Diagnostics *diags);

#endif
