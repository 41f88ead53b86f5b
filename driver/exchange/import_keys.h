/* Keys of config.json that no row of its model reads. */
#ifndef DRIVER_EXCHANGE_IMPORT_KEYS_H
#define DRIVER_EXCHANGE_IMPORT_KEYS_H

#include "base/json_read.h"
#include "driver/exchange/import_models.h"

/* Checks that what no row reads does not change what the model computes. It does not where it is
 * false, null or empty, or known to say something else, such as a setting of training. A key by
 * which the class in transformers computes is an error; so is any that is unknown, where the folder
 * names a class of its own. Other keys get one warning with their names. `config`: where the object
 * `json` is from. False after errors, one a key. */
bool import_keys_check(Job *job, const Source *config, const JsonValue *json,
                       const ImportModel *model);

#endif
