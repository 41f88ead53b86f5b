/* Lists of words between spaces, or of characters (runtime/text/words/word_tokens.h): counted in
 * texts, read from a list's file, and written as one.
 *
 * The file has one token a line, and ids count the tokens from 0. <pad>, <unk>, <s> and
 * </s> are looked up by these names; those that the file lacks are put before its first
 * token, so that they get the ids 0, 1, 2, 3 if it lacks all. A count after a word
 * (as subword-nmt writes it) is ignored. A first line "# characters", which is no token, says that
 * the tokens are single characters; \n, \r, \t and \\ are then the usual escapes. */
#ifndef RUNTIME_DATA_WORDLIST_H
#define RUNTIME_DATA_WORDLIST_H

#include "base/map.h"
#include "runtime/data/lines.h"

typedef struct WordList {
    Arena *arena;
    bool characters;
    VEC(const char *) tokens; /* the special ones included */
    Map seen;                 /* private: the same, to find them while the list is made */
} WordList;

/* The four special tokens, `further` (NULL: none), then those of the texts, the most frequent
 * first, ties in the order of their bytes; at most `limit` in all (0: all). */
WordList *wordlist_count(Arena *arena, const Lines *const *texts, int n, const char *further,
                         bool characters, int64_t limit);
/* The list of a file; NULL after errors. */
WordList *wordlist_parse(Diagnostics *diags, Arena *arena, const Lines *lines);
/* Appends the list as a file (tokenizer_words reads it). */
void wordlist_print(const WordList *list, Text *out);

#endif
