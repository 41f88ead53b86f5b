/* Converts a folder of CTranslate2's (model.bin, config.json, vocabularies) with a model of
 * Marian's kind to a published folder, which tfc import reads. */
#ifndef DRIVER_EXCHANGE_IMPORT_CTRANSLATE2_H
#define DRIVER_EXCHANGE_IMPORT_CTRANSLATE2_H

#include "driver/session/job.h"

/* Whether a folder is CTranslate2's: its model.bin is of that format, and its config.json, if there
 * is one, names no model_type. */
bool import_ctranslate2_is(Job *job, const char *folder);
/* Writes into the existing folder `to`: config.json, vocab.json and model.safetensors (f32) as
 * Hugging Face has Marian's models, with source.spm and target.spm, which must be in the folder.
 * The last token is <pad>, whose embedding is zeros: CTranslate2 begins a target with zeros. False
 * after errors, as when the model is of another kind. */
bool import_ctranslate2(Job *job, const char *folder, const char *to);

#endif
