/* Which word of a text each of its tokens belongs to. */
#ifndef RUNTIME_TEXT_WORDS_TOKEN_WORDS_H
#define RUNTIME_TEXT_WORDS_TOKEN_WORDS_H

#include "runtime/text/tokenizer.h"

/* Words: what stands between blanks of the text as it was read, counted from 0. Writes the word of
 * each of the text's n ids, and how many words there are; if there are none, each id gets 0. The
 * text that the ids decode to shows which word an id belongs to. If that text has more or fewer
 * words than `text`, ids and words are paired one to one if they are equally many, else by their
 * share of the characters. false: memory ran out, or the tokenizer failed (tokenizer_problem). */
bool token_words(const Tokenizer *tokenizer, const char *text, size_t length, const int32_t *ids,
                 size_t n, int64_t *word, int64_t *n_words);
/* Appends the number of the first token of each of the text's words; `ids` are the n tokens that
 * the tokenizer gives the text. Here words stand between blanks (U+0020) alone. *odd: where in the
 * text the first word begins that has no token of its own, since the tokenizer leaves it out or
 * joins it with another; `length`: there is none. false: memory ran out, or the tokenizer
 * failed. */
bool token_firsts(const Tokenizer *tokenizer, const char *text, size_t length, const int32_t *ids,
                  size_t n, TokenIds *firsts, size_t *odd);

#endif
