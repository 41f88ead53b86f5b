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
bool gguf_wrong(const GgufImport *m, const char *problem); /* adds an error; false */

/* Writes tokenizer.json or a SentencePiece model, and tokenizer_config.json. False after errors. */
bool import_gguf_tokenizer(const GgufImport *m);

/* ---- import_gguf_keys.c ---- */

/* Keys of a GGUF's metadata that no row of gguf_keys reads. */

/* Checks that what is not read changes nothing that the model computes: an error for each key by
 * which llama.cpp computes and tfc does not, unless its value is the one that means the same; one
 * warning with the names of all keys that nobody knows. False after errors. */
bool import_gguf_check_keys(const GgufImport *m);

/* The width of a head by the metadata; 0: there are no heads. */
double import_gguf_head_width(const Gguf *gguf);

#endif
