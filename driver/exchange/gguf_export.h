/* Writes the params of an imported run as a GGUF, with the metadata, tokenizer and chat template of
 * its published folder: what llama.cpp reads, and tfc import. */
#ifndef DRIVER_EXCHANGE_GGUF_EXPORT_H
#define DRIVER_EXCHANGE_GGUF_EXPORT_H

#include "driver/run/weights.h"

/* files: the folder of the published files, as revise_published gives it. type: "f32", "f16",
 * "bf16", "q8_0" or "q4_0": of the matrices; vectors are f32. False after errors, such as a
 * model_type that llama.cpp has no name for. */
bool gguf_export(Job *job, const char *run, const char *files, const Model *model, Store *store,
                 const WeightsExport *what, const char *type, const char *path);

#endif
