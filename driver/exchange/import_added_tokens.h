/* The tokens that a published folder adds to its tokenizer, and what it calls that. */
#ifndef DRIVER_EXCHANGE_IMPORT_ADDED_TOKENS_H
#define DRIVER_EXCHANGE_IMPORT_ADDED_TOKENS_H

#include "driver/exchange/import_config.h"
#include "driver/exchange/tokenizer_json.h"

/* The file with the settings of a tokenizer. */
#define TOKENIZER_SETTINGS "tokenizer_config.json"

typedef VEC(AddedToken) AddedTokens;
/* The tokens that tokenizer_config.json and added_tokens.json add, by their ids. False after
 * errors. */
bool import_added_tokens(Job *job, const char *folder, AddedTokens *added);
/* What tokenizer_config.json (NULL: there is none) or config.json calls the tokenizer; "": neither
 * does. */
const char *import_tokenizer_class(const JsonValue *settings, const ImportConfig *config);
/* The text of a token by its key, such as "bos_token", whose value is a text or an object with
 * "content"; NULL: `json` (NULL: none) does not say it. */
const char *import_token_of_key(const JsonValue *json, const char *key);

/* ---- import_token_lists.c ---- */

/* The files that tokenizers were published as before tokenizer.json: vocab.txt of BERT, and
 * vocab.json with merges.txt of GPT-2, RoBERTa, BART and Qwen 2. */

/* Whether the folder has such files. */
bool import_token_lists_are(Job *job, const char *folder);
/* A tokenizer.json made of them, in the arena, which cuts texts as the class of transformers does
 * that the folder names, or that its model_type has; its other rules are those of
 * tokenizer_config.json and special_tokens_map.json. NULL after an error. */
const char *import_token_lists(Job *job, const char *folder, const ImportConfig *config,
                               const AddedTokens *added, size_t *length);

#endif
