/* Products of matrices as a kernel for a device with memory of its own. */
#ifndef CODEGEN_EMIT_GEMM_DEVICE_PRODUCT_H
#define CODEGEN_EMIT_GEMM_DEVICE_PRODUCT_H

#include "codegen/loop/loop.h"
#include "runtime/exec/program.h"

/* DeviceProduct: what such a kernel depends on.
 *   type        of a and b
 *   result      of c
 *   accumulate  whether each product is added to what c has */
typedef struct DeviceProduct {
    TfcType type, result;
    bool accumulate;
} DeviceProduct;

/* Adds the kernel to the module under this name; its parameters are words, unit, numbers, a, b, c
 * (runtime/exec/device.h). */
void emit_device_product(LoModule *module, const DeviceProduct *product, const char *name);

#endif
