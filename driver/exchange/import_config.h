/* config.json read by the rows of its model (import_models.h). */
#ifndef DRIVER_EXCHANGE_IMPORT_CONFIG_H
#define DRIVER_EXCHANGE_IMPORT_CONFIG_H

#include "base/json_read.h"
#include "driver/exchange/import_models.h"
#include "runtime/data/vocabulary.h"

typedef struct ImportConfig {
    const Source *source;
    const JsonValue *json;
    const ImportModel *model;
} ImportConfig;

/* False after errors: no config.json, another model_type, or a value that the model is not
 * written for; each such is told. */
bool import_config_read(Job *job, const char *folder, ImportConfig *config);
/* The same of a config that is read already. */
bool import_config_check(Job *job, const ImportConfig *config);
/* What it says of a key, or means by leaving it out, of a list the first; NULL: nothing. */
const JsonValue *import_config_value(Job *job, const ImportConfig *config, const char *key);
/* The lines of model.tfg behind `use`: consts, and the activation. False after errors. */
bool import_config_model(Job *job, const ImportConfig *config, const Vocabulary *vocab, Text *out);
/* Rules of the vocabulary (token_rules.h); false after errors. */
bool import_config_tokens(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                          TextList *tokens);
/* The whole number of a key; -1: it has none. */
int64_t import_config_size(Job *job, const ImportConfig *config, const char *key);

#endif
