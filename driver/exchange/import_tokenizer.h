/* The vocabulary of a published folder. */
#ifndef DRIVER_EXCHANGE_IMPORT_TOKENIZER_H
#define DRIVER_EXCHANGE_IMPORT_TOKENIZER_H

#include "driver/exchange/import_config.h"

/* The folder's tokenizer: Marian's pair, tokenizer.json, a SentencePiece model with the tokens that
 * tokenizer_config.json and added_tokens.json add to it, or the bytes of ByT5. `source`: the folder
 * as the user named it. NULL after errors. */
Vocabulary *import_tokenizer(Job *job, const char *folder, const char *source,
                             const ImportConfig *config);

/* AddedToken: a token that these two files add.
 *   is_special   it has no text, and no text has it */
typedef struct AddedToken {
    int64_t id;
    const char *text;
    bool is_special;
} AddedToken;
typedef VEC(AddedToken) AddedTokens;
/* The added tokens by their ids. False after errors. */
bool import_added_tokens(Job *job, const char *folder, AddedTokens *added);

#endif
