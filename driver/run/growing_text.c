/* Decoding of the last ids, from an anchor that moves: what it gives must begin with what it gave
 * before, else all ids are decoded. */
#include "driver/run/growing_text.h"

#include "base/arena.h"
#include "runtime/decode/continue.h"

#include <string.h>

void continuation_put(const Vocabulary *vocab, const Ids *ids, Text *out)
{
    TokenText text = {0};
    memory_need(continue_put(vocab_tokenizer(vocab), &vocab_rules(vocab)->text, ids->data,
                             ids->count, &text));
    text_put(out, text.data, text.length);
    token_text_free(&text);
}

enum { ANCHORED_IDS = 64 }; /* more than a character, or what a decoder mends, may have */

/* Appends the text of the ids from `first` on. */
static void put_ids_from(const Vocabulary *vocab, const Ids *ids, size_t first, Text *out)
{
    int32_t *data = first ? ids->data + first : ids->data;
    continuation_put(vocab, &(Ids){.data = data, .count = ids->count - first}, out);
}

static void decode_whole(const Vocabulary *vocab, GrowingText *g)
{
    g->anchor = g->settled = g->shared = g->text.length = 0;
    text_put(&g->text, "", 0); /* "" where no id has text */
    put_ids_from(vocab, &g->ids, 0, &g->text);
}

static void decode_tail(const Vocabulary *vocab, GrowingText *g)
{
    Text tail = {0};
    put_ids_from(vocab, &g->ids, g->anchor, &tail);
    const bool goes_on =
        tail.length >= g->shared &&
        (!g->shared || !memcmp(tail.data, g->text.data + g->settled - g->shared, g->shared));
    if (goes_on) {
        g->text.length = g->settled;
        text_put(&g->text, tail.data ? tail.data + g->shared : "", tail.length - g->shared);
    } else
        decode_whole(vocab, g);
    text_free(&tail);
}

/* Moves the anchor if the text so far ends with what the last ids give, which is whole. */
static void move_anchor(const Vocabulary *vocab, GrowingText *g)
{
    static const char unfinished[] = "\357\277\275"; /* a character whose bytes are not all there */
    Text tail = {0};
    const size_t anchor = g->ids.count - ANCHORED_IDS;
    put_ids_from(vocab, &g->ids, anchor, &tail);
    if (tail.length && tail.length <= g->text.length && !text_ends(tail.data, unfinished) &&
        !memcmp(g->text.data + g->text.length - tail.length, tail.data, tail.length)) {
        g->anchor = anchor;
        g->settled = g->text.length;
        g->shared = tail.length;
    }
    text_free(&tail);
}

void growing_text_begin(const Vocabulary *vocab, const Ids *ids, GrowingText *text)
{
    *text = (GrowingText){0};
    for (size_t i = 0; i < ids->count; i++)
        ids_push(&text->ids, ids->data[i]);
    decode_whole(vocab, text);
}

void growing_text_push(const Vocabulary *vocab, GrowingText *text, int32_t id)
{
    ids_push(&text->ids, id);
    decode_tail(vocab, text);
    const size_t decoded = text->ids.count - text->anchor;
    if (decoded > ANCHORED_IDS && decoded % ANCHORED_IDS == 0)
        move_anchor(vocab, text);
}

void growing_text_free(GrowingText *text)
{
    ids_free(&text->ids);
    text_free(&text->text);
}
