/* A kernel for one shape: what the executor and products call. */
#ifndef RUNTIME_EXEC_KERNEL_H
#define RUNTIME_EXEC_KERNEL_H

#include "runtime/exec/program.h"

typedef struct BoundKernel {
    TfcKernel call;
    TfcKernelArgs args;
    int64_t begin, end, block; /* units; units a task */
} BoundKernel;

#endif
