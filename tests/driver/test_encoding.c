/* What is wrong with the characters of a line: where each fault is, and which forms letters
 * have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/corpus/survey/encoding.h"

#include <string.h>

/* Bytes at which the faults of EncodingFault are; -1: the line has none of the kind. */
typedef struct Faults {
    int not_utf8, mojibake, replacement, control, markup;
} Faults;

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        Faults faults;
    } rows[] = {
        {"", {-1, -1, -1, -1, -1}},
        {"A dog.\twalks", {-1, -1, -1, -1, -1}},
        {"Grüße: „groß“, «là », 5 €", {-1, -1, -1, -1, -1}},
        {"a\xff z", {1, -1, -1, -1, -1}},
        {"caf\xe9", {3, -1, -1, -1, -1}},     /* Latin-1 */
        {"fÃ¼r", {-1, 1, -1, -1, -1}},        /* für */
        {"itâ€™s", {-1, 2, -1, -1, -1}},      /* it’s */
        {"Ã–sterreich", {-1, 0, -1, -1, -1}}, /* Österreich */
        {"a\xef\xbf\xbd", {-1, -1, 1, -1, -1}},
        {"a\x01"
         "b",
         {-1, -1, -1, 1, -1}},
        {"a\xc2\x85", {-1, -1, -1, 1, -1}}, /* C1 */
        {"a\xe2\x80\xa8", {-1, -1, -1, 1, -1}},
        {"x \xef\xbb\xbf", {-1, -1, -1, 2, -1}},
        {"Tom &amp; Jerry", {-1, -1, -1, -1, 4}},
        {"it&#39;s", {-1, -1, -1, -1, 2}},
        {"a <br> b", {-1, -1, -1, -1, 2}},
        {"AT&T, 1 < 2 & 3", {-1, -1, -1, -1, -1}},
        {"&#;", {-1, -1, -1, -1, -1}},
        {"a \xff &lt; \x02", {2, -1, -1, 9, 4}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Line line = {rows[i].line, strlen(rows[i].line)};
        const Faults *f = &rows[i].faults;
        const int wanted[ENCODING_FAULTS] = {f->not_utf8, f->mojibake, f->replacement, f->control,
                                             f->markup};
        size_t at[ENCODING_FAULTS];
        encoding_look(&line, at);
        for (int k = 0; k < ENCODING_FAULTS; k++)
            if (at[k] != (wanted[k] < 0 ? ENCODING_NONE : (size_t)wanted[k]))
                fail_msg("'%s', fault %d: at %lld, not %d", line.text, k, (long long)at[k],
                         wanted[k]);
    }
}

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int decomposed;
        bool composed;
    } rows[] = {
        {"plain", -1, false},      {"für", -1, true},
        {"fu\xcc\x88r", 1, false},                           /* u and a diaeresis */
        {"é e\xcc\x81", 3, true},  {"x\xcc\x81", -1, false}, /* no letter of Unicode is both */
        {"2 × 3 ÷ 4", -1, false},  {"Ł \xe1\xba\xbf", -1, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Line line = {rows[i].line, strlen(rows[i].line)};
        const EncodingForms forms = encoding_forms(&line);
        const size_t wanted = rows[i].decomposed < 0 ? ENCODING_NONE : (size_t)rows[i].decomposed;
        if (forms.decomposed != wanted || forms.composed != rows[i].composed)
            fail_msg("'%s': at %lld, composed %d", line.text, (long long)forms.decomposed,
                     forms.composed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults), cmocka_unit_test(test_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
