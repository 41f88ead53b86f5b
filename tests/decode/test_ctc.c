/* CTC decoding beside sums over all alignments, and narrow beams beside a plain search. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/decode/ctc.h"
#include "tests/random_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 5, SYMBOLS = 4, WIDE = 1024, WORDS = 4 };

/* ---- cases ---- */

/* Sum: a label sequence, as text of one letter a label, and its probability. For the plain search
 * also the part of alignments that end with a blank. */
typedef struct Sum {
    char labels[FRAMES + 1];
    double blank, label;
} Sum;

typedef struct Sums {
    int n;
    Sum at[WIDE];
} Sums;

/* Case: frames, a lexicon, and the words as text. */
typedef struct Case {
    float log_probabilities[FRAMES * SYMBOLS];
    CtcFrames frames;
    bool has_lexicon;
    CtcLexicon lexicon;
    int n_words;
    char words[WORDS][FRAMES + 1];
} Case;

static char letter(int32_t label) { return (char)('a' + label); }

static double probability(const Case *c, int frame, int symbol)
{
    return exp((double)c->log_probabilities[frame * c->frames.symbols + symbol]);
}

/* Log-probabilities of random weights: of any, of a few, or with many zeros. */
static void fill_frames(Case *c)
{
    const int kind = below(3);
    c->frames = (CtcFrames){c->log_probabilities, below(FRAMES + 1), 1 + below(SYMBOLS), 0};
    c->frames.blank = below(c->frames.symbols);
    for (int t = 0; t < c->frames.frames; t++) {
        float *row = c->log_probabilities + t * c->frames.symbols, total = 0;
        for (int i = 0; i < c->frames.symbols; i++)
            total += row[i] = (float)(kind == 0   ? 1 + below(1000000)
                                      : kind == 1 ? 1 + below(2)
                                                  : below(3));
        for (int i = 0; i < c->frames.symbols; i++)
            row[i] = logf(row[i] / (total > 0 ? total : 1));
    }
}

/* A label that words may have; -1: there is none. */
static int32_t some_label(const CtcLexicon *lexicon)
{
    for (int tries = 0; tries < 100; tries++) {
        int32_t label = below(lexicon->symbols);
        if (label != lexicon->blank && label != lexicon->separator)
            return label;
    }
    return -1;
}

static void fill_lexicon(Case *c, Arena *arena)
{
    c->lexicon = (CtcLexicon){.symbols = c->frames.symbols, .blank = c->frames.blank};
    c->lexicon.separator = below(c->frames.symbols);
    if (c->lexicon.separator == c->lexicon.blank)
        c->lexicon.separator = LEXICON_WHOLE;
    int32_t ids[WORDS][FRAMES];
    Tokens words[WORDS];
    c->n_words = some_label(&c->lexicon) < 0 ? 0 : below(WORDS + 1);
    memset(c->words, 0, sizeof c->words);
    for (int w = 0; w < c->n_words; w++) {
        words[w] = (Tokens){ids[w], 1 + below(3)};
        for (int i = 0; i < words[w].n; i++)
            c->words[w][i] = letter(ids[w][i] = some_label(&c->lexicon));
    }
    int64_t bad;
    assert_true(ctc_lexicon_build(&c->lexicon, arena, words, c->n_words, &bad));
}

/* Whether the text is one of the words, or words with separators between them. */
static bool is_words(const Case *c, const char *text)
{
    for (int w = 0; w < c->n_words; w++) {
        const size_t n = strlen(c->words[w]);
        if (strncmp(text, c->words[w], n))
            continue;
        if (!text[n] || (c->lexicon.separator >= 0 && text[n] == letter(c->lexicon.separator) &&
                         is_words(c, text + n + 1)))
            return true;
    }
    return false;
}

/* The text of labels as results have it: with a lexicon, one separator between two words. */
static void drop_separators(const Case *c, char *text)
{
    if (!c->has_lexicon || c->lexicon.separator < 0)
        return;
    const char separator = letter(c->lexicon.separator);
    size_t n = 0;
    for (const char *from = text; *from; from++)
        if (*from != separator || (n && text[n - 1] != separator))
            text[n++] = *from;
    text[n - (n && text[n - 1] == separator)] = 0;
}

static bool is_allowed(const Case *c, const char *text)
{
    return !c->has_lexicon || is_words(c, text) || (!*text && c->lexicon.separator >= 0);
}

static Sum *sum_of(Sums *sums, const char *labels)
{
    for (int i = 0; i < sums->n; i++)
        if (!strcmp(sums->at[i].labels, labels))
            return &sums->at[i];
    assert_true(sums->n < WIDE);
    Sum *sum = &sums->at[sums->n++];
    memset(sum, 0, sizeof *sum);
    memcpy(sum->labels, labels, strlen(labels) + 1);
    return sum;
}

/* Adds every alignment that begins with these symbols: its labels, the last symbol, and the
 * probability so far. */
static void add_alignments(const Case *c, Sums *sums, int frame, int before, const char *labels,
                           double p)
{
    if (frame == c->frames.frames) {
        char text[FRAMES + 1];
        memcpy(text, labels, strlen(labels) + 1);
        drop_separators(c, text);
        if (p > 0 && is_allowed(c, text))
            sum_of(sums, text)->label += p;
        return;
    }
    for (int symbol = 0; symbol < c->frames.symbols; symbol++) {
        char longer[FRAMES + 1] = {0};
        memcpy(longer, labels, strlen(labels));
        if (symbol != c->frames.blank && symbol != before)
            longer[strlen(labels)] = letter(symbol);
        add_alignments(c, sums, frame + 1, symbol, longer, p * probability(c, frame, symbol));
    }
}

static int compare_sums(const void *a, const void *b)
{
    const double x = ((const Sum *)a)->blank + ((const Sum *)a)->label;
    const double y = ((const Sum *)b)->blank + ((const Sum *)b)->label;
    return x > y ? -1 : x < y;
}

/* ---- comparing ---- */

static void text_of(const CtcResult *result, char text[FRAMES + 1])
{
    assert_in_range(result->n, 0, FRAMES);
    for (int i = 0; i < result->n; i++)
        text[i] = letter(result->labels[i]);
    text[result->n] = 0;
}

/* Results are sorted; equal ones by their labels; none is there twice. */
static void check_order(const CtcResults *results)
{
    for (int i = 1; i < results->n; i++) {
        char before[FRAMES + 1], after[FRAMES + 1];
        text_of(&results->best[i - 1], before);
        text_of(&results->best[i], after);
        const double p = results->best[i - 1].log_probability, q = results->best[i].log_probability;
        assert_true(p > q || (p == q && strcmp(before, after) < 0));
        for (int k = 0; k < i; k++) {
            text_of(&results->best[k], before);
            assert_string_not_equal(before, after);
        }
    }
}

static void assert_log(double log_probability, double expected)
{
    if (!(fabs(log_probability - log(expected)) < 1e-9 * (1 + fabs(log(expected)))))
        fail_msg("%.17g is not %.17g", log_probability, log(expected));
}

static void check_exact(const Case *c, Arena *arena, Sums *sums)
{
    const CtcLexicon *lexicon = c->has_lexicon ? &c->lexicon : NULL;
    CtcResults results;
    int n_best = below(3) ? WIDE : 1 + below(3);
    assert_int_equal(ctc_beam(&c->frames, &(CtcBeam){WIDE, n_best, lexicon}, arena, &results),
                     CTC_OK);
    sums->n = 0;
    add_alignments(c, sums, 0, -1, "", 1);
    qsort(sums->at, (size_t)sums->n, sizeof *sums->at, compare_sums);
    assert_int_equal(results.n, sums->n < n_best ? sums->n : n_best);
    check_order(&results);
    for (int i = 0, n = sums->n; i < results.n; i++) {
        char text[FRAMES + 1];
        text_of(&results.best[i], text);
        assert_log(results.best[i].log_probability, sum_of(sums, text)->label);
        assert_log(results.best[i].log_probability, sums->at[i].label);
        assert_int_equal(sums->n, n); /* the sequence was there */
    }
}

/* No result of a narrow beam has more than its whole sum. */
static void check_narrow(const Case *c, Arena *arena, Sums *sums)
{
    const CtcLexicon *lexicon = c->has_lexicon ? &c->lexicon : NULL;
    for (int width = 1; width <= 4; width++) {
        CtcResults results;
        assert_int_equal(ctc_beam(&c->frames, &(CtcBeam){width, width, lexicon}, arena, &results),
                         CTC_OK);
        assert_in_range(results.n, 0, width);
        check_order(&results);
        for (int i = 0, n = sums->n; i < results.n; i++) {
            char text[FRAMES + 1];
            text_of(&results.best[i], text);
            const double whole = log(sum_of(sums, text)->label);
            assert_true(results.best[i].log_probability <= whole + 1e-9 * (1 + fabs(whole)));
            assert_int_equal(sums->n, n);
        }
    }
}

static void check_random(bool has_lexicon)
{
    Sums *sums = malloc(sizeof *sums);
    for (int i = 0; i < CASES; i++) {
        Arena *arena = arena_try_new();
        Case c = {.has_lexicon = has_lexicon};
        fill_frames(&c);
        if (has_lexicon)
            fill_lexicon(&c, arena);
        check_exact(&c, arena, sums);
        check_narrow(&c, arena, sums);
        arena_free(arena);
    }
    free(sums);
}

static void test_all_labels(void **state)
{
    random_state = 1;
    check_random(false);
}

static void test_lexicon(void **state)
{
    random_state = 2;
    check_random(true);
}

/* ---- words of a lexicon ---- */

enum { BLANK, A, B, C, BAR, LABELS };

/* A lexicon of a, b, ab and aa; `separator`: BAR or LEXICON_WHOLE. */
static const CtcLexicon *few_words(int32_t separator, Arena *arena)
{
    static const int32_t ids[] = {A, B, A, A};
    static const Tokens words[] = {{&ids[0], 1}, {&ids[1], 1}, {&ids[0], 2}, {&ids[2], 2}};
    CtcLexicon *lexicon = ARENA_ARRAY(arena, CtcLexicon, 1);
    int64_t bad;
    *lexicon = (CtcLexicon){.symbols = LABELS, .blank = BLANK, .separator = separator};
    assert_true(ctc_lexicon_build(lexicon, arena, words, 4, &bad));
    return lexicon;
}

/* The search's text of frames that say `said` with a probability of 0.9 (of ?: that a and b are
 * equal), as letters of the symbols; '!' before a text outside of the lexicon. */
static const char *found_text(const char *said, int32_t separator, int width, Arena *arena)
{
    static char text[1 + FRAMES * 2];
    float rows[FRAMES * 2 * LABELS];
    const int n = (int)strlen(said);
    for (int t = 0; t < n; t++)
        for (int i = 0; i < LABELS; i++)
            rows[t * LABELS + i] = said[t] == '?'          ? (i == A || i == B ? 0.48F : 0.01F)
                                   : said[t] == "-abc|"[i] ? 0.9F
                                                           : 0.025F;
    const CtcBeam beam = {width, 1, few_words(separator, arena)};
    CtcResults results;
    assert_int_equal(ctc_search(rows, (int64_t)n * LABELS, LABELS, &beam, arena, &results), CTC_OK);
    assert_int_equal(results.n, 1);
    int at = 0;
    if (results.outside)
        text[at++] = '!';
    for (int i = 0; i < results.best->n; i++)
        text[at++] = "-abc|"[results.best->labels[i]];
    text[at] = 0;
    return text;
}

/* Separators around words are optional, for every beam; without words that fit, the best path. */
static void test_separators(void **state)
{
    static const struct {
        const char *said, *text;
        int32_t separator;
    } rows[] = {
        {"a|b|", "a|b", BAR},
        {"|a|b", "a|b", BAR},
        {"a||-|b", "a|b", BAR},
        {"?|?|", "a|a", BAR},
        {"a-a|a-b|", "aa|ab", BAR},
        {"||-|", "", BAR},
        {"----", "", BAR},
        {"a|", "a", BAR},
        {"|ab|", "ab", BAR},
        {"c-", "!c", BAR},
        {"|c|", "!|c|", BAR},
        {"aab", "ab", LEXICON_WHOLE},
        {"a-a", "aa", LEXICON_WHOLE},
    };
    Arena *arena = arena_try_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int width = 1; width <= 64; width *= 2)
            if (strcmp(found_text(rows[i].said, rows[i].separator, width, arena), rows[i].text))
                fail_msg("row %d, width %d: %s", (int)i, width,
                         found_text(rows[i].said, rows[i].separator, width, arena));
    arena_free(arena);
}

/* ---- narrow beams ---- */

/* A frame of the plain search: every prefix with every symbol, sums as probabilities. */
static void plain_frame(const Case *c, const Sums *from, Sums *to, int frame)
{
    to->n = 0;
    for (int i = 0; i < from->n; i++)
        for (int symbol = 0; symbol < c->frames.symbols; symbol++) {
            const Sum *prefix = &from->at[i];
            const size_t n = strlen(prefix->labels);
            const double p = probability(c, frame, symbol);
            const bool repeats = n && prefix->labels[n - 1] == letter(symbol);
            char longer[FRAMES + 1] = {0};
            memcpy(longer, prefix->labels, n);
            longer[n] = letter(symbol);
            if (symbol == c->frames.blank)
                sum_of(to, prefix->labels)->blank += p * (prefix->blank + prefix->label);
            else
                sum_of(to, longer)->label += p * (prefix->blank + (repeats ? 0 : prefix->label));
            if (repeats)
                sum_of(to, prefix->labels)->label += p * prefix->label;
        }
}

static void check_plain(Sums *a, Sums *b)
{
    Case c = {.has_lexicon = false};
    do
        fill_frames(&c);
    while (c.frames.symbols < 3 || c.frames.frames < 3);
    for (int i = 0; i < c.frames.frames * c.frames.symbols; i++) /* no equal sums */
        c.log_probabilities[i] = logf((float)(1 + below(1000000)) / 1e6f);
    const int width = 1 + below(5);
    a->n = 0;
    sum_of(a, "")->blank = 1;
    for (int t = 0; t < c.frames.frames; t++) {
        plain_frame(&c, a, b, t);
        qsort(b->at, (size_t)b->n, sizeof *b->at, compare_sums);
        memcpy(a->at, b->at, sizeof a->at);
        a->n = b->n < width ? b->n : width;
    }
    Arena *arena = arena_try_new();
    CtcResults results;
    assert_int_equal(ctc_beam(&c.frames, &(CtcBeam){width, width, NULL}, arena, &results), CTC_OK);
    assert_int_equal(results.n, a->n);
    for (int i = 0; i < a->n; i++) {
        char text[FRAMES + 1];
        text_of(&results.best[i], text);
        assert_string_equal(text, a->at[i].labels);
        assert_log(results.best[i].log_probability, a->at[i].blank + a->at[i].label);
    }
    arena_free(arena);
}

static void test_plain_search(void **state)
{
    random_state = 3;
    Sums *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    for (int i = 0; i < CASES; i++)
        check_plain(a, b);
    free(a);
    free(b);
}

/* ---- best path ---- */

static void test_best_path(void **state)
{
    random_state = 4;
    for (int i = 0; i < CASES; i++) {
        Case c = {.has_lexicon = false};
        fill_frames(&c);
        char expected[FRAMES + 1] = {0}, text[FRAMES + 1];
        int before = -1, length = 0;
        double p = 1;
        for (int t = 0; t < c.frames.frames; t++) {
            int best = c.frames.symbols - 1;
            for (int symbol = best; symbol >= 0; symbol--)
                if (probability(&c, t, symbol) >= probability(&c, t, best))
                    best = symbol;
            if (best != c.frames.blank && best != before)
                expected[length++] = letter(best);
            p *= probability(&c, t, best);
            before = best;
        }
        int32_t labels[FRAMES];
        CtcResult path = {.labels = labels};
        assert_int_equal(ctc_best_path(&c.frames, labels, &path.n, &path.log_probability), CTC_OK);
        text_of(&path, text);
        assert_string_equal(text, expected);
        if (p > 0)
            assert_log(path.log_probability, p);
        else
            assert_true(path.log_probability == -INFINITY);
    }
}

/* The example of the header: with blank 0, a a - a b gives a a b. */
static void test_example(void **state)
{
    static const int32_t path[] = {1, 1, 0, 1, 2}, expected[] = {1, 1, 2};
    float rows[5 * 3];
    for (int t = 0; t < 5; t++)
        for (int i = 0; i < 3; i++)
            rows[t * 3 + i] = i == path[t] ? 0 : -INFINITY;
    const CtcFrames frames = {rows, 5, 3, CTC_LOSS_BLANK};
    int32_t labels[5], n;
    double log_probability;
    assert_int_equal(ctc_best_path(&frames, labels, &n, &log_probability), CTC_OK);
    assert_int_equal(n, 3);
    assert_memory_equal(labels, expected, sizeof expected);
    assert_true(log_probability == 0);
    Arena *arena = arena_try_new();
    CtcResults results;
    assert_int_equal(ctc_beam(&frames, &(CtcBeam){8, 8, NULL}, arena, &results), CTC_OK);
    assert_int_equal(results.n, 1);
    assert_int_equal(results.best[0].n, 3);
    assert_memory_equal(results.best[0].labels, expected, sizeof expected);
    assert_true(results.best[0].log_probability == 0);
    arena_free(arena);
}

/* One frame of equal symbols: the empty sequence, then the labels in their order; a beam of one
 * keeps the first. */
static void test_equal(void **state)
{
    const float row[] = {-1, -1, -1, -1};
    Arena *arena = arena_try_new();
    CtcResults results;
    assert_int_equal(ctc_beam(&(CtcFrames){row, 1, 4, 2}, &(CtcBeam){8, 8, NULL}, arena, &results),
                     CTC_OK);
    static const int32_t expected[] = {-1, 0, 1, 3};
    assert_int_equal(results.n, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(results.best[i].n, i > 0);
        assert_true(!i || results.best[i].labels[0] == expected[i]);
    }
    for (int width = 1; width <= 2; width++) {
        assert_int_equal(
            ctc_beam(&(CtcFrames){row, 1, 4, 2}, &(CtcBeam){width, width, NULL}, arena, &results),
            CTC_OK);
        assert_int_equal(results.best[width - 1].n, width - 1);
    }
    assert_int_equal(results.best[1].labels[0], 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_labels), cmocka_unit_test(test_lexicon),
        cmocka_unit_test(test_separators), cmocka_unit_test(test_plain_search),
        cmocka_unit_test(test_best_path),  cmocka_unit_test(test_example),
        cmocka_unit_test(test_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
