/* What a kind of tokenizer gives to tokenizer.c. Arguments were checked: ids and texts are there,
 * ids are inside the vocabulary where one is asked about. */
#ifndef RUNTIME_TEXT_KIND_H
#define RUNTIME_TEXT_KIND_H

#include "base/arena.h"
#include "runtime/text/tokenizer.h"

typedef struct TokenizerKind {
    /* Both append; after false the caller (tokenizer.c) takes away what was appended. */
    bool (*encode)(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids);
    bool (*decode)(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text);
    const char *(*piece)(const Tokenizer *tokenizer, int32_t id, size_t *length);
    int32_t (*find)(const Tokenizer *tokenizer, const char *piece, size_t length);
    void (*close)(Tokenizer *tokenizer); /* what is not in the arena; NULL: nothing */
} TokenizerKind;

struct Tokenizer {
    const TokenizerKind *kind;
    Arena *arena;
    const void *own; /* of the kind */
    int32_t size;
    TokenizerSpecial special;
    TokenizerFrame frame;
    bool is_words; /* of tokenizer.json: WordLevel */
    bool is_plain; /* special tokens of a text are text */
};

/* Begins a call that reads, encodes or decodes `length` bytes: clears its error and its count of
 * steps. */
void tokenizer_begin(size_t length);
/* Counts steps of a search (pattern.c) towards the limit of the call, which is in proportion to its
 * length. False: the limit is exceeded. */
bool tokenizer_spend(int64_t steps);
/* Why this call fails, unless memory ran out (tokenizer_problem). */
void tokenizer_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
