/* Characters, by utf8proc: the one file that sees it. */
#include "runtime/text/hf/unicode.h"

#include "base/text.h"

#include <stdlib.h>
#include <utf8proc.h>

uint32_t uni_decode(const char *text, size_t length, size_t *size)
{
    utf8proc_int32_t character;
    utf8proc_ssize_t n =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &character);
    *size = n > 0 ? (size_t)n : 1;
    return n > 0 ? (uint32_t)character : 0xFFFD;
}

bool uni_put(TokenText *out, uint32_t character)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)character, bytes);
    return token_text_put(out, (const char *)bytes, n > 0 ? (size_t)n : 0);
}

bool uni_put_valid(TokenText *out, const char *text, size_t length)
{
    for (size_t at = 0, good; at < length; at += good) {
        size_t size = 0;
        for (good = 0; at + good < length; good += size)
            if (!(size = utf8_length(text + at + good, length - at - good)))
                break;
        if (!token_text_put(out, text + at, good))
            return false;
        if (at + good < length) {
            if (!token_text_put(out, "\xef\xbf\xbd", 3))
                return false;
            good++;
        }
    }
    return true;
}

/* Bytes of the longest beginning of a character at a place where none is; at least 1. */
static size_t broken_length(const unsigned char *t, size_t length)
{
    unsigned low = t[0] == 0xE0 ? 0xA0 : t[0] == 0xF0 ? 0x90 : 0x80;
    unsigned high = t[0] == 0xED ? 0x9F : t[0] == 0xF4 ? 0x8F : 0xBF;
    size_t most = t[0] < 0xC2 || t[0] > 0xF4 ? 1 : t[0] < 0xE0 ? 2 : t[0] < 0xF0 ? 3 : 4, n = 1;
    while (n < most && n < length && t[n] >= low && t[n] <= high) {
        n++;
        low = 0x80;
        high = 0xBF;
    }
    return n;
}

bool uni_put_lossy(TokenText *out, const char *text, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = utf8_length(text + at, length - at);
        bool good = size;
        if (!good)
            size = broken_length((const unsigned char *)text + at, length - at);
        if (good ? !token_text_put(out, text + at, size) : !token_text_put(out, "\xef\xbf\xbd", 3))
            return false;
    }
    return true;
}

/* ---- properties ---- */

static utf8proc_category_t category(uint32_t character)
{
    return utf8proc_category((utf8proc_int32_t)character);
}

bool uni_is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

bool uni_is_mark(uint32_t c)
{
    utf8proc_category_t is = category(c);
    return is == UTF8PROC_CATEGORY_MN || is == UTF8PROC_CATEGORY_MC || is == UTF8PROC_CATEGORY_ME;
}

bool uni_is_nonspacing(uint32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool uni_is_punctuation(uint32_t c)
{
    bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                 (c >= 123 && c <= 126);
    utf8proc_category_t is = category(c);
    return ascii || (is >= UTF8PROC_CATEGORY_PC && is <= UTF8PROC_CATEGORY_PO);
}

bool uni_is_number(uint32_t c)
{
    utf8proc_category_t is = category(c);
    return is >= UTF8PROC_CATEGORY_ND && is <= UTF8PROC_CATEGORY_NO;
}

bool uni_is_word(uint32_t c)
{
    utf8proc_category_t is = category(c);
    return uni_is_mark(c) || (is >= UTF8PROC_CATEGORY_LU && is <= UTF8PROC_CATEGORY_LO) ||
           is == UTF8PROC_CATEGORY_ND || is == UTF8PROC_CATEGORY_NL || is == UTF8PROC_CATEGORY_PC;
}

bool uni_is_control(uint32_t c)
{
    utf8proc_category_t is = category(c);
    return c != '\t' && c != '\n' && c != '\r' &&
           (is == UTF8PROC_CATEGORY_CC || is == UTF8PROC_CATEGORY_CF ||
            is == UTF8PROC_CATEGORY_CO || is == UTF8PROC_CATEGORY_CS);
}

bool uni_is_ideograph(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/* ---- forms ---- */

bool uni_put_form(TokenText *out, const char *text, size_t length, UniForm form)
{
    static const int options[] = {
        [UNI_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
        [UNI_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        [UNI_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
        [UNI_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
    };
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length,
                                      &made, (utf8proc_option_t)options[form]);
    bool ok = n >= 0 && token_text_put(out, (const char *)made, (size_t)n);
    free(made);
    return ok;
}

bool uni_put_lower(TokenText *out, const char *text, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        uint32_t c = uni_decode(text + at, length - at, &size);
        /* the one character whose small form is two */
        bool ok = c == 0x130 ? token_text_put(out, "i\xcc\x87", 3)
                             : uni_put(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)c));
        if (!ok)
            return false;
    }
    return true;
}

size_t uni_grapheme(const char *text, size_t length)
{
    size_t at, size;
    utf8proc_int32_t state = 0;
    uint32_t before = uni_decode(text, length, &at);
    for (; at < length; at += size) {
        uint32_t c = uni_decode(text + at, length - at, &size);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)c, &state))
            break;
        before = c;
    }
    return at;
}
