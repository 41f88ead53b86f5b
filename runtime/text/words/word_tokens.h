/* Lists of words or characters as text: one token a line; the line's number, from 0, is the id. A
 * first line "# characters", which is not counted, says that tokens are single characters, with \n,
 * \r, \t and \\ as escapes. For word_tokens.c, and for code that makes such lists from texts and
 * files (runtime/data/wordlist.h). */
#ifndef RUNTIME_TEXT_WORDS_WORD_TOKENS_H
#define RUNTIME_TEXT_WORDS_WORD_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_CHARACTERS "# characters"
/* Pairs of the character after a backslash and the character that is meant. */
#define WORDS_ESCAPES "n\nr\rt\t\\\\"

enum { WORDS_PAD, WORDS_UNK, WORDS_BOS, WORDS_EOS, WORDS_SPECIALS };
extern const char *const words_specials[WORDS_SPECIALS]; /* their names */

bool words_is_space(char c);
/* Finds the next token of a text from *at on: [*begin, *at), a word between spaces or, with
 * `characters`, one character; a byte that is not valid UTF-8 counts as one. false: the end. */
bool words_next(bool characters, const char *text, size_t length, size_t *at, size_t *begin);

#endif
