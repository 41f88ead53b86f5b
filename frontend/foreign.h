/* Words and signs of other languages, and what is written here instead: for messages. */
#ifndef FRONTEND_FOREIGN_H
#define FRONTEND_FOREIGN_H

/* "; a function is written `block NAME(x) { … }`" for a word that begins a statement
 * elsewhere; NULL: none known. */
const char *foreign_statement(const char *word);
/* The same for a setting of a train block, or an argument of an optimizer. */
const char *foreign_setting(const char *word);

#endif
