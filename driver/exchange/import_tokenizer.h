/* The vocabulary of a published folder. */
#ifndef DRIVER_EXCHANGE_IMPORT_TOKENIZER_H
#define DRIVER_EXCHANGE_IMPORT_TOKENIZER_H

#include "driver/exchange/import_config.h"

/* The folder's tokenizer: Marian's pair, tokenizer.json, a SentencePiece model with the tokens that
 * tokenizer_config.json and added_tokens.json add to it, older lists of tokens
 * (import_added_tokens.h), or the bytes of ByT5. Of more tokens than the model has rows the rest is
 * cut off (tokenizer_limit), with a warning. `source`: the folder as the user named it. NULL after
 * errors. */
Vocabulary *import_tokenizer(Job *job, const char *folder, const char *source,
                             const ImportConfig *config);

#endif
