/* Characters: UTF-8, and properties by their categories. */
#include "runtime/text/hf/characters.h"

#include "base/text.h"

uint32_t uni_decode(const char *text, size_t length, size_t *size)
{
    const unsigned char *t = (const unsigned char *)text;
    *size = utf8_length(text, length);
    switch (*size) {
    case 1: return t[0];
    case 2: return (t[0] & 0x1Fu) << 6 | (t[1] & 0x3Fu);
    case 3: return (t[0] & 0x0Fu) << 12 | (t[1] & 0x3Fu) << 6 | (t[2] & 0x3Fu);
    case 4:
        return (t[0] & 0x07u) << 18 | (t[1] & 0x3Fu) << 12 | (t[2] & 0x3Fu) << 6 | (t[3] & 0x3Fu);
    default: *size = 1; return 0xFFFD;
    }
}

bool uni_put(TokenText *out, uint32_t c)
{
    char bytes[4];
    size_t n = 0;
    if (c < 0x80)
        bytes[n++] = (char)c;
    else if (c < 0x800)
        bytes[n++] = (char)(0xC0 | c >> 6);
    else if (c < 0x10000)
        bytes[n++] = (char)(0xE0 | c >> 12);
    else
        bytes[n++] = (char)(0xF0 | c >> 18);
    for (int shift = c < 0x80 ? -1 : c < 0x800 ? 0 : c < 0x10000 ? 6 : 12; shift >= 0; shift -= 6)
        bytes[n++] = (char)(0x80 | (c >> shift & 0x3F));
    return token_text_put(out, bytes, n);
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

bool uni_is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

bool uni_is_mark(uint32_t c)
{
    CharCategory is = char_category(c);
    return is == CHAR_MN || is == CHAR_MC || is == CHAR_ME;
}

bool uni_is_nonspacing(uint32_t c) { return char_category(c) == CHAR_MN; }

bool uni_is_punctuation(uint32_t c)
{
    bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                 (c >= 123 && c <= 126);
    CharCategory is = char_category(c);
    return ascii || (is >= CHAR_PC && is <= CHAR_PO);
}

bool uni_is_number(uint32_t c)
{
    CharCategory is = char_category(c);
    return is >= CHAR_ND && is <= CHAR_NO;
}

bool uni_is_word(uint32_t c)
{
    CharCategory is = char_category(c);
    return uni_is_mark(c) || (is >= CHAR_LU && is <= CHAR_LO) || is == CHAR_ND || is == CHAR_NL ||
           is == CHAR_PC;
}

bool uni_is_control(uint32_t c)
{
    CharCategory is = char_category(c);
    return c != '\t' && c != '\n' && c != '\r' &&
           (is == CHAR_CC || is == CHAR_CF || is == CHAR_CO || is == CHAR_CS);
}

bool uni_is_ideograph(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool uni_put_lower(TokenText *out, const char *text, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        uint32_t c = uni_decode(text + at, length - at, &size);
        /* the one character whose small form is two */
        bool ok = c == 0x130 ? token_text_put(out, "i\xcc\x87", 3) : uni_put(out, char_lower(c));
        if (!ok)
            return false;
    }
    return true;
}
