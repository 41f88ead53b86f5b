/* Making lists of words between spaces, or of characters (runtime/text/words/word_tokens.h), from
 * texts and from files.
 *
 * The file has one token a line, its line number is its id. <pad>, <unk>, <s> and
 * </s> are looked up by these names; those that are missing are put before the first
 * token, so that they come out as 0, 1, 2, 3 where all are. A count after a token
 * (as subword-nmt writes it) is ignored. A first line "# characters" says that the
 * tokens are single characters; \n, \r, \t and \\ stand for themselves there. */
#ifndef RUNTIME_DATA_WORDLIST_H
#define RUNTIME_DATA_WORDLIST_H

#include "base/map.h"
#include "runtime/data/lines.h"

typedef struct WordList {
    Arena *arena;
    bool characters;
    VEC(const char *) tokens; /* the special ones among them */
    Map seen;
} WordList;

/* The tokens of the texts, the most frequent first, ties in the order of their bytes;
 * at most `limit` with the four special ones (0: all). */
WordList *wordlist_count(Arena *arena, const Lines *const *texts, int n, bool characters,
                         int64_t limit);
WordList *wordlist_parse(Diagnostics *diags, Arena *arena, const Lines *lines);
/* As runtime/text reads it. */
void wordlist_print(const WordList *list, Text *out);

#endif
