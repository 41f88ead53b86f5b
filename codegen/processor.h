/* What code generation knows of the processor that kernels are for. */
#ifndef CODEGEN_PROCESSOR_H
#define CODEGEN_PROCESSOR_H

#include <stdbool.h>

/* How pairs of bf16 are multiplied. */
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

/* CodeTarget: what builders of loop IR are told. */
typedef struct CodeTarget {
    const Processor *processor;
    bool scalar; /* the reference: functions are the C library's */
    bool mxcsr;  /* a control register of this name says what denormals are */
    bool device; /* kernels are for a device with memory of its own (runtime/exec/device.h) */
} CodeTarget;

struct TargetOptions;
struct Diagnostics;
/* Settles the options for code that runs in this process: cpu becomes NULL where it is a name of this machine, and
 * is else one whose level is all that its code needs. Where code may use AMX, the system is asked for it. LLVM is not
 * needed where the name says enough. False after errors: this machine cannot run it. */
bool target_settle(struct TargetOptions *options, struct Diagnostics *diags);
/* What C is written for: that of these options, but of "generic" one number at a time, on any
 * architecture. The processor lives as long as the process. False after errors. */
bool codegen_target(const struct TargetOptions *options, CodeTarget *out, struct Diagnostics *diags);

#endif
