/* Fuzz target: any bytes as a tokenizer.json. What is refused is refused with a reason; what is
 * accepted encodes texts, the bytes themselves too, into ids that it has, and decodes each of its
 * ids. */
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/kind.h"
#include "tests/fuzz/budget.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_IDS = 100, MOST_TEXT = 600 };
static const char sample[] =
    "a B  c\t \xc3\xa4\xe2\x82\xac d'll </s> [MASK] <unk> 12345 zz\xff\xf0\x9f\x98\x80 <think> .\n";

static void encode(const Tokenizer *t, const char *text, size_t length, TokenIds *ids)
{
    size_t before = ids->count;
    if (!tokenizer_encode(t, text, length, ids) && ids->count != before)
        abort();
    for (size_t i = before; i < ids->count; i++)
        if (ids->data[i] < 0 || ids->data[i] >= tokenizer_size(t))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new();
    const char *problem;
    Tokenizer *t = tokenizer_json(arena, (const char *)data, size, &problem);
    TokenIds ids = {0};
    TokenText text = {0};
    if (!t != (problem != NULL))
        abort();
    if (t)
        need_budget(t->arena, BUDGET_TEXT, size);
    if (t)
        encode(t, sample, sizeof sample - 1, &ids);
    if (t)
        encode(t, (const char *)data + (size > MOST_TEXT ? size - MOST_TEXT : 0),
               size < MOST_TEXT ? size : MOST_TEXT, &ids);
    for (int32_t id = 0; id < tokenizer_size(t) && id < MOST_IDS; id++) {
        size_t length;
        const char *piece = tokenizer_piece(t, id, &length);
        if (tokenizer_find(t, piece, length) >= tokenizer_size(t) || !token_ids_push(&ids, id))
            abort();
    }
    if (t)
        tokenizer_decode(t, ids.data, ids.count, &text);
    token_ids_free(&ids);
    token_text_free(&text);
    tokenizer_free(t);
    arena_free(arena);
    return 0;
}
