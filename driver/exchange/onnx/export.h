/* Exports a function of a model as an ONNX model (opset 17): params are initializers under their
 * names; caches, and params that the function assigns, are inputs and outputs. docs/onnx.md
 * describes how to call it. */
#ifndef DRIVER_EXCHANGE_ONNX_EXPORT_H
#define DRIVER_EXCHANGE_ONNX_EXPORT_H

#include "driver/session/session.h"

/* Writes a function of session_function, before any pass, with its params in the store. False after
 * errors, such as an op that ONNX has no operators for, or a file that would be larger than
 * 2 GB. */
bool onnx_export(Job *job, const Function *function, const Store *store, const char *path);

#endif
