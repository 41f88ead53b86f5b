/* Reads YAML, in which Marian writes settings and vocabularies, as values of JSON. */
#ifndef DRIVER_EXCHANGE_NPZ_YAML_H
#define DRIVER_EXCHANGE_NPZ_YAML_H

#include "base/diag.h"
#include "base/json_read.h"

/* The first document. Plain numbers, true, false, null and ~ are JSON's; all other scalars, and all
 * keys, are strings. NULL after an error with its line: the text is not YAML, or has an alias, or a
 * key that is not a scalar or occurs twice. */
const JsonValue *yaml_read(Diagnostics *diags, Arena *arena, const Source *source);

#endif
