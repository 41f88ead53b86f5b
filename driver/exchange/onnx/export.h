/* A function of a model as an ONNX model (opset 17): params are initializers under their names,
 * caches are inputs and outputs. docs/onnx.md tells how it is called. */
#ifndef DRIVER_EXCHANGE_ONNX_EXPORT_H
#define DRIVER_EXCHANGE_ONNX_EXPORT_H

#include "driver/session/session.h"

/* The function is one of session_function, before any pass; the store has its params. False
 * after errors: an op that ONNX has no words for, more than 2 GB. */
bool onnx_export(Job *job, const Function *function, const Store *store, const char *path);

#endif
