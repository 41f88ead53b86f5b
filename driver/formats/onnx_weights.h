/* The initialisers of an ONNX model (onnx.proto of ONNX: ModelProto.graph.initializer) as tensors
 * by name, and the tensors of its Constant nodes, each under the name of its output; scalars and
 * whole numbers of 64 bits of these are the graph's. Weights that PyTorch's exporter renamed or
 * joined have the names of their layers. Data that is kept in other files (external data) is mapped
 * where these lie beside the model. */
#ifndef DRIVER_FORMATS_ONNX_WEIGHTS_H
#define DRIVER_FORMATS_ONNX_WEIGHTS_H

#include "runtime/data/safetensors.h"

/* The producer of ONNX models that tfc writes: their initialisers have the names of params, so the
 * file has the metadata ST_FORMAT of a checkpoint. */
#define ONNX_PRODUCER "tfc"
/* FormatParse (formats.h). */
StFile *onnx_weights_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                           uint64_t size);

#endif
