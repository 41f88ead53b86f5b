/* The files that tokenizers were published as before tokenizer.json: vocab.txt of BERT, and
 * vocab.json with merges.txt of GPT-2, RoBERTa, BART and Qwen 2. */
#ifndef DRIVER_EXCHANGE_IMPORT_TOKEN_LISTS_H
#define DRIVER_EXCHANGE_IMPORT_TOKEN_LISTS_H

#include "driver/exchange/import_added_tokens.h"

/* Whether the folder has such files. */
bool import_token_lists_are(Job *job, const char *folder);
/* A tokenizer.json made of them, in the arena, which cuts texts as the class of transformers does
 * that the folder names, or that its model_type has; its other rules are those of
 * tokenizer_config.json and special_tokens_map.json. NULL after an error. */
const char *import_token_lists(Job *job, const char *folder, const ImportConfig *config,
                               const AddedTokens *added, size_t *length);

#endif
