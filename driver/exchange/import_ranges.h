/* What values the consts of published models may have. */
#ifndef DRIVER_EXCHANGE_IMPORT_RANGES_H
#define DRIVER_EXCHANGE_IMPORT_RANGES_H

#include "base/json_read.h"

#include <stdbool.h>

bool import_range_is_known(const char *name); /* whether the table has the const */
/* Whether a const of the models (models/) takes the value of config.json, which is not null. Else
 * *expected is what it takes, a constant: "a whole number from 1 to 65536". A const that the table
 * lacks is a bug. */
bool import_range_has(const char *name, const JsonValue *value, const char **expected);

#endif
