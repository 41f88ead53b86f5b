/* Characters by utf8proc: the one file that sees it. */
#include "runtime/text/hf/char_table.h"

#include <assert.h>
#include <stdlib.h>
#include <utf8proc.h>

static_assert((int)UTF8PROC_CATEGORY_CN == CHAR_CN && (int)UTF8PROC_CATEGORY_MN == CHAR_MN &&
                  (int)UTF8PROC_CATEGORY_PC == CHAR_PC && (int)UTF8PROC_CATEGORY_CO == CHAR_CO,
              "categories have utf8proc's numbers");

const char *char_library(void) { return utf8proc_version(); }

CharCategory char_category(uint32_t character)
{
    return (CharCategory)utf8proc_category((utf8proc_int32_t)character);
}

uint32_t char_lower(uint32_t character)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)character);
}

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

/* ---- the table ---- */

enum { CHARACTERS = 0x110000, MOST_LETTERS = 8 };

static bool put_number(TokenText *part, uint32_t number)
{
    return token_text_put(part, (const char *)&number, sizeof number);
}

static uint32_t combining_class(uint32_t character)
{
    return (uint32_t)utf8proc_get_property((utf8proc_int32_t)character)->combining_class;
}

static bool put_whole(TokenText *wholes, TokenText *letters, uint32_t c)
{
    utf8proc_int32_t parts[MOST_LETTERS];
    int class = UTF8PROC_BOUNDCLASS_START;
    const utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)c, parts, MOST_LETTERS,
                                                       UTF8PROC_DECOMPOSE, &class);
    if (n < 1 || (n == 1 && parts[0] == (utf8proc_int32_t)c))
        return true;
    assert(n < 1 << CHAR_COUNT_BITS);
    const uint32_t place = (uint32_t)(letters->length / sizeof place);
    bool ok = put_number(wholes, c) && put_number(wholes, place << CHAR_COUNT_BITS | (uint32_t)n);
    for (utf8proc_ssize_t i = 0; ok && i < n; i++)
        ok = put_number(letters, (uint32_t)parts[i]);
    return ok;
}

static bool put_character(TokenText parts[CHAR_PARTS], uint32_t c)
{
    const uint32_t category = char_category(c), class = combining_class(c), lower = char_lower(c);
    const bool is_hangul = c >= 0xAC00 && c <= 0xD7A3;
    bool ok = true;
    if (!c || char_category(c - 1) != category)
        ok = put_number(&parts[CHAR_PART_CATEGORIES], c << CHAR_CATEGORY_BITS | category);
    if (!c || combining_class(c - 1) != class)
        ok = ok && put_number(&parts[CHAR_PART_CLASSES], c << CHAR_CLASS_BITS | class);
    if (lower != c)
        ok = ok && put_number(&parts[CHAR_PART_LOWERS], c) &&
             put_number(&parts[CHAR_PART_LOWERS], lower);
    return ok && (is_hangul || put_whole(&parts[CHAR_PART_WHOLES], &parts[CHAR_PART_LETTERS], c));
}

bool char_table_make(TokenText *out)
{
    TokenText parts[CHAR_PARTS] = {0};
    bool ok = true;
    for (uint32_t c = 0; ok && c < CHARACTERS; c++)
        ok = put_character(parts, c);
    for (int p = 0; ok && p < CHAR_PARTS; p++)
        ok = put_number(out, (uint32_t)(parts[p].length / sizeof(uint32_t)));
    for (int p = 0; p < CHAR_PARTS; p++) {
        ok = ok && token_text_put(out, parts[p].data, parts[p].length);
        token_text_free(&parts[p]);
    }
    return ok;
}
