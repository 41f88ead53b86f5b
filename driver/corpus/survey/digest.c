/* Normal forms of lines. */
#include "driver/corpus/survey/digest.h"

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
    if (!ok)
        abort();
}

void digest_line(Digest *digest, const Line *line)
{
    TokenText lower = {0};
    digest->clean.length = digest->normal.length = 0;
    digest->characters = digest->words = 0;
    if (!uni_put_valid(&digest->clean, line->text, line->length) ||
        !uni_put_lower(&lower, digest->clean.data, digest->clean.length))
        abort();
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
