/* Walking through the tree of sums. */
#include "runtime/train/parallel/sum_tree.h"

#include <assert.h>

/* Walk: pieces, who computes them, and the steps of one rank so far. */
typedef struct Walk {
    int64_t pieces;
    int ranks, rank;
    SumStep *out;
    int64_t n;
} Walk;

int sum_tree_rank(int64_t piece, int64_t n, int ranks) { return (int)(piece * ranks / n); }

static int rank_of(const Walk *walk, int64_t piece)
{
    return sum_tree_rank(piece, walk->pieces, walk->ranks);
}

static Span span_of(const Walk *walk, int64_t first, int64_t n)
{
    return (Span){rank_of(walk, first), rank_of(walk, first + n - 1)};
}

/* The sum of pieces first … first + n - 1. */
static void add_sum(Walk *walk, int64_t first, int64_t n, int level)
{
    Span whole = span_of(walk, first, n);
    if (!span_has(whole, walk->rank))
        return;
    if (n == 1) {
        walk->out[walk->n++] = (SumStep){.kind = SUM_PIECE, .piece = first};
        return;
    }
    int64_t n_left = gradient_sum_left(n), middle = first + n_left;
    Span left = span_of(walk, first, n_left), right = span_of(walk, middle, n - n_left);
    add_sum(walk, first, n_left, level + 1);
    if (span_has(left, walk->rank))
        walk->out[walk->n++] = (SumStep){.kind = SUM_KEEP, .level = level};
    add_sum(walk, middle, n - n_left, level + 1);
    walk->out[walk->n++] = (SumStep){.kind = whole.from == whole.to ? SUM_JOIN : SUM_MEET,
                                     .level = level,
                                     .left = left,
                                     .right = right,
                                     .whole = whole};
}

/* A tree over n pieces has n - 1 sums of two, each with a step before it. */
int64_t sum_tree_most(int64_t n) { return n + 2 * (n - 1) + 1; }

int64_t sum_tree_steps(SumStep *out, int64_t n, int ranks, int rank)
{
    Walk walk = {n, ranks, rank, out, 0};
    add_sum(&walk, 0, n, 0);
    out[walk.n++] = (SumStep){.kind = SUM_SPREAD, .whole = span_of(&walk, 0, n)};
    return walk.n;
}

static bool is_even(const Walk *walk, int64_t first, int64_t n)
{
    Span whole = span_of(walk, first, n);
    if (whole.from == whole.to)
        return true;
    int64_t n_left = gradient_sum_left(n), middle = first + n_left;
    return rank_of(walk, middle - 1) < rank_of(walk, middle) && is_even(walk, first, n_left) &&
           is_even(walk, middle, n - n_left);
}

bool sum_tree_is_even(int64_t n, int ranks) { return is_even(&(Walk){n, ranks, 0, NULL, 0}, 0, n); }

void sum_tree_do(GradientSum *sum, const SumStep *step, Gradients of)
{
    switch (step->kind) {
    case SUM_PIECE: assert(false); break;
    case SUM_KEEP: gradient_sum_keep(sum, of, step->level); break;
    case SUM_JOIN: gradient_sum_join(sum, of, step->level); break;
    case SUM_MEET:
        gradient_sum_meet(sum, of, step->level, step->left, step->right, step->whole);
        break;
    case SUM_SPREAD: gradient_sum_spread(sum, of, step->whole); break;
    }
}
