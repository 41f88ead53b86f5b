/* Interpreter of loop IR: runs a function, op by op and lane by lane, and checks what it touches.
 * Plain on purpose: what renderers make is compared with it.
 *
 * Beside results it finds mistakes of kernels: accesses outside of the memory they were given, or
 * less aligned than they say, divisions by 0, shifts past the width, indices that overflow. */
#ifndef TESTS_LOOP_INTERPRET_H
#define TESTS_LOOP_INTERPRET_H

#include "codegen/loop/loop.h"

/* Memory that a function may read, and perhaps write. */
typedef struct LoRange {
    void *start;
    size_t bytes;
    bool written;
} LoRange;

enum { LO_DEFAULT_STEPS = 100000000 };

typedef struct LoRun {
    const LoRange *ranges; /* beside its own scratch; NULL: all memory */
    size_t n_ranges;
    int64_t steps; /* ops at most; 0: LO_DEFAULT_STEPS */
    bool fused;    /* muladd rounds once */
} LoRun;

/* Runs a function of a verified module. An argument is the bits of a scalar: a number, a float, an
 * address. false: an error names the op and what it did; memory is as it was left. */
bool lo_interpret(LoFunction *function, const uint64_t *args, const LoRun *run, Diagnostics *diags);

static inline uint64_t lo_address(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

#endif
