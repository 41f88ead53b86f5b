/* Folders of cross-encoders: classifiers of texts that read two of them, one behind the other, as
 * sentence-transformers publishes them. Their files say what becomes of a score, and the tokenizer
 * which tokens stand between the texts. Sources: documentation of sentence-transformers,
 * "CrossEncoder"; of tokenizers, "Post-processors". */
#ifndef DRIVER_EXCHANGE_IMPORT_PAIRS_H
#define DRIVER_EXCHANGE_IMPORT_PAIRS_H

#include "base/json_read.h"
#include "driver/exchange/import_models.h"

/* The function of the score, a name of PyTorch's: `activation_fn` of
 * config_sentence_transformers.json or of the object "sentence_transformers" of config.json, or the
 * older key of that. */
#define PAIRS_OBJECT "sentence_transformers"
#define PAIRS_KEY "activation_fn"
#define PAIRS_OLDER "sbert_ce_default_activation_function"
#define PAIRS_SIGMOID "torch.nn.modules.activation.Sigmoid"
#define PAIRS_IDENTITY "torch.nn.modules.linear.Identity"

/* Whether the folder's files, config.json among them, say that the model reads pairs. */
bool import_pairs_are(Job *job, const char *folder, const JsonValue *config);
/* A config.json that says so, in the job's arena, of one that may not say it. */
const Source *import_pairs_say(Job *job, const Source *config);
/* PairsFolder: a folder, with its config.json as text and value, and the model that reads pairs. */
typedef struct PairsFolder {
    const char *folder;
    const Source *config;
    const JsonValue *json;
    const ImportModel *model;
} PairsFolder;
/* Appends the consts of models/lib/text_pair.tfg and of the heads that read pairs. False after
 * errors: a function of the score or a template of pairs that the models do not have. */
bool import_pairs_model(Job *job, const PairsFolder *pairs, Text *out);

#endif
