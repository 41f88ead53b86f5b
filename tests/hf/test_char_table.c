/* The table of characters that libraries for other systems have says of every character what
 * utf8proc says, and its NFD is utf8proc's, also of texts whose marks are out of order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/text/hf/char_table.h"

#include <string.h>

enum { CHARACTERS = 0x110000, SURROGATES = 0xD800, BEHIND = 0xE000 };

static TokenText bytes;
static CharTable table;

static int make(void **state)
{
    (void)state;
    assert_true(char_table_make(&bytes));
    return char_table_open(&table, bytes.data) != bytes.length;
}

static void each_character(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < CHARACTERS; c++) {
        if (char_table_category(&table, c) != char_category(c))
            fail_msg("U+%04X: category %d, not %d", c, char_table_category(&table, c),
                     char_category(c));
        if (char_table_lower(&table, c) != char_lower(c))
            fail_msg("U+%04X: small U+%04X, not U+%04X", c, char_table_lower(&table, c),
                     char_lower(c));
    }
}

static void same_nfd(const char *text, size_t length, uint32_t about)
{
    TokenText ours = {0}, theirs = {0};
    assert_true(char_table_put_nfd(&table, &ours, text, length));
    assert_true(uni_put_form(&theirs, text, length, UNI_NFD));
    if (ours.length != theirs.length || memcmp(ours.data, theirs.data, ours.length) != 0)
        fail_msg("NFD of a text with U+%04X", about);
    token_text_free(&ours);
    token_text_free(&theirs);
}

static void each_decomposition(void **state)
{
    (void)state;
    for (uint32_t c = 1; c < CHARACTERS; c++) {
        TokenText text = {0};
        if (c >= SURROGATES && c < BEHIND)
            continue;
        uni_put(&text, c);
        same_nfd(text.data, text.length, c);
        token_text_free(&text);
    }
}

/* Letters and marks of many classes by a fixed sequence. */
static void marks_in_any_order(void **state)
{
    (void)state;
    static const uint32_t letters[] = {'a',    0x301,   0x323,   0x327,  0x345,   0x5B0,
                                       0x651,  0x1EA5,  0x1F82,  0x3099, 0xAC01,  0x302E,
                                       0x94D,  0x1D165, 0x1D16E, 0xE9,   0x340,   0x2F868,
                                       0x20D0, 0xFB2C,  ' ',     0x4E00, 0x11131, 0x315};
    enum { LETTERS = sizeof letters / sizeof *letters, TEXTS = 20000, LENGTH = 9 };
    uint32_t random = 1;
    for (int i = 0; i < TEXTS; i++) {
        TokenText text = {0};
        for (int k = 0; k < LENGTH; k++) {
            random = random * 1664525u + 1013904223u;
            uni_put(&text, letters[(random >> 8) % LETTERS]);
        }
        same_nfd(text.data, text.length, random);
        token_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_character),
        cmocka_unit_test(each_decomposition),
        cmocka_unit_test(marks_in_any_order),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
