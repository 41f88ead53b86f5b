/* Programs for OpenCL devices. */
#ifndef CODEGEN_C_OPENCL_H
#define CODEGEN_C_OPENCL_H

#include "ir/graph.h"
#include "runtime/exec/device.h"

/* The value of --passes for a device: without the passes whose results have no kernels for a
 * device. */
#define OPENCL_PASSES "-fuse_attention,-chunk_rows,-prepack"

/* The program of a function after the passes of OPENCL_PASSES, in the arena. False after errors,
 * such as an op that has no kernel for a device. */
bool opencl_program(const Function *function, Arena *arena, TfcDeviceCode *out, Diagnostics *diags);

#endif
