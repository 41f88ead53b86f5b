/* The tokenizer of a GGUF as the files of a published folder. */
#ifndef DRIVER_EXCHANGE_IMPORT_GGUF_TOKENIZER_H
#define DRIVER_EXCHANGE_IMPORT_GGUF_TOKENIZER_H

#include "driver/formats/gguf.h"
#include "driver/job.h"

/* GgufImport: a GGUF, read, that becomes the folder `to`. */
typedef struct GgufImport {
    Job *job;
    const char *path, *to;
    const Gguf *gguf;
    const GgufArchitecture *architecture;
} GgufImport;
/* Writes a file of the folder; false after an error. */
bool gguf_write_text(const GgufImport *m, const char *name, const Text *text);
bool gguf_wrong(const GgufImport *m, const char *problem); /* adds an error; false */

/* Writes tokenizer.json or a SentencePiece model, and tokenizer_config.json. False after errors. */
bool import_gguf_tokenizer(const GgufImport *m);

#endif
