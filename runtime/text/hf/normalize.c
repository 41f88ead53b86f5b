/* Normalizers: each step makes a new text of the last one's. */
#include "runtime/text/hf/hf.h"

#include <string.h>

static bool strip(const HfStep *s, const char *text, size_t length, TokenText *out)
{
    size_t size, from = 0, end = length;
    while (s->left && from < end && uni_is_space(uni_decode(text + from, end - from, &size)))
        from += size;
    while (s->right && end > from) {
        size_t at = end - 1;
        while (at > from && ((unsigned char)text[at] & 0xC0) == 0x80)
            at--;
        if (!uni_is_space(uni_decode(text + at, end - at, &size)))
            break;
        end = at;
    }
    return token_text_put(out, text + from, end - from);
}

static bool replace_all(const HfStep *s, const char *text, size_t length, TokenText *out)
{
    size_t at = 0, start = 0, end;
    bool failed;
    for (; pattern_next(&s->pattern, text, length, &start, &end, &failed); start = at = end)
        if (!token_text_put(out, text + at, start - at) ||
            !token_text_put(out, s->content, s->n_content))
            return false;
    return !failed && token_text_put(out, text + at, length - at);
}

/* All but characters of a property. */
static bool leave_out(UniIs is, const char *text, size_t length, TokenText *out)
{
    for (size_t at = 0, size; at < length; at += size)
        if (!is(uni_decode(text + at, length - at, &size)) && !token_text_put(out, text + at, size))
            return false;
    return true;
}

/* ---- precompiled ---- */

static bool put_rule(const HfStep *s, const char *text, size_t length, TokenText *out, bool *found)
{
    int32_t value = TRIE_NOWHERE;
    const Trie *keys = &s->rules.keys;
    size_t node = keys->n ? trie_root(keys) : 0;
    for (size_t i = 0; keys->n && i < length && value == TRIE_NOWHERE; i++)
        if (!trie_step(keys, &node, (unsigned char)text[i], &value))
            break;
    const char *by = char_rules_text(&s->rules, value);
    *found = by;
    return !by || token_text_put(out, by, strlen(by));
}

/* The reference looks up whole grapheme clusters of less than six bytes first, then characters,
 * and takes the shortest rule that fits. */
static bool precompiled(const HfStep *s, const char *text, size_t length, TokenText *out)
{
    enum { SHORT = 6 };
    for (size_t at = 0, n; at < length; at += n) {
        bool found = false;
        n = uni_grapheme(text + at, length - at);
        if (n < SHORT && !put_rule(s, text + at, n, out, &found))
            return false;
        for (size_t i = 0, size; !found && i < n; i += size) {
            bool one;
            uni_decode(text + at + i, n - i, &size);
            if (!put_rule(s, text + at + i, size, out, &one) ||
                (!one && !token_text_put(out, text + at + i, size)))
                return false;
        }
    }
    return true;
}

static bool is_dropped(uint32_t c)
{
    return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
           c == 0x9F;
}

static bool is_stripped(uint32_t c)
{
    return c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x2581 || c == 0x3000 || c == 0xFEFF || c == 0xFFFD;
}

/* NFKC, but for the wide tilde, of a text without control characters and odd blanks. */
static bool precompiled_absent(const char *text, size_t length, TokenText *out)
{
    TokenText plain = {0};
    bool ok = true;
    for (size_t at = 0, size; ok && at <= length; at += size) {
        uint32_t c = at < length ? uni_decode(text + at, length - at, &size) : 0xFF5E;
        if (c == 0xFF5E) {
            ok = uni_put_form(out, plain.data ? plain.data : "", plain.length, UNI_NFKC) &&
                 (at == length || token_text_put(out, text + at, size));
            plain.length = 0;
            if (at == length)
                break;
        } else if (!is_dropped(c)) {
            ok = is_stripped(c) ? token_text_put(&plain, " ", 1)
                                : token_text_put(&plain, text + at, size);
        }
    }
    token_text_free(&plain);
    return ok;
}

/* ---- BERT's ---- */

static bool clean(const char *text, size_t length, bool ideographs, bool cleaned, TokenText *out)
{
    for (size_t at = 0, size; at < length; at += size) {
        uint32_t c = uni_decode(text + at, length - at, &size);
        if (cleaned && (!c || c == 0xFFFD || uni_is_control(c)))
            continue;
        bool apart = ideographs && uni_is_ideograph(c);
        bool ok = cleaned && uni_is_space(c) ? token_text_put(out, " ", 1)
                                             : (!apart || token_text_put(out, " ", 1)) &&
                                                   token_text_put(out, text + at, size) &&
                                                   (!apart || token_text_put(out, " ", 1));
        if (!ok)
            return false;
    }
    return true;
}

static void swap(TokenText *a, TokenText *b)
{
    TokenText c = *a;
    *a = *b;
    *b = c;
    b->length = 0;
}

static bool bert(const HfStep *s, TokenText *text, TokenText *other)
{
    if ((s->clean || s->ideographs) &&
        !clean(text->data, text->length, s->ideographs, s->clean, other))
        return false;
    if (s->clean || s->ideographs)
        swap(text, other);
    if (s->accents) {
        if (!uni_put_form(other, text->data, text->length, UNI_NFD))
            return false;
        swap(text, other);
        if (!leave_out(uni_is_nonspacing, text->data, text->length, other))
            return false;
        swap(text, other);
    }
    return s->lower ? uni_put_lower(other, text->data, text->length)
                    : token_text_put(other, text->data, text->length);
}

static bool step(const HfStep *s, TokenText *text, TokenText *out)
{
    switch (s->kind) {
    case HF_FORM: return uni_put_form(out, text->data, text->length, s->form);
    case HF_LOWER: return uni_put_lower(out, text->data, text->length);
    case HF_STRIP_ACCENTS: return leave_out(uni_is_mark, text->data, text->length, out);
    case HF_STRIP: return strip(s, text->data, text->length, out);
    case HF_REPLACE: return replace_all(s, text->data, text->length, out);
    case HF_PREPEND:
        return token_text_put(out, s->content, s->n_content) &&
               token_text_put(out, text->data, text->length);
    case HF_PRECOMPILED: return precompiled(s, text->data, text->length, out);
    case HF_PRECOMPILED_ABSENT: return precompiled_absent(text->data, text->length, out);
    default: return bert(s, text, out);
    }
}

bool hf_normalize(const HfSteps *steps, TokenText *text)
{
    TokenText other = {0};
    token_text_limit(&other, text->length);
    text->most = other.most; /* they are swapped */
    bool ok = true;
    for (size_t i = 0; ok && i < steps->n && text->length; i++) {
        ok = step(&steps->at[i], text, &other);
        swap(text, &other);
    }
    text->most = 0;
    token_text_free(&other);
    return ok;
}
