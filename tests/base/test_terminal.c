/* Text on its way to a terminal: what is escaped, in pieces of any size, and through files that are
 * terminals. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* A text, and how it is shown in a message or a name; on a terminal alike, but for line breaks. */
static const struct {
    const char *text, *shown;
} cases[] = {
    {"", ""},
    {"a\tb ä✓😀", "a\tb ä✓😀"},
    {"\x1b[2J\a\x7f", "\\x1b[2J\\x07\\x7f"},
    {"\r\b\v\f", "\\x0d\\x08\\x0b\\x0c"},
    {"\xc2\x80|\xc2\x9b|\xc2\x9f|\xc2\xa0", "\\xc2\\x80|\\xc2\\x9b|\\xc2\\x9f|\xc2\xa0"},
    {"\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\xd8\\x9c\xd8\x9d"},              /* U+061C */
    {"\xe2\x80\x8d\xe2\x80\x8e", "\xe2\x80\x8d\\xe2\\x80\\x8e"},             /* U+200E */
    {"\xe2\x80\x8f\xe2\x80\x90", "\\xe2\\x80\\x8f\xe2\x80\x90"},             /* U+200F */
    {"\xe2\x80\xa9\xe2\x80\xaa", "\xe2\x80\xa9\\xe2\\x80\\xaa"},             /* U+202A */
    {"\xe2\x80\xae\xe2\x80\xaf", "\\xe2\\x80\\xae\xe2\x80\xaf"},             /* U+202E */
    {"\xe2\x81\xa5\xe2\x81\xa6", "\xe2\x81\xa5\\xe2\\x81\\xa6"},             /* U+2066 */
    {"\xe2\x81\xa9\xe2\x81\xaa", "\\xe2\\x81\\xa9\xe2\x81\xaa"},             /* U+2069 */
    {"\x80\xff|\xc3|\xc3(", "\\x80\\xff|\\xc3|\\xc3("},                      /* not UTF-8 */
    {"\xe2\x80|\xe2|\xf0\x9f\x98", "\\xe2\\x80|\\xe2|\\xf0\\x9f\\x98"},      /* cut short */
    {"\xc0\xaf\xed\xa0\x80\xf4\x90", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90"}, /* never valid */
    {"\xe0\x9b\x9b\xc2\xc2\x9b", "\\xe0\\x9b\\x9b\\xc2\\xc2\\x9b"}, /* overlong; twice begun */
};
enum { CASES = sizeof cases / sizeof cases[0], LONGEST = 64 };

static void names(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    for (size_t i = 0; i < CASES; i++) {
        Text message = {0};
        text_visible(&message, cases[i].text, strlen(cases[i].text));
        assert_string_equal(message.data ? message.data : "", cases[i].shown);
        assert_string_equal(text_visible_name(arena, cases[i].text), cases[i].shown);
        text_free(&message);
    }
    assert_string_equal(text_visible_name(arena, "a\nb"), "a\\nb");
    arena_free(arena);
}

static void expect_pieces(const char *text, size_t size, const char *shown)
{
    TerminalText terminal = {0};
    char out[TERMINAL_ROOM(LONGEST)];
    size_t n = 0;
    const size_t length = strlen(text);
    assert_true(length < LONGEST);
    for (size_t at = 0; at < length; at += size)
        n += terminal_show(&terminal, text + at, length - at < size ? length - at : size, out + n);
    n += terminal_rest(&terminal, out + n);
    out[n] = '\0';
    assert_string_equal(out, shown);
    assert_int_equal(terminal_rest(&terminal, out), 0);
}

static void pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        for (size_t size = 1; size <= LONGEST; size++)
            expect_pieces(cases[i].text, size, cases[i].shown);
    expect_pieces("a\n\n b\n", 2, "a\n\n b\n");
}

/* A NUL is a byte like others, and the room is enough where each byte is escaped. */
static void room(void **state)
{
    (void)state;
    TerminalText terminal = {.begun = "\xe2\x80", .n_begun = 2};
    char piece[9] = {0}, out[TERMINAL_ROOM(sizeof piece)];
    assert_int_equal(terminal_show(&terminal, piece, sizeof piece, out), TEXT_ESCAPE * 11);
    assert_memory_equal(out, "\\xe2\\x80\\x00\\x00", 16);
}

static void cut(void **state)
{
    (void)state;
    char text[TEXT_WHOLE + 100];
    Text whole = {0}, shown = {0};
    memset(text, 'a', sizeof text);
    memcpy(text + 399, "ä", 2);
    memcpy(text + sizeof text - 301, "ö", 2);
    text_visible_cut(&whole, text, TEXT_WHOLE);
    assert_int_equal(whole.length, TEXT_WHOLE);
    text_visible_cut(&shown, text, sizeof text);
    assert_int_equal(shown.length, 399 + strlen(" … ") + 301); /* no half of a character */
    assert_memory_equal(shown.data + 399, " … ö", strlen(" … ö"));
    text_free(&whole);
    text_free(&shown);
}

/* A file that is a terminal shows its text, one that is none has its bytes. */
static void files(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    char seen[64] = "";
    struct termios raw;
    const char text[] = "a\x1b\xc2\x9bä\n\xe2", shown[] = "a\\x1b\\xc2\\x9bä\n\\xe2";
    diag_init(&diags, arena);
    const int ours = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(ours >= 0 && !grantpt(ours) && !unlockpt(ours));
    const char *path = ptsname(ours);
    const int theirs = open(path, O_RDWR | O_NOCTTY);
    assert_true(theirs >= 0 && !tcgetattr(theirs, &raw));
    cfmakeraw(&raw);
    assert_false(tcsetattr(theirs, TCSANOW, &raw));
    assert_true(file_write_all(&diags, path, text, sizeof text - 1));
    for (size_t n = 0; n < sizeof shown - 1;) {
        const ssize_t more = read(ours, seen + n, sizeof seen - n);
        assert_true(more > 0);
        n += (size_t)more;
    }
    assert_string_equal(seen, shown);
    char file[] = "/tmp/tfc-terminal-XXXXXX";
    close(mkstemp(file));
    assert_true(file_write_all(&diags, file, text, sizeof text - 1));
    assert_string_equal(file_read(&diags, arena, file, 64)->text, text);
    unlink(file);
    close(theirs);
    close(ours);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(pieces),
                                       cmocka_unit_test(room), cmocka_unit_test(cut),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
