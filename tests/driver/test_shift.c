/* What a survey finds by comparing lines: forms of a line, lines that come again, and pairs whose
 * sides are shifted by a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/corpus/survey/shift.h"
#include "driver/corpus/survey/side_model.h"
#include "runtime/data/draws.h"

#include <stdio.h>
#include <string.h>

static void digest_text(Digest *digest, const char *text)
{
    digest_line(digest, &(Line){text, strlen(text)});
}

/* Letters of either case and any blanks are one text; other words are another. */
static void test_normal_form(void **state)
{
    (void)state;
    Digest a = {0}, b = {0};
    digest_text(&a, "  Ein  HUND\t\xc3\x84 ");
    digest_text(&b, "ein hund \xc3\xa4");
    assert_true(a.hash == b.hash);
    assert_int_equal(a.words, 3);
    digest_text(&b, "ein hund a");
    assert_true(a.hash != b.hash);
    digest_text(&a, " \t ");
    assert_int_equal(a.words, 0);
    digest_text(&a, "a\xff");
    assert_int_equal(digest_clean(&a).length, 4); /* U+FFFD has three bytes */
    digest_free(&a);
    digest_free(&b);
}

static void test_lines_again(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    LineHashes hashes = {0};
    uint64_t sequence = 3;
    for (int64_t i = 1; i <= MANY; i++)
        assert_int_equal(line_hashes_add(&hashes, draws_next(&sequence), i), 0);
    sequence = 3;
    for (int64_t i = 1; i <= MANY; i++) {
        const uint64_t hash = draws_next(&sequence);
        assert_int_equal(line_hashes_add(&hashes, hash, MANY + i), i);
        assert_int_equal(line_hashes_find(&hashes, hash, i % 2), i);
        assert_int_equal(line_hashes_is_marked(&hashes, hash), i % 2);
        assert_int_equal(line_hashes_find(&hashes, hash, false), i);
    }
    assert_int_equal(line_hashes_find(&hashes, draws_next(&sequence), true), 0);
    line_hashes_free(&hashes);
}

/* n pairs of lines of drawn lengths: target i is of line i + by. The verdict on them. */
static ShiftVerdict judge(int n, int by, bool with_names)
{
    enum { MOST = 200 };
    Shift shift = {0};
    Digest pair[2] = {{.words = 0}, {.words = 0}};
    uint64_t state = 11;
    char text[2 * MOST + 40];
    int lengths[600];
    for (int i = 0; i < 600; i++)
        lengths[i] = with_names ? 40 : 3 + (int)draws_below(&state, MOST);
    for (int i = 1; i <= n; i++) {
        for (int k = 0; k < 2; k++) {
            const int line = i + k * by;
            memset(text, "xy"[k], sizeof text);
            snprintf(text + lengths[line], 40, with_names ? " Word%d" : " %c",
                     with_names ? line : 'x');
            digest_text(&pair[k], text);
        }
        assert_int_equal(shift_add(&shift, pair), i == 500);
    }
    digest_free(&pair[0]);
    digest_free(&pair[1]);
    return shift_judge(&shift);
}

static void test_shifted_pairs(void **state)
{
    (void)state;
    for (int names = 0; names < 2; names++)
        for (int by = -1; by <= 1; by++) {
            const ShiftVerdict v = judge(400, by, names);
            assert_int_equal(v.pairs, 400);
            /* target i of line i - 1: source i fits the target of the next pair */
            assert_int_equal(v.by, -by);
            assert_true(by || names || v.own > 0.99);
            assert_true(!by || !names || v.other_common >= 398);
            assert_int_equal(judge(29, by, names).by, 0); /* too few to say */
        }
}

/* Texts of two languages, made of syllables of their own: a pair that is swapped, and one whose
 * target is a source. */
static void make_text(char *text, size_t room, int language, uint64_t *state)
{
    static const char *const syllables[2][8] = {
        {"der ", "ein", "lich ", "sch", "ung ", "kei", "zu ", "ver"},
        {"the ", "ing ", "ough", "ed ", "wh", "ly ", "tion ", "of "}};
    *text = 0;
    for (int i = 0; i < 30; i++)
        strncat(text, syllables[language][draws_below(state, 8)], room - strlen(text) - 1);
}

static void test_sides(void **state)
{
    (void)state;
    enum { PAIRS = 400 };
    SideModel *model = side_model_new();
    Digest pair[2] = {{.words = 0}, {.words = 0}};
    int found[4] = {0};
    for (int reading = 0; reading < 2; reading++) {
        uint64_t sequence = 5;
        for (int i = 0; i < PAIRS; i++) {
            char text[300];
            const bool swapped = i == 100, both = i == 200;
            for (int k = 0; k < 2; k++) {
                make_text(text, sizeof text, both ? 0 : swapped ? 1 - k : k, &sequence);
                digest_text(&pair[k], text);
            }
            if (!reading) {
                side_model_add(model, pair);
                continue;
            }
            const SideScore score = side_model_score(model, pair);
            const SideVerdict verdict = side_score_verdict(&score);
            assert_int_equal(verdict, swapped ? SIDES_SWAPPED
                                      : both  ? SIDES_BOTH_SOURCE
                                              : SIDES_RIGHT);
            found[verdict]++;
        }
    }
    assert_int_equal(found[SIDES_RIGHT], PAIRS - 2);
    digest_free(&pair[0]);
    digest_free(&pair[1]);
    side_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_form), cmocka_unit_test(test_lines_again),
        cmocka_unit_test(test_shifted_pairs), cmocka_unit_test(test_sides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
