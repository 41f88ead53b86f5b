/* The tree of sums as ranks walk through it: each piece is computed once, by the rank that has it;
 * what ranks do together they do in the same order; and the sum is the same expression for any
 * number. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "runtime/train/parallel/sum_tree.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIECES = 33, MOST_RANKS = 9, LEVELS = 8 };

/* Rank: what it would have in the store and put aside at each level, as a text. */
typedef struct Rank {
    SumStep *steps;
    int64_t n, next;
    Text store, kept[LEVELS];
} Rank;

static void take(Text *to, Text *from)
{
    text_free(to);
    *to = *from;
    *from = (Text){0};
}

static void join(Text *store, Text *left)
{
    Text sum = {0};
    text_add(&sum, "(%s+%s)", left->data, store->data);
    text_free(left);
    take(store, &sum);
}

/* A meeting whose ranks have all come to it; every rank of `whole` has the sum then. */
static bool meet(Rank *ranks, const SumStep *step)
{
    for (int r = step->whole.from; r <= step->whole.to; r++) {
        const SumStep *other = &ranks[r].steps[ranks[r].next];
        if (other->kind != SUM_MEET || other->level != step->level ||
            other->left.from != step->left.from)
            return false;
    }
    Text left = {0}, sum = {0};
    take(&left, &ranks[step->left.from].kept[step->level]);
    take(&sum, &ranks[step->right.from].store);
    join(&sum, &left);
    for (int r = step->whole.from; r <= step->whole.to; r++) {
        text_free(&ranks[r].kept[step->level]);
        text_free(&ranks[r].store);
        text_string(&ranks[r].store, sum.data);
        ranks[r].next++;
    }
    text_free(&sum);
    return true;
}

/* Whether the rank could do its next step. */
static bool advance(Rank *ranks, int r, int *computed)
{
    Rank *me = &ranks[r];
    const SumStep *step = &me->steps[me->next];
    if (me->next == me->n || step->kind == SUM_SPREAD)
        return false;
    if (step->kind == SUM_MEET)
        return meet(ranks, step);
    me->next++;
    switch (step->kind) {
    case SUM_PIECE:
        computed[step->piece]++;
        assert_int_equal(me->store.length, 0);
        text_add(&me->store, "%d", (int)step->piece);
        break;
    case SUM_KEEP: take(&me->kept[step->level], &me->store); break;
    case SUM_JOIN: join(&me->store, &me->kept[step->level]); break;
    default: fail();
    }
    return true;
}

/* The sum as a text, to be freed. */
static char *sum_of(int64_t pieces, int n)
{
    Rank ranks[MOST_RANKS] = {0};
    int computed[MOST_PIECES] = {0};
    for (int r = 0; r < n; r++) {
        ranks[r].steps = calloc((size_t)sum_tree_most(pieces), sizeof(SumStep));
        ranks[r].n = sum_tree_steps(ranks[r].steps, pieces, n, r);
        assert_true(ranks[r].n <= sum_tree_most(pieces));
    }
    for (bool more = true; more;) {
        more = false;
        for (int r = 0; r < n; r++)
            while (advance(ranks, r, computed))
                more = true;
    }
    for (int64_t i = 0; i < pieces; i++)
        assert_int_equal(computed[i], 1);
    Span whole = {0};
    for (int r = 0; r < n; r++) {
        assert_int_equal(ranks[r].next, ranks[r].n - 1);
        whole = ranks[r].steps[ranks[r].next].whole;
    }
    char *sum = strdup(ranks[whole.from].store.data);
    for (int r = 0; r < n; r++) {
        text_free(&ranks[r].store);
        free(ranks[r].steps);
    }
    return sum;
}

static void the_same_sum(void **state)
{
    for (int64_t pieces = 1; pieces < MOST_PIECES; pieces++) {
        char *alone = sum_of(pieces, 1);
        for (int n = 2; n < MOST_RANKS; n++) {
            char *sum = sum_of(pieces, n);
            assert_string_equal(sum, alone);
            free(sum);
        }
        free(alone);
    }
    char *five = sum_of(5, 1);
    assert_string_equal(five, "(((0+1)+(2+3))+4)");
    free(five);
}

/* Even: a rank's last piece is before its first meeting. */
static void even_ones(void **state)
{
    for (int64_t pieces = 1; pieces < MOST_PIECES; pieces++)
        for (int n = 1; n < MOST_RANKS; n++) {
            SumStep steps[3 * MOST_PIECES];
            bool even = true;
            for (int r = 0; r < n; r++) {
                int64_t n_steps = sum_tree_steps(steps, pieces, n, r);
                bool met = false;
                for (int64_t i = 0; i < n_steps; i++) {
                    even &= !(met && steps[i].kind == SUM_PIECE);
                    met |= steps[i].kind == SUM_MEET;
                }
            }
            assert_int_equal(sum_tree_is_even(pieces, n), even);
        }
    assert_true(sum_tree_is_even(8, 4));
    assert_false(sum_tree_is_even(8, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_sum), cmocka_unit_test(even_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
