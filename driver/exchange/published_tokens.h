/* What the files of a published model call its tokens: one table, by which import reads these
 * files and export writes them.
 *
 * Marian's settings name no token: its vocabulary has </s>, which ends a target (import_marian.c).
 * A tokenizer.json says in its template what stands around a text, and only the flags of
 * tokenizer_config.json may change that (import_text.h). */
#ifndef DRIVER_EXCHANGE_PUBLISHED_TOKENS_H
#define DRIVER_EXCHANGE_PUBLISHED_TOKENS_H

#include "base/json_read.h"

enum { PUBLISHED_GGUF_KEYS = 3 };

/* PublishedToken: a token, or several that are for the same, and where files name it.
 *   key          in config.json and generation_config.json: an id or, of ends, a list of them
 *   is_decoded   what generate() of transformers reads: generation_config.json is asked first, else
 *                config.json, which says what the model was trained with
 *   flag         in config.json, of before `key`: true says that the token is that of `flag_key`
 *   text         in tokenizer_config.json, special_tokens_map.json and CTranslate2's config.json:
 *                the token's text
 *   frame        in tokenizer_config.json, and behind "tokenizer.ggml." in a GGUF: whether the
 *                token stands at its side of a text
 *   gguf         behind "tokenizer.ggml.": ids, the first key before the others
 *   piece_field  of SentencePiece's TrainerSpec (sentencepiece_model.proto) */
typedef struct PublishedToken {
    const char *key;
    bool is_decoded;
    const char *flag, *flag_key;
    const char *text, *frame;
    const char *gguf[PUBLISHED_GGUF_KEYS];
    int piece_field;
} PublishedToken;
extern const PublishedToken published_tokens[]; /* up to one whose `key` is NULL */
/* Those that end what is generated. */
extern const PublishedToken published_ends;
/* The row of a key; NULL: there is none. */
const PublishedToken *published_token(const char *key);

/* What the two files (NULL: there is none) say of the key, where null says that there is no such
 * token; NULL: nothing. *file: the name of the one that says it. The flag is left to the caller,
 * who knows what an absent `flag_key` means. */
const JsonValue *published_token_said(const PublishedToken *token, const JsonValue *config,
                                      const JsonValue *generation, const char **file);

#define PUBLISHED_CONFIG "config.json"
#define PUBLISHED_GENERATION "generation_config.json"

#endif
