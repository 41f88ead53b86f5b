/* The tokenizer of a published folder as a GGUF has it. */
#ifndef DRIVER_EXCHANGE_GGUF_TOKENIZER_H
#define DRIVER_EXCHANGE_GGUF_TOKENIZER_H

#include "driver/exchange/import_config.h"
#include "driver/formats/gguf_write.h"

/* Puts the tokens, their kinds, scores or merges, and the chat template of a folder with a
 * SentencePiece model, a tokenizer.json with merges of bytes or with WordPiece, or the older lists
 * of these (import_added_tokens.h); and the model's name, unless readers would take another
 * tokenizer for it. Ids from the last token to `vocab` are unused ones; tokens from `vocab` on are
 * left out. False after errors. */
bool gguf_put_tokenizer(Job *job, const char *folder, const ImportConfig *config, const char *name,
                        int64_t vocab, GgufWriter *writer);

#endif
