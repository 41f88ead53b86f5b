/* How vectors of texts are pooled, in a GGUF and in the files of sentence-transformers
 * (import_sentences.h). */
#ifndef DRIVER_EXCHANGE_GGUF_SENTENCES_H
#define DRIVER_EXCHANGE_GGUF_SENTENCES_H

#include "driver/formats/gguf_write.h"
#include "driver/job.h"

/* Puts how the folder's files say that tokens are pooled. Warns of what a GGUF cannot say: prompts,
 * and texts shorter than the `context` of the model. False after errors, such as a way that
 * llama.cpp does not have. */
bool gguf_put_pooling(Job *job, const char *folder, const char *architecture, int64_t context,
                      GgufWriter *writer);
/* Writes modules.json and 1_Pooling/config.json into the folder `to`. False after errors. */
bool gguf_write_sentences(Job *job, const Gguf *gguf, const char *to);

#endif
