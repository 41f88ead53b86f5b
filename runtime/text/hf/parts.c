/* Parts of a text. */
#include "runtime/text/hf/hf.h"

#include <stdlib.h>

void parts_clear(HfParts *parts) { parts->text.length = parts->n = 0; }

void parts_free(HfParts *parts)
{
    token_text_free(&parts->text);
    free(parts->at);
    *parts = (HfParts){0};
}

void parts_put(HfParts *parts, const char *bytes, size_t length)
{
    parts->failed = parts->failed || !token_text_put(&parts->text, bytes, length);
}

void parts_end(HfParts *parts, int32_t id, bool first)
{
    size_t from = parts->n ? parts->at[parts->n - 1].end : 0;
    if (parts->failed || (id < 0 && parts->text.length == from))
        return;
    if (parts->n == parts->capacity) {
        size_t capacity = parts->capacity ? parts->capacity * 2 : 32;
        HfPart *at = realloc(parts->at, capacity * sizeof *at);
        parts->failed = !at;
        if (!at)
            return;
        parts->at = at;
        parts->capacity = capacity;
    }
    parts->at[parts->n++] = (HfPart){parts->text.length, id, first};
}
