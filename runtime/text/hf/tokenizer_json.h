/* Tokenizers of the Hugging Face kind: a tokenizer.json of BPE, byte-level BPE, Unigram, WordPiece
 * or WordLevel, with the normalizers, pre-tokenizers, decoders and frames that published models
 * use. What the code asks of characters and regular expressions is in characters.h. */
#ifndef RUNTIME_TEXT_HF_TOKENIZER_JSON_H
#define RUNTIME_TEXT_HF_TOKENIZER_JSON_H

#include "base/arena.h"
#include "runtime/text/tokenizer.h"

/* The tokenizer that the bytes describe; they may be freed afterwards. NULL: they are not valid or
 * ask for something that is not known, and *problem has the reason; or memory ran out, and *problem
 * is NULL. The arena holds only the problem. Each byte of a text that is not valid UTF-8 counts as
 * U+FFFD. */
Tokenizer *tokenizer_json(Arena *arena, const char *bytes, size_t size, const char **problem);
/* A key of tfc's own beside "model": for how many ids the model has rows, where that is fewer than
 * there are tokens (tokenizer_limit). */
#define TOKENIZER_JSON_ROWS "rows"
/* The same for a compiled library, whose bytes were checked when it was made. NULL: memory ran out.
 * `problem` is not used. */
Tokenizer *tokenizer_json_inside(const void *bytes, size_t size, const char **problem);
/* tokenizer_json_inside of bytes that begin with the table of char_table.h (hf_table). */
Tokenizer *tokenizer_json_portable(const void *bytes, size_t size, const char **problem);
/* What a tokenizer of tokenizer_json needs and hf_table lacks, such as "regular expressions";
 * NULL: nothing. */
const char *tokenizer_json_needs(const Tokenizer *tokenizer);

#endif
