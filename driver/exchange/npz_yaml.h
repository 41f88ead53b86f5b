/* YAML as the values of JSON: what Marian's settings and vocabularies are written in. */
#ifndef DRIVER_EXCHANGE_NPZ_YAML_H
#define DRIVER_EXCHANGE_NPZ_YAML_H

#include "base/diag.h"
#include "base/json_read.h"

/* The first document. Plain scalars that JSON has without quotes (numbers, true, false, null, ~) are
 * these; all other scalars, and all keys, are strings. NULL after an error with its line: no YAML,
 * an alias, a key that is no scalar or is there twice. */
const JsonValue *yaml_read(Diagnostics *diags, Arena *arena, const Source *source);

#endif
