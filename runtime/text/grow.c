/* Lists and texts that grow. */
#include "runtime/text/kind.h"

#include <stdlib.h>
#include <string.h>

/* At least n items of this size, by doubling; NULL: no memory. */
static void *grow_array(void *data, size_t *capacity, size_t n, size_t size)
{
    size_t larger = *capacity > SIZE_MAX / 2 ? n : *capacity * 2, bytes;
    larger = larger < n ? n : larger;
    larger = larger < 32 ? 32 : larger;
    if (__builtin_mul_overflow(larger, size, &bytes))
        return NULL;
    void *moved = realloc(data, bytes);
    if (moved)
        *capacity = larger;
    return moved;
}

bool token_ids_push(TokenIds *ids, int32_t id)
{
    if (ids->count == ids->capacity) {
        int32_t *data = grow_array(ids->data, &ids->capacity, ids->count + 1, sizeof *data);
        if (!data)
            return false;
        ids->data = data;
    }
    ids->data[ids->count++] = id;
    return true;
}

void token_ids_join(TokenIds *ids, size_t from, int32_t id, int32_t next)
{
    size_t n = from;
    for (size_t i = from; i < ids->count; i++)
        if (ids->data[i] != id || i + 1 == ids->count || ids->data[i + 1] != next)
            ids->data[n++] = ids->data[i];
    ids->count = n;
}

void token_ids_free(TokenIds *ids)
{
    free(ids->data);
    *ids = (TokenIds){0};
}

bool token_text_reserve(TokenText *text, size_t more)
{
    size_t n;
    if (__builtin_add_overflow(text->length, more, &n))
        return false;
    if (n <= text->capacity)
        return true;
    char *data = grow_array(text->data, &text->capacity, n, 1);
    if (data)
        text->data = data;
    return data;
}

enum { MOST_GROWTH = 32, FREE_BYTES = 1 << 16 };

void token_text_limit(TokenText *text, size_t length)
{
    text->most = text->length + MOST_GROWTH * length + FREE_BYTES;
}

/* Makes room for `length` more bytes; false: no memory, or they are beyond the text's limit. */
static bool make_text_room(TokenText *text, size_t length)
{
    const bool is_long =
        text->most && (text->length > text->most || length > text->most - text->length);
    if (is_long)
        tokenizer_give_up("the tokenizer's steps make it more than %d times as long", MOST_GROWTH);
    return !is_long && token_text_reserve(text, length);
}

bool token_text_put(TokenText *text, const char *bytes, size_t length)
{
    const bool has_room = length <= text->capacity - text->length &&
                          (!text->most || text->length + length <= text->most);
    if (!has_room && !make_text_room(text, length))
        return false;
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    return true;
}

bool token_text_one_line(TokenText *text, size_t from)
{
    size_t breaks = 0;
    for (size_t i = from; i < text->length; i++)
        breaks += text->data[i] == '\n' || text->data[i] == '\r';
    if (!breaks)
        return true;
    if (!token_text_reserve(text, breaks))
        return false;
    size_t at = text->length + breaks;
    for (size_t i = text->length; i-- > from;) {
        char c = text->data[i];
        bool is_break = c == '\n' || c == '\r';
        text->data[--at] = c == '\n' ? 'n' : c == '\r' ? 'r' : c;
        if (is_break)
            text->data[--at] = '\\';
    }
    text->length += breaks;
    return true;
}

void token_text_free(TokenText *text)
{
    free(text->data);
    *text = (TokenText){0};
}
