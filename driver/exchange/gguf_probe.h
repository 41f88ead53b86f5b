/* Whether a GGUF says all that a tokenizer does. */
#ifndef DRIVER_EXCHANGE_GGUF_PROBE_H
#define DRIVER_EXCHANGE_GGUF_PROBE_H

#include "driver/exchange/import_config.h"
#include "driver/formats/gguf_write.h"

/* Reads the metadata as tfc import would, and compares the tokenizer with the folder's on texts of
 * capitals, accents, ideographs, control characters, digits, blanks, long words and added tokens.
 * `path`: of the GGUF, beside which a temporary folder is made. False after an error, which shows a
 * text that is cut otherwise. */
bool gguf_probe_tokenizer(Job *job, const char *folder, const ImportConfig *config,
                          const GgufWriter *writer, const char *path);

#endif
