/* Tokenizers of the Hugging Face kind: a tokenizer.json of BPE, byte-level BPE, Unigram, WordPiece
 * or WordLevel, with the normalizers, pre-tokenizers, decoders and frames that published models
 * use. It needs utf8proc and PCRE2, and ends the process where reading lacks memory. */
#ifndef RUNTIME_TEXT_HF_TOKENIZER_JSON_H
#define RUNTIME_TEXT_HF_TOKENIZER_JSON_H

#include "base/arena.h"
#include "runtime/text/tokenizer.h"

/* Of the bytes, which need not outlive it. NULL: what they ask for is not known, and *problem, in
 * the arena, tells where and what. Bytes of a text that are no UTF-8 count as U+FFFD each. */
Tokenizer *tokenizer_json(Arena *arena, const char *bytes, size_t size, const char **problem);
/* The same for a library that has the bytes inside, which were read when it was made. */
Tokenizer *tokenizer_json_inside(const void *bytes, size_t size, const char **problem);

#endif
