/* Measures of classes and tags beside independent formulas on random cases, and beside published
 * values. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/data/measures.h"
#include "tests/random_cases.h"
#include "tests/messages.h"

#include <stdio.h>
#include <string.h>

/* ---- classes ---- */

typedef struct Setup {
    Arena *arena;
    Diagnostics diags;
} Setup;

static Setup open_setup(void)
{
    Setup setup = {.arena = arena_new()};
    diag_init(&setup.diags, setup.arena);
    return setup;
}

/* Precision and recall by the definition, their harmonic mean, its mean over classes that occur. */
static double macro_by_definition(const int *labels, const int *predicted, int n, int classes)
{
    double sum = 0;
    int occurring = 0;
    for (int c = 0; c < classes; c++) {
        double both = 0, of_label = 0, of_prediction = 0;
        for (int i = 0; i < n; i++) {
            both += labels[i] == c && predicted[i] == c;
            of_label += labels[i] == c;
            of_prediction += predicted[i] == c;
        }
        double precision = of_prediction > 0 ? both / of_prediction : 0;
        double recall = of_label > 0 ? both / of_label : 0;
        sum += precision + recall > 0 ? 2 / (1 / precision + 1 / recall) : 0;
        occurring += of_label + of_prediction > 0;
    }
    return occurring ? sum / occurring : NAN;
}

static void check_classes(Setup *setup)
{
    int n = below(30), classes = 1 + below(8), labels[30], predicted[30], right = 0;
    ClassCounts counts;
    assert_true(classes_begin(&counts, setup->arena, &setup->diags, classes, below(2)));
    for (int i = 0; i < n; i++) {
        labels[i] = below(classes);
        predicted[i] = below(3) ? labels[i] : below(classes);
        right += labels[i] == predicted[i];
        assert_true(classes_add(&counts, labels[i], predicted[i]));
    }
    assert_near(classes_accuracy(&counts), n ? 1.0 * right / n : NAN);
    assert_near(classes_macro_f1(&counts), macro_by_definition(labels, predicted, n, classes));
    for (int cell = 0; counts.table && cell < classes * classes; cell++) {
        int times = 0;
        for (int i = 0; i < n; i++)
            times += labels[i] == cell / classes && predicted[i] == cell % classes;
        assert_int_equal(counts.table[cell], times);
    }
}

static void test_random_classes(void **state)
{
    random_state = 1;
    Setup setup = open_setup();
    for (int i = 0; i < CASES; i++)
        check_classes(&setup);
    arena_free(setup.arena);
}

static ClassCounts count_classes(Setup *setup, int classes, const int *labels, const int *predicted,
                                 int n)
{
    ClassCounts counts;
    assert_true(classes_begin(&counts, setup->arena, &setup->diags, classes, true));
    for (int i = 0; i < n; i++)
        assert_true(classes_add(&counts, labels[i], predicted[i]));
    return counts;
}

/* The examples of scikit-learn's accuracy_score, f1_score and confusion_matrix. */
static void test_published_classes(void **state)
{
    Setup setup = open_setup();
    ClassCounts counts = count_classes(&setup, 4, (int[]){0, 1, 2, 3}, (int[]){0, 2, 1, 3}, 4);
    assert_near(classes_accuracy(&counts), 0.5);
    counts = count_classes(&setup, 5, (int[]){0, 1, 2, 0, 1, 2}, (int[]){0, 2, 1, 0, 0, 1}, 6);
    assert_near(match_f1(&counts.of[0]), 0.8);
    assert_near(match_precision(&counts.of[0]), 2.0 / 3);
    assert_near(match_recall(&counts.of[0]), 1);
    assert_near(match_f1(&counts.of[1]), 0);
    assert_near(match_precision(&counts.of[4]), 0);
    assert_true(fabs(classes_macro_f1(&counts) - 0.26) < 0.01); /* classes 3 and 4 do not occur */
    counts = count_classes(&setup, 3, (int[]){2, 0, 2, 2, 0, 1}, (int[]){0, 0, 2, 2, 0, 2}, 6);
    static const int64_t table[] = {2, 0, 0, 0, 0, 1, 1, 0, 2};
    assert_memory_equal(counts.table, table, sizeof table);
    arena_free(setup.arena);
}

static void test_wrong_classes(void **state)
{
    static const int64_t wrong[] = {INT64_MIN, -1, 3, INT64_MAX};
    Setup setup = open_setup();
    ClassCounts counts;
    assert_true(classes_begin(&counts, setup.arena, &setup.diags, 3, true));
    for (int i = 0; i < 4; i++) {
        assert_false(classes_add(&counts, wrong[i], 0));
        assert_false(classes_add(&counts, 0, wrong[i]));
    }
    assert_int_equal(counts.items, 0);
    assert_near(classes_accuracy(&counts), NAN);
    assert_near(classes_macro_f1(&counts), NAN);
    assert_false(classes_begin(&counts, setup.arena, &setup.diags, 0, false));
    expect_message(&setup.diags, "0 classes: the number must be from 1 to 16777216");
    assert_false(classes_begin(&counts, setup.arena, &setup.diags, INT64_MAX, true));
    assert_false(classes_begin(&counts, setup.arena, &setup.diags, 4097, true));
    expect_message(&setup.diags, "a table of 4097 classes is too large");
    assert_true(classes_begin(&counts, setup.arena, &setup.diags, 4097, false));
    assert_int_equal(setup.diags.errors, 3);
    arena_free(setup.arena);
}

/* ---- tags ---- */

static const char *const iobes[] = {"O",   "B-A", "I-A", "E-A", "S-A",
                                    "B-B", "I-B", "E-B", "S-B", "<pad>"};
enum { IOBES = 10, IOB = 7 };
static const char *const iob[] = {"O", "B-MISC", "I-MISC", "B-PER", "I-PER", "B-X", "I-X"};

/* Found: the spans of a sequence, as a text "from to type" each. */
typedef struct Found {
    int n;
    char text[20][32];
} Found;

static char kind_at(const char *const *names, const int32_t *ids, int n, int i)
{
    return i < n && names[ids[i]][0] != '<' ? names[ids[i]][0] : 'O';
}

static bool is_like(const char *const *names, const int32_t *ids, int n, int i, const char *type)
{
    return kind_at(names, ids, n, i) != 'O' && !strcmp(names[ids[i]] + 2, type);
}

/* The last token of the span that begins at i, by the regular expression S | E | [BI] I* E?, all of
 * one type. */
static int last_of_span(const char *const *names, const int32_t *ids, int n, int i)
{
    const char *type = names[ids[i]] + 2;
    if (strchr("SE", kind_at(names, ids, n, i)))
        return i;
    while (kind_at(names, ids, n, i + 1) == 'I' && is_like(names, ids, n, i + 1, type))
        i++;
    return i + (kind_at(names, ids, n, i + 1) == 'E' && is_like(names, ids, n, i + 1, type));
}

static Found find_spans(const char *const *names, const int32_t *ids, int n)
{
    Found found = {0};
    for (int i = 0; i < n; i++)
        if (kind_at(names, ids, n, i) != 'O') {
            int last = last_of_span(names, ids, n, i);
            snprintf(found.text[found.n++], 32, "%d %d %s", i, last, names[ids[i]] + 2);
            i = last;
        }
    return found;
}

/* How many of the spans have this type and are in `other`; `other` NULL: how many have it. */
static int count_found(const Found *found, const char *type, const Found *other)
{
    int count = 0;
    for (int i = 0; i < found->n; i++) {
        bool there = !other;
        for (int k = 0; other && k < other->n; k++)
            there |= !strcmp(found->text[i], other->text[k]);
        count += there && !strcmp(strrchr(found->text[i], ' ') + 1, type);
    }
    return count;
}

static void check_tags(Setup *setup, const char *const *names, int n_names)
{
    TagCounts counts;
    assert_true(tags_begin(&counts, setup->arena, &setup->diags, names, n_names));
    MatchCount expected[3] = {0};
    int tokens = 0, right = 0;
    for (int sequence = 0; sequence < 3; sequence++) {
        int32_t labels[16], predicted[16], n = below(17);
        for (int i = 0; i < n; i++) {
            labels[i] = below(n_names);
            predicted[i] = below(4) ? labels[i] : below(n_names);
            right += labels[i] == predicted[i];
        }
        tokens += n;
        assert_true(tags_add(&counts, labels, predicted, n));
        Found a = find_spans(names, labels, n), b = find_spans(names, predicted, n);
        for (int t = 0; t < counts.n_types; t++) {
            expected[t].labels += count_found(&a, counts.types[t], NULL);
            expected[t].predictions += count_found(&b, counts.types[t], NULL);
            expected[t].right += count_found(&a, counts.types[t], &b);
        }
    }
    MatchCount all = {0};
    for (int t = 0; t < counts.n_types; t++) {
        assert_memory_equal(&counts.of[t], &expected[t], sizeof *expected);
        all.labels += expected[t].labels;
        all.predictions += expected[t].predictions;
        all.right += expected[t].right;
    }
    assert_memory_equal(&counts.spans, &all, sizeof all);
    assert_near(tags_accuracy(&counts), tokens ? 1.0 * right / tokens : NAN);
}

static void test_random_tags(void **state)
{
    random_state = 2;
    Setup setup = open_setup();
    for (int i = 0; i < CASES; i++)
        check_tags(&setup, i % 2 ? iobes : iob, i % 2 ? IOBES : IOB);
    arena_free(setup.arena);
}

/* The example of seqeval's README. */
static void test_seqeval(void **state)
{
    Setup setup = open_setup();
    TagCounts counts;
    assert_true(tags_begin(&counts, setup.arena, &setup.diags, iob, IOB));
    assert_true(
        tags_add(&counts, (int32_t[]){0, 0, 0, 1, 2, 2, 0}, (int32_t[]){0, 0, 1, 2, 2, 2, 0}, 7));
    assert_true(tags_add(&counts, (int32_t[]){3, 4, 0}, (int32_t[]){3, 4, 0}, 3));
    assert_near(match_f1(&counts.spans), 0.5);
    assert_near(tags_accuracy(&counts), 0.8);
    assert_int_equal(counts.n_types, 3);
    assert_string_equal(counts.types[0], "MISC");
    assert_near(match_f1(&counts.of[0]), 0);
    assert_near(match_f1(&counts.of[1]), 1);
    assert_near(match_f1(&counts.of[2]), 0); /* no span of the type: 0/0 */
    arena_free(setup.arena);
}

/* The example of conlleval's page (CoNLL-2000, "Output example"): 459 phrases, 539 found. */
static void test_conlleval(void **state)
{
    const MatchCount counts = {459, 539, 371};
    assert_true(fabs(100 * match_precision(&counts) - 68.83) < 0.005);
    assert_true(fabs(100 * match_recall(&counts) - 80.83) < 0.005);
    assert_true(fabs(100 * match_f1(&counts) - 74.35) < 0.005);
}

typedef struct LabelList {
    const char *labels[4];
    int n;
    bool has_spans;
} LabelList;

static const LabelList label_lists[] = {
    {{"O", "B-X", "I-X"}, 3, true},
    {{"<pad>", "<unk>", "I-X", "O"}, 4, true},
    {{"S-X"}, 1, true},
    {{"O", "E-X"}, 2, false},
    {{"O", "<pad>"}, 2, false},
    {{"B-X", "NOUN"}, 2, false},
    {{"B-X", "B-"}, 2, false},
    {{"B-X", "B"}, 2, false},
    {{"B-X", ""}, 2, false},
    {{"B-X", "<>"}, 2, false},
    {{"B-X", "L-X"}, 2, false},
    {{"NOUN", "VERB"}, 2, false},
    {{"O"}, 0, false},
};

static void test_label_lists(void **state)
{
    for (size_t i = 0; i < sizeof label_lists / sizeof *label_lists; i++)
        assert_int_equal(tags_have_spans(label_lists[i].labels, label_lists[i].n),
                         label_lists[i].has_spans);
}

static void test_other_tags(void **state)
{
    static const char *const words[] = {"NOUN", "VERB"};
    Setup setup = open_setup();
    TagCounts counts;
    assert_true(tags_begin(&counts, setup.arena, &setup.diags, words, 2));
    assert_false(counts.has_spans);
    assert_near(tags_accuracy(&counts), NAN);
    assert_true(tags_add(&counts, NULL, NULL, 0));
    assert_true(tags_add(&counts, (int32_t[]){0, 1}, (int32_t[]){1, 1}, 2));
    assert_false(tags_add(&counts, (int32_t[]){0, 2}, (int32_t[]){1, 1}, 2));
    assert_false(tags_add(&counts, (int32_t[]){0, 1}, (int32_t[]){1, -1}, 2));
    assert_int_equal(counts.tokens, 2);
    assert_near(tags_accuracy(&counts), 0.5);
    assert_false(tags_begin(&counts, setup.arena, &setup.diags, words, 0));
    expect_message(&setup.diags, "0 labels: the number must be from 1");
    arena_free(setup.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_classes), cmocka_unit_test(test_published_classes),
        cmocka_unit_test(test_wrong_classes),  cmocka_unit_test(test_random_tags),
        cmocka_unit_test(test_seqeval),        cmocka_unit_test(test_conlleval),
        cmocka_unit_test(test_label_lists),    cmocka_unit_test(test_other_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
