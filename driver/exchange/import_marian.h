/* Converts a folder of Marian's (model.npz with its settings inside, vocabularies, perhaps
 * decoder.yml) to a published folder, which tfc import reads. */
#ifndef DRIVER_EXCHANGE_IMPORT_MARIAN_H
#define DRIVER_EXCHANGE_IMPORT_MARIAN_H

#include "base/json_write.h"
#include "driver/job.h"

/* Whether a folder is Marian's: it has an .npz or a decoder.yml, and no config.json. */
bool import_marian_is(Job *job, const char *folder);
/* Writes into the existing folder `to`: config.json in Hugging Face's keys, source.spm, target.spm
 * and vocab.json, the settings as model.yml, and the arrays, under the names of models/marian.tfg,
 * as model.safetensors. As in Hugging Face's Marian models, the last token is <pad>: its embedding
 * is zeros, and each target begins with <pad>. False after errors. */
bool import_marian(Job *job, const char *folder, const char *to);
/* The members of config.json that every such model of so many tokens, <pad> not counted, has; `end`
 * is the id of the end token, is_scaled: embeddings are multiplied by the root of the width. */
void import_marian_class(JsonWriter *json, int64_t tokens, int64_t end, bool is_scaled);

#endif
