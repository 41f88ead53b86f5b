/* Reads YAML, in which Marian writes settings and vocabularies, as values of JSON. */
#ifndef DRIVER_EXCHANGE_NPZ_YAML_H
#define DRIVER_EXCHANGE_NPZ_YAML_H

#include "base/diag.h"
#include "base/json_read.h"

/* The first document. Plain scalars that are numbers, true, false or null in JSON are these values;
 * ~ and an empty plain scalar are null; all other scalars, and all keys, are strings. NULL after an
 * error: the text is not YAML or is empty, or it has an alias, a key that is not a scalar or occurs
 * twice, a NUL, or more than 32 lists and maps in each other. */
const JsonValue *yaml_read(Diagnostics *diags, Arena *arena, const Source *source);

#endif
