/* A vocabulary that is a list of tokens: words between spaces, or characters.
 *
 * The file has one token a line, its line number is its id. <pad>, <unk>, <s> and
 * </s> are looked up by these names; those that are missing are put before the first
 * token, so that they come out as 0, 1, 2, 3 where all are. A count after a token
 * (as subword-nmt writes it) is ignored. A first line "# characters" says that the
 * tokens are single characters; \n, \r, \t and \\ stand for themselves there. */
#ifndef RUNTIME_DATA_WORDLIST_H
#define RUNTIME_DATA_WORDLIST_H

#include "base/map.h"
#include "runtime/data/ids.h"
#include "runtime/data/lines.h"

typedef struct WordList {
    Arena *arena;
    bool characters;
    VEC(const char *) tokens;
    Map ids; /* token → id + 1, as a pointer */
    int32_t pad, unk, bos, eos;
} WordList;

/* The tokens of the texts, the most frequent first, ties in the order of their bytes;
 * at most `limit` with the four special ones (0: all). */
WordList *wordlist_count(Arena *arena, const Lines *const *texts, int n, bool characters,
                         int64_t limit);
WordList *wordlist_parse(Diagnostics *diags, Arena *arena, const Lines *lines);
void wordlist_print(const WordList *list, Text *out);
int32_t wordlist_find(const WordList *list, const char *token); /* -1 where absent */
/* Appends the ids of a line. Special tokens written out in a text are unknown words. */
void wordlist_encode(const WordList *list, const char *text, size_t length, Ids *ids);
/* Appends the text: words with spaces between them and `@@ ` joiners undone, or
 * characters as they are; without pad, bos and eos. */
void wordlist_decode(const WordList *list, const int32_t *ids, size_t n, Text *out);

#endif
