/* Words and signs of other languages, and what is written here instead: for messages. */
#ifndef FRONTEND_FOREIGN_H
#define FRONTEND_FOREIGN_H

#include "frontend/lexer.h"

/* "; a function is written `block NAME(x) { … }`" for a word that begins a statement
 * elsewhere; NULL: none known. */
const char *foreign_statement(const char *word);
/* The same for a token that fits nowhere, by the tokens around it; `first`: the file's first. "":
 * none known. */
const char *foreign_token(Arena *arena, const Token *first, const Token *token);
/* The same for a setting of a train block, or an argument of an optimizer; NULL: none known. */
const char *foreign_setting(const char *word);

#endif
