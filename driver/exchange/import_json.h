/* The JSON files of a published folder. */
#ifndef DRIVER_EXCHANGE_IMPORT_JSON_H
#define DRIVER_EXCHANGE_IMPORT_JSON_H

#include "base/json_read.h"
#include "driver/session/job.h"

/* Reads FOLDER/NAME, whose value must be of `kind`, an object or a list. *json NULL: there is no
 * such file. False after an error. */
bool import_json_read(Job *job, const char *folder, const char *name, JsonKind kind,
                      const JsonValue **json);

#endif
