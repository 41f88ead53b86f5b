/* Words and signs of other languages, and what is written here instead: for messages. */
#ifndef FRONTEND_FOREIGN_H
#define FRONTEND_FOREIGN_H

#include "frontend/lexer.h"

/* A hint such as "; a function is written `block NAME(x) { … }`" for a word of another
 * language's statements; NULL: there is none. */
const char *foreign_statement(const char *word);
/* A hint for a token that is an error, by the tokens beside it; `first`: the file's first token.
 * "": there is none. */
const char *foreign_token(Arena *arena, const Token *first, const Token *token);
/* A hint for a function that is called; NULL: there is none. */
const char *foreign_function(const char *name);
/* A hint for an unknown setting of a train block, or an unknown argument in one; NULL: there is
 * none. */
const char *foreign_setting(const char *word);

#endif
