/* Which word of a text each of its tokens is a part of. */
#ifndef DRIVER_TOKEN_WORDS_H
#define DRIVER_TOKEN_WORDS_H

#include "runtime/data/vocabulary.h"

/* Words: what stands between blanks of the text as it was read, counted from 0. Writes the word of
 * each of the n ids, which are the text's, and returns how many words there are; without words, 0
 * everywhere. Tokens are put beside words by what the tokens decode to; where the vocabulary changes
 * the text so that it has more or fewer words, by their share of its characters. */
int64_t token_words(const Vocabulary *vocab, const Line *line, const int32_t *ids, int64_t n,
                    int64_t *word);

#endif
