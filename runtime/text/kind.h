/* What a kind of tokenizer gives to tokenizer.c. Arguments were checked: ids and texts are there,
 * ids are inside the vocabulary where one is asked about. */
#ifndef RUNTIME_TEXT_KIND_H
#define RUNTIME_TEXT_KIND_H

#include "base/arena.h"
#include "runtime/text/tokenizer.h"

typedef struct TokenizerKind {
    /* Appends; on false what was appended is taken away again. */
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

/* A call begins, of reading, encoding or decoding so many bytes: nothing has failed, nothing is spent. */
void tokenizer_begin(size_t length);
/* Whether the call may take so many steps more, which it has taken then: searches that need many (pattern.c) share those of
 * a call, so that its time stays in proportion to its text. */
bool tokenizer_spend(int64_t steps);
/* Why this call fails, unless memory ran out (tokenizer_problem). */
void tokenizer_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
