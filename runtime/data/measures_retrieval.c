/* Measures of retrieval: each product of two vectors is computed once, in blocks of rows that stay
 * in the cache, and compared with the products of both partners. Threads share the blocks: their
 * counts are whole numbers, whose sums do not depend on the order. */
#include "runtime/data/measures.h"

#include "base/team.h"

#include <math.h>
#include <stdlib.h>

/* Partial sums of a product, and rows in a block. */
enum { PRODUCT_LANES = 8, RANKED_ROWS = 64 };

/* The product in f64, in one order for all rows, so that equal rows have equal products. */
static double vector_product(const float *a, const float *b, int64_t width)
{
    double sums[PRODUCT_LANES] = {0}, sum = 0;
    int64_t whole = width - width % PRODUCT_LANES;
    for (int64_t begin = 0; begin < whole; begin += PRODUCT_LANES)
        for (int64_t lane = 0; lane < PRODUCT_LANES; lane++)
            sums[lane] += (double)a[begin + lane] * (double)b[begin + lane];
    for (int64_t i = whole; i < width; i++)
        sums[i - whole] += (double)a[i] * (double)b[i];
    for (int64_t lane = 0; lane < PRODUCT_LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* RankedSets: the two sets, the product of each pair of partners, and the ranks. */
typedef struct RankedSets {
    const float *a, *b;
    int64_t n, width;
    double *own;
    int64_t *ranks_a, *ranks_b;
} RankedSets;

static int64_t block_end(const RankedSets *s, int64_t begin)
{
    return begin + RANKED_ROWS < s->n ? begin + RANKED_ROWS : s->n;
}

/* Compares rows of a with rows of b. `!(x < y)` holds for NaN, too. Rows of a are this thread's
 * own. */
static void rank_block(const RankedSets *s, int64_t first_a, int64_t first_b)
{
    int64_t found[RANKED_ROWS] = {0}; /* of each row of b */
    for (int64_t i = first_a; i < block_end(s, first_a); i++)
        for (int64_t j = first_b; j < block_end(s, first_b); j++) {
            if (i == j)
                continue;
            double product = vector_product(s->a + i * s->width, s->b + j * s->width, s->width);
            s->ranks_a[i] += !(product < s->own[i]);
            found[j - first_b] += !(product < s->own[j]);
        }
    for (int64_t j = first_b; j < block_end(s, first_b); j++)
        __atomic_fetch_add(&s->ranks_b[j], found[j - first_b], __ATOMIC_RELAXED);
}

/* Compares a block of a with all of b. */
static void rank_rows(const void *context, int64_t index)
{
    const RankedSets *s = context;
    for (int64_t j = 0; j < s->n; j += RANKED_ROWS)
        rank_block(s, index * RANKED_ROWS, j);
}

void retrieval_ranks(const float *a, const float *b, int64_t n, int64_t width, int threads,
                     int64_t *ranks_a, int64_t *ranks_b)
{
    const RankedSets s = {
        a, b, n, width, memory_resized(NULL, (size_t)n * sizeof(double)), ranks_a, ranks_b};
    for (int64_t i = 0; i < n; i++) {
        s.own[i] = vector_product(a + i * width, b + i * width, width);
        ranks_a[i] = ranks_b[i] = 1;
    }
    team_each(threads, (int32_t)((n + RANKED_ROWS - 1) / RANKED_ROWS), rank_rows, &s);
    for (int64_t i = 0; i < n; i++)
        if (isnan(s.own[i]))
            ranks_a[i] = ranks_b[i] = INT64_MAX;
    free(s.own);
}

double retrieval_recall(const int64_t *ranks, int64_t n, int64_t k)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found += ranks[i] <= k;
    return n ? (double)found / (double)n : NAN;
}
