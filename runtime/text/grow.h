/* Lists of ids and texts that grow by realloc and belong to their owner. A function that adds
 * returns false and changes nothing if memory runs out. */
#ifndef RUNTIME_TEXT_GROW_H
#define RUNTIME_TEXT_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TokenIds {
    int32_t *data;
    size_t count, capacity;
} TokenIds;

typedef struct TokenText {
    char *data; /* not NUL-terminated; NULL while nothing was added */
    size_t length, capacity;
} TokenText;

bool token_ids_push(TokenIds *ids, int32_t id);
void token_ids_free(TokenIds *ids);
/* Makes room for `more` bytes. */
bool token_text_reserve(TokenText *text, size_t more);
bool token_text_put(TokenText *text, const char *bytes, size_t length);
/* Makes the text from `from` on one line: "\\n" and "\\r" replace its line breaks. */
bool token_text_one_line(TokenText *text, size_t from);
void token_text_free(TokenText *text);

#endif
