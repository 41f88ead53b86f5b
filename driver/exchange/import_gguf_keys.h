/* Keys of a GGUF's metadata that no row of gguf_keys reads. */
#ifndef DRIVER_EXCHANGE_IMPORT_GGUF_KEYS_H
#define DRIVER_EXCHANGE_IMPORT_GGUF_KEYS_H

#include "driver/exchange/import_gguf_tokenizer.h"

/* Checks that what is not read changes nothing that the model computes: an error for each key by
 * which llama.cpp computes and tfc does not, unless its value is the one that means the same; one
 * warning with the names of all keys that nobody knows. False after errors. */
bool import_gguf_check_keys(const GgufImport *m);

/* The width of a head by the metadata; 0: there are no heads. */
double import_gguf_head_width(const Gguf *gguf);

#endif
