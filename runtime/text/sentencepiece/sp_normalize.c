/* Normalization by a model's rules: the longest rule that fits replaces, user-defined pieces
 * stay, and blanks become one visible character, as the library has it. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/text/sentencepiece/sp.h"

#include "base/text.h"

#include <string.h>

size_t sp_char(const char *text, size_t available)
{
    static const unsigned char sizes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
    size_t n = sizes[(unsigned char)text[0] >> 4];
    return n < available ? n : available;
}

size_t sp_unit(const Trie *user, const char *text, size_t available, bool *is_user)
{
    int32_t value;
    size_t n = trie_longest(user, text, available, &value);
    *is_user = n;
    return n ? n : sp_char(text, available);
}

/* What the text begins with, normalized, and how many bytes it was. */
typedef struct NormalizedPart {
    const char *text;
    size_t length, consumed;
} NormalizedPart;

static NormalizedPart first_part(const SpNormalizer *n, const Trie *user, const char *text,
                                 size_t length)
{
    int32_t value;
    size_t size = trie_longest(user, text, length, &value);
    if (size)
        return (NormalizedPart){text, size, size};
    size = trie_longest(&n->rules.keys, text, length, &value);
    const char *by = size ? char_rules_text(&n->rules, value) : NULL;
    if (by)
        return (NormalizedPart){by, strlen(by), size};
    size = utf8_length(text, length);
    return size ? (NormalizedPart){text, size, size} : (NormalizedPart){"\xef\xbf\xbd", 3, 1};
}

static bool put_space(const SpNormalizer *n, TokenText *out)
{
    return n->escape ? token_text_put(out, SP_SPACE, SP_SPACE_SIZE) : token_text_put(out, " ", 1);
}

static bool put_part(const SpNormalizer *n, NormalizedPart part, TokenText *out)
{
    if (!n->escape || !memchr(part.text, ' ', part.length))
        return token_text_put(out, part.text, part.length);
    for (size_t i = 0; i < part.length; i++)
        if (part.text[i] == ' ' ? !put_space(n, out) : !token_text_put(out, part.text + i, 1))
            return false;
    return true;
}

/* Blanks at the end of what was added since `start`. */
static void cut_end(const SpNormalizer *n, TokenText *out, size_t start)
{
    const char *space = n->escape ? SP_SPACE : " ";
    size_t size = strlen(space);
    while (out->length - start >= size && !memcmp(out->data + out->length - size, space, size))
        out->length -= size;
}

/* The text behind the blanks that it begins with. */
static const char *skip_blanks(const SpNormalizer *n, const Trie *user, const char *text,
                               const char *end)
{
    while (text < end) {
        NormalizedPart part = first_part(n, user, text, (size_t)(end - text));
        if (part.length != 1 || *part.text != ' ')
            break;
        text += part.consumed;
    }
    return text;
}

static bool put_parts(const SpNormalizer *n, const Trie *user, const char *text, const char *end,
                      TokenText *out)
{
    bool after_space = n->remove_extra;
    while (text < end) {
        NormalizedPart part = first_part(n, user, text, (size_t)(end - text));
        text += part.consumed;
        for (; after_space && part.length && *part.text == ' '; part.length--)
            part.text++;
        if (!put_part(n, part, out))
            return false;
        if (part.length)
            after_space = n->remove_extra && part.text[part.length - 1] == ' ';
    }
    return true;
}

static bool normalize(const SpNormalizer *n, const Trie *user, const char *text, size_t length,
                      TokenText *out)
{
    const char *end = text + length;
    size_t start = out->length;
    if (n->remove_extra)
        text = skip_blanks(n, user, text, end);
    if (text == end)
        return true;
    bool before = n->dummy_prefix && !n->as_suffix, after = n->dummy_prefix && n->as_suffix;
    if (!token_text_reserve(out, length + SP_SPACE_SIZE) || (before && !put_space(n, out)) ||
        !put_parts(n, user, text, end, out))
        return false;
    if (n->remove_extra)
        cut_end(n, out, start);
    return !after || put_space(n, out);
}

bool sp_normalize(const SpNormalizer *normalizer, const Trie *user, const char *text, size_t length,
                  TokenText *out)
{
    size_t before = out->length;
    token_text_limit(out, length);
    bool ok = !length || normalize(normalizer, user, text, length, out);
    out->most = 0;
    if (!ok)
        out->length = before;
    return ok;
}
