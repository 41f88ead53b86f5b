/* Converts a folder of CTranslate2's (model.bin, config.json, vocabularies) with a model of the
 * kind of Marian, BART, mBART or M2M-100 to a published folder, which tfc import reads. */
#ifndef DRIVER_EXCHANGE_IMPORT_CTRANSLATE2_H
#define DRIVER_EXCHANGE_IMPORT_CTRANSLATE2_H

#include "driver/job.h"

/* Whether a folder is CTranslate2's: its model.bin is of that format, and its config.json, if there
 * is one, names no model_type. */
bool import_ctranslate2_is(Job *job, const char *folder);
/* Writes into the existing folder `to` config.json, model.safetensors and the tokenizer's files as
 * Hugging Face has them. Floats keep their types, integers become f32. What of the tokenizer must
 * lie beside model.bin: of Marian's models source.spm and target.spm; of others tokenizer.json, or
 * sentencepiece.bpe.model, whose ids are those of the vocabulary. Of Marian's models the last token
 * is <pad>, whose embedding is zeros: CTranslate2 begins a target with zeros. `said`: rules of
 * tokens (runtime/data/token_rules.h) that the user gives. False after errors, as when the model is
 * of another kind. */
bool import_ctranslate2(Job *job, const char *folder, const TextList *said, const char *to);

#endif
