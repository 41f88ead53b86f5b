/* Which word of a text each of its tokens is a part of. */
#ifndef RUNTIME_TEXT_WORDS_TOKEN_WORDS_H
#define RUNTIME_TEXT_WORDS_TOKEN_WORDS_H

#include "runtime/text/tokenizer.h"

/* Words: what stands between blanks of the text as it was read, counted from 0. Writes the word of
 * each of the n ids, which are the text's, and how many words there are; without words, 0
 * everywhere. Tokens are put beside words by what the tokens decode to; where that has more or
 * fewer words than the text, one each if there are as many tokens as words, else by their share of
 * its characters. false: no memory. */
bool token_words(const Tokenizer *tokenizer, const char *text, size_t length, const int32_t *ids,
                 size_t n, int64_t *word, int64_t *n_words);

#endif
