/* Processor: what code generation knows about the processor for which kernels are compiled. */
#ifndef CODEGEN_PROCESSOR_H
#define CODEGEN_PROCESSOR_H

#include <stdbool.h>

/* TargetPairs: how pairs of bf16 are multiplied. */
typedef enum TargetPairs {
    TARGET_PAIRS_WIDENED, /* as f32: no instruction for pairs */
    TARGET_PAIRS_DOTS,    /* vdpbf16ps, 512 bits wide */
    TARGET_PAIRS_AMX      /* tdpbf16ps */
} TargetPairs;

/* TargetQuads: how integers of 8 bits are multiplied, by others or by those of 4. */
typedef enum TargetQuads {
    TARGET_QUADS_WIDENED, /* as i32 */
    TARGET_QUADS_WORDS,   /* pairs of i16 at once: pmaddwd and its like */
    TARGET_QUADS_PAIRS, /* the same; integers of 4 bits as bytes, whose sums an i16 holds: pmaddubsw */
    TARGET_QUADS_DOTS,  /* four at once, bytes without sign by bytes with one: vpdpbusd */
    TARGET_QUADS_SIGNED /* four at once, with signs: sdot */
} TargetQuads;

/* A row of targets.def, which explains the columns. */
typedef struct Processor {
    const char *name, *arch;
    int level;
    const char *feature, *features;
    int vector_bits, registers;
    bool fused, masks_are_free, scales_at_once;
    TargetPairs pairs;
    TargetQuads quads;
    int line, ahead, second_level; /* bytes */
} Processor;

/* CodeTarget: what builders of loop IR know about the target. */
typedef struct CodeTarget {
    const Processor *processor;
    bool scalar;       /* math functions are the C library's, or a device's own */
    bool emulates_fma; /* muladd is rounded once where the processor cannot (pass emulate_fma) */
    bool device;       /* kernels are for a device with memory of its own (runtime/exec/device.h) */
} CodeTarget;

/* Why programs for the processor compute bits of their own, as words behind a colon; NULL: they
 * compute the bits that all processors do for which this is NULL.
 *   native    native products alone, none of OpenBLAS
 *   emulated  fused multiply-add where the processor has none
 *   pairs     products of bf16 */
const char *processor_own_bits(const Processor *processor, bool native, bool emulated, bool pairs);

struct TargetOptions;
struct Diagnostics;
/* Settles the options for code that runs in this process. `triple` becomes NULL, and so does `cpu`
 * if it names this machine; any other name that is left is `exact` (targets.def), of a level that
 * this machine has. If `cpu` becomes NULL, the system is asked for the use of AMX. LLVM is loaded
 * only if the name alone does not decide. False after errors: this machine cannot run the code. */
bool target_settle(struct TargetOptions *options, struct Diagnostics *diags);
/* The target of C code for these options; with the cpu "generic" the code computes one number at a
 * time, on any architecture. out->processor lives as long as the process. False after errors. */
bool codegen_target(const struct TargetOptions *options, CodeTarget *out,
                    struct Diagnostics *diags);

#endif
