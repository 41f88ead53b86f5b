/* Parts of a tokenizer.json (Hugging Face's tokenizers) that several importers write. */
#ifndef DRIVER_EXCHANGE_TOKENIZER_JSON_H
#define DRIVER_EXCHANGE_TOKENIZER_JSON_H

#include "base/json_write.h"

/* An item of "added_tokens", whose text is never cut; special: no text has it. */
void tokenizer_json_token(JsonWriter *json, int64_t id, const char *text, bool special);
/* The ByteLevel step of a pre-tokenizer or decoder; cuts: it cuts texts, too, as GPT-2's does. */
void tokenizer_json_bytes(JsonWriter *json, const char *key, bool cuts);
/* A Split step: what the pattern finds is cut off by itself. */
void tokenizer_json_split(JsonWriter *json, const char *pattern);

#endif
