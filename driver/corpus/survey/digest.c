/* Normal forms of lines, and a table of their hashes, open addressing. */
#include "driver/corpus/survey/digest.h"

#include "base/arena.h"
#include "base/map.h"
#include "runtime/text/hf/unicode.h"

#include <stdlib.h>

/* Words of lower-case text one blank apart, and how many characters and words there are. */
static void put_words(Digest *digest, const TokenText *lower)
{
    bool ok = true, in_word = false;
    for (size_t i = 0, size; ok && i < lower->length; i += size) {
        uint32_t c = uni_decode(lower->data + i, lower->length - i, &size);
        if (uni_is_space(c)) {
            in_word = false;
            continue;
        }
        if (!in_word && digest->words++)
            ok = token_text_put(&digest->normal, " ", 1);
        in_word = true;
        ok = ok && token_text_put(&digest->normal, lower->data + i, size);
    }
    memory_need(ok);
}

void digest_line(Digest *digest, const Line *line)
{
    TokenText lower = {0};
    digest->clean.length = digest->normal.length = 0;
    digest->characters = digest->words = 0;
    memory_need(uni_put_valid(&digest->clean, line->text, line->length) &&
                uni_put_lower(&lower, digest->clean.data, digest->clean.length));
    for (size_t i = 0; i < digest->clean.length; i++) /* all bytes but those within a character */
        digest->characters += (digest->clean.data[i] & 0xC0) != 0x80;
    put_words(digest, &lower);
    digest->hash = hash_bytes(HASH_SEED, digest->normal.data, digest->normal.length);
    token_text_free(&lower);
}

void digest_free(Digest *digest)
{
    token_text_free(&digest->clean);
    token_text_free(&digest->normal);
}

/* ---- hashes seen ---- */

static size_t find_slot(const LineHashes *h, uint64_t key)
{
    size_t i = (size_t)hash_slot(&key, sizeof key) & (h->capacity - 1);
    while (h->keys[i] && h->keys[i] != key)
        i = (i + 1) & (h->capacity - 1);
    return i;
}

static void grow(LineHashes *h)
{
    LineHashes larger = {.count = h->count, .capacity = h->capacity ? 2 * h->capacity : 1024};
    larger.keys = memory_zeroed(larger.capacity, sizeof *larger.keys);
    larger.lines = memory_zeroed(larger.capacity, sizeof *larger.lines);
    for (size_t i = 0; i < h->capacity; i++) {
        if (!h->keys[i])
            continue;
        size_t slot = find_slot(&larger, h->keys[i]);
        larger.keys[slot] = h->keys[i];
        larger.lines[slot] = h->lines[i];
    }
    line_hashes_free(h);
    *h = larger;
}

int64_t line_hashes_add(LineHashes *h, uint64_t hash, int64_t line)
{
    hash += !hash;
    if (h->count * 4 >= h->capacity * 3)
        grow(h);
    size_t i = find_slot(h, hash);
    if (h->keys[i])
        return llabs(h->lines[i]);
    h->keys[i] = hash;
    h->lines[i] = line;
    h->count++;
    return 0;
}

int64_t line_hashes_find(LineHashes *h, uint64_t hash, bool mark)
{
    hash += !hash;
    size_t i = h->capacity ? find_slot(h, hash) : 0;
    if (!h->capacity || !h->keys[i])
        return 0;
    int64_t line = llabs(h->lines[i]);
    if (mark)
        h->lines[i] = -line;
    return line;
}

bool line_hashes_is_marked(const LineHashes *h, uint64_t hash)
{
    hash += !hash;
    return h->capacity && h->lines[find_slot(h, hash)] < 0;
}

void line_hashes_free(LineHashes *h)
{
    free(h->keys);
    free(h->lines);
    *h = (LineHashes){0};
}
