/* Lists of ids and texts that grow by realloc and belong to their owner. If memory runs out, a
 * function returns false, and the list or text has what it had. */
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
    char *data; /* not NUL-terminated; NULL until something is added */
    size_t length, capacity;
    size_t most; /* bytes; 0: without limit */
} TokenText;

bool token_ids_push(TokenIds *ids, int32_t id);
/* Leaves out each `id` of those from `from` on that stands right in front of a `next`. */
void token_ids_join(TokenIds *ids, size_t from, int32_t id, int32_t next);
void token_ids_free(TokenIds *ids);
/* Makes room for `more` bytes behind those that are there. */
bool token_text_reserve(TokenText *text, size_t more);
bool token_text_put(TokenText *text, const char *bytes, size_t length);
/* From here on, until `most` is 0 again, token_text_put adds what a tokenizer's steps may make of a
 * text of `length` bytes: those of published tokenizers make it some 13 times as long at most. What
 * would be longer fails, and sets tokenizer_problem. */
void token_text_limit(TokenText *text, size_t length);
/* Makes the bytes from `from` on one line: "\\n" and "\\r" replace line breaks. */
bool token_text_one_line(TokenText *text, size_t from);
void token_text_free(TokenText *text);

#endif
