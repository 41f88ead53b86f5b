/* Keys of config.json that no row of its model reads. */
#ifndef DRIVER_EXCHANGE_IMPORT_KEYS_H
#define DRIVER_EXCHANGE_IMPORT_KEYS_H

#include "base/json_read.h"
#include "driver/exchange/import_models.h"

/* Checks that what no row reads does not change what the model computes: it is false, null, empty,
 * or a key known to say something else, such as a setting of training. `config`: where the object
 * `json` is from. False after errors, one a key. */
bool import_keys_check(Job *job, const Source *config, const JsonValue *json,
                       const ImportModel *model);

#endif
