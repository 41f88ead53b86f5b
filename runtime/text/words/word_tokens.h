/* Lists of words or characters as text: one token a line, its number is its id. A first line
 * "# characters" says that tokens are single characters; \n, \r, \t and \\ stand for these. For
 * word_tokens.c, and for what makes such lists from texts and files (runtime/data/wordlist.h). */
#ifndef RUNTIME_TEXT_WORDS_WORD_TOKENS_H
#define RUNTIME_TEXT_WORDS_WORD_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_CHARACTERS "# characters"
/* Pairs: what follows a backslash, and what that is. */
#define WORDS_ESCAPES "n\nr\rt\t\\\\"

enum { WORDS_PAD, WORDS_UNK, WORDS_BOS, WORDS_EOS, WORDS_SPECIALS };
extern const char *const words_specials[WORDS_SPECIALS]; /* their names */

bool words_is_space(char c);
/* The next token of a text at or after *at: [*begin, *at), words between spaces or one character;
 * a byte that begins none is one. false: the end. */
bool words_next(bool characters, const char *text, size_t length, size_t *at, size_t *begin);

#endif
