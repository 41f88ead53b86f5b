/* CTranslate2's model.bin (docs/model_spec.rst and python/ctranslate2/specs/model_spec.py): a
 * specification's name, variables by name, and aliases. A matrix of int8 has its scales, one a row,
 * in a variable beside it, NAME_scale: it is a tensor NAME of the quotients. */
#ifndef DRIVER_FORMATS_CTRANSLATE2_H
#define DRIVER_FORMATS_CTRANSLATE2_H

#include "runtime/data/safetensors.h"

/* FormatParse (formats.h). */
StFile *ctranslate2_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                          uint64_t size);

#endif
