/* The functions of one kind of tokenizer, which tokenizer.c calls. tokenizer.c has checked the
 * arguments: ids and texts are not NULL unless they are empty, and the id of `piece` is in the
 * vocabulary. `decode` gets any ids. */
#ifndef RUNTIME_TEXT_KIND_H
#define RUNTIME_TEXT_KIND_H

#include "base/budget.h"
#include "base/arena.h"
#include "runtime/text/tokenizer.h"

typedef struct TokenizerKind {
    /* Both append. false: memory ran out, or tokenizer_give_up was called; the caller
     * (tokenizer.c) removes what was appended. */
    bool (*encode)(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids);
    bool (*decode)(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text);
    const char *(*piece)(const Tokenizer *tokenizer, int32_t id, size_t *length);
    int32_t (*find)(const Tokenizer *tokenizer, const char *piece, size_t length);
    void (*close)(Tokenizer *tokenizer); /* frees what is not in the arena; NULL: all is in it */
} TokenizerKind;

struct Tokenizer {
    const TokenizerKind *kind;
    Arena *arena;
    const void *own; /* the kind's data */
    int32_t size;
    TokenizerSpecial special;
    TokenizerFrame frame;
    bool is_words; /* of tokenizer.json: WordLevel */
    bool is_plain; /* names of special tokens in a text are read as text */
    bool is_cut;   /* tokenizer_limit: `encode` and `find` may give ids from `size` on */
};

/* Leaves a tokenizer the ids below `rows`, those that its model has rows for: a text that has a
 * token of another id is refused, and no special token has one. False: one stands around each
 * text. */
bool tokenizer_limit(Tokenizer *tokenizer, int64_t rows);

/* The arena that a tokenizer of a file of `size` bytes lies in, whose limit is the budget; NULL: no
 * memory. tokenizer_drop frees it when the file is not read, and returns NULL: if the budget is the
 * reason, *problem says so. */
Arena *tokenizer_arena(Budget budget, size_t size);
Tokenizer *tokenizer_drop(Arena *arena, const char **problem);

/* Begins a call that reads or encodes `length` bytes, or decodes `length` ids: clears this thread's
 * error and count of steps. */
void tokenizer_begin(size_t length);
/* Counts steps of a search (pattern.c) towards the limit of the call, which grows with the call's
 * `length`. False: the limit is exceeded. */
bool tokenizer_spend(int64_t steps);
/* Walks through tries (trie.h) cost steps, too, so that long keys do not take a text's length
 * squared.
 *   tokenizer_reach    how many of `available` bytes a walk may read: all of them, or, once the
 *                      limit is exceeded, those of one character; the call then ends and fails
 *   tokenizer_walked   counts the `n` bytes that a walk has read */
enum { TOKENIZER_CHARACTER = 4, TOKENIZER_WALK = 4 /* bytes a step */ };
extern _Thread_local int64_t tokenizer_steps_left; /* of this thread's call */

static inline size_t tokenizer_reach(size_t available)
{
    return available < TOKENIZER_CHARACTER || tokenizer_steps_left >= 0 ? available
                                                                        : TOKENIZER_CHARACTER;
}

static inline void tokenizer_walked(size_t n)
{
    tokenizer_steps_left -= (int64_t)(n / TOKENIZER_WALK);
}

/* Sets the reason why this call fails (tokenizer_problem); not for memory that ran out. */
void tokenizer_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
