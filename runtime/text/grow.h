/* Lists of ids and texts that grow with realloc and are their owner's; functions that add give
 * false, with everything as it was, where there is no memory. */
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
/* Room for so many bytes more. */
bool token_text_reserve(TokenText *text, size_t more);
bool token_text_put(TokenText *text, const char *bytes, size_t length);
/* Makes one line of what stands from `from` on: "\\n" and "\\r" for its line breaks. */
bool token_text_one_line(TokenText *text, size_t from);
void token_text_free(TokenText *text);

#endif
