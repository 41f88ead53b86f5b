/* Programs for OpenCL devices. */
#ifndef CODEGEN_C_OPENCL_H
#define CODEGEN_C_OPENCL_H

#include "ir/graph.h"
#include "runtime/exec/device.h"

/* The value of --passes for a device: without the passes that make what it has no kernels for. */
#define OPENCL_PASSES "-fuse_attention,-chunk_rows,-prepack"

/* The program of a function after those passes, in the arena. False after errors, which name what a
 * device has no kernel for. */
bool opencl_program(const Function *function, Arena *arena, TfcDeviceCode *out, Diagnostics *diags);

#endif
