/* Parts of a tokenizer.json (Hugging Face's tokenizers) that several importers write. */
#ifndef DRIVER_EXCHANGE_TOKENIZER_JSON_H
#define DRIVER_EXCHANGE_TOKENIZER_JSON_H

#include "base/json_write.h"

/* AddedToken: an item of "added_tokens", whose text is never cut.
 *   is_special    it has no text, and no text has it
 *   lstrip, rstrip, single_word   it takes the blanks around it; it is no part of a word
 *   normalized    it is looked for in the normalized text */
typedef struct AddedToken {
    int64_t id;
    const char *text;
    bool is_special, lstrip, rstrip, single_word, normalized;
} AddedToken;
void tokenizer_json_token(JsonWriter *json, const AddedToken *token);
/* The ByteLevel step of a pre-tokenizer or decoder; cuts: it cuts texts, too, as GPT-2's does;
 * has_prefix: a text that begins without a blank gets one. */
void tokenizer_json_bytes(JsonWriter *json, const char *key, bool cuts, bool has_prefix);
/* A Split step: what the pattern finds is cut off by itself. */
void tokenizer_json_split(JsonWriter *json, const char *pattern);
/* The normalizer NFC. */
void tokenizer_json_nfc(JsonWriter *json);
/* The post-processor that puts the first token before a text and the second behind it. */
void tokenizer_json_template(JsonWriter *json, const char *const tokens[2], const int64_t ids[2]);

/* BertCut: how BERT's tokenizers change and cut a text before they look for pieces of words. */
typedef struct BertCut {
    bool lowercase, strip_accents, ideographs;
} BertCut;
/* Normalizer, pre-tokenizer, template and decoder of BERT's tokenizers. */
void tokenizer_json_bert(JsonWriter *json, const BertCut *cut, const char *const tokens[2],
                         const int64_t ids[2]);
/* The members of a WordPiece model before its "vocab". */
void tokenizer_json_pieces(JsonWriter *json, const char *unknown);

#endif
