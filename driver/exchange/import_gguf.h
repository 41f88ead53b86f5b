/* Converts what a GGUF says of its model to the files of a published folder: config.json,
 * tokenizer.json or tokenizer.model, tokenizer_config.json with the chat template. */
#ifndef DRIVER_EXCHANGE_IMPORT_GGUF_H
#define DRIVER_EXCHANGE_IMPORT_GGUF_H

#include "driver/job.h"

/* Whether a file is a GGUF that is read. */
bool import_gguf_is(Job *job, const char *path);
/* Writes these files into the existing folder `to`. *quant becomes the word of base/quants.def in
 * which products with the file's weights are computed, NULL: they are floats. False after errors,
 * such as an architecture that is not known or a tokenizer of another kind. */
bool import_gguf(Job *job, const char *path, const char *to, const char **quant);

#endif
