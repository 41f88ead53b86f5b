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

#endif
