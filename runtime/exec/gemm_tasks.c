/* Cutting products into tasks by their shapes alone; see gemm_tasks.h. */
#include "runtime/exec/gemm_tasks.h"

#include <stdlib.h>

/* A task should be worth a fork and small enough to balance: small products are
 * grouped until they make GROUP_FLOPS, large ones cut into blocks of BLOCK_FLOPS or
 * more: FEW_BLOCKS with sides of SMALL_SIDE at least, or MAX_BLOCKS with sides of
 * LARGE_SIDE. Halves, which two threads share, may be as small as HALF_FLOPS. To read an element
 * takes about as long as READ_FLOPS. Of few rows or columns most of the work is that, and every
 * block reads a part of its own: nothing is read twice, however small the blocks are, and several
 * threads read faster than one. Those are READ_BLOCK_FLOPS or more. */
#define GROUP_FLOPS 2e6
#define BLOCK_FLOPS 16e6
#define HALF_FLOPS 4e6
#define READ_BLOCK_FLOPS 2e6
#define READ_FLOPS 16.0
enum {
    FEW_BLOCKS = 4,
    MAX_BLOCKS = 8,
    SIDE_ROUNDING = TFC_PANEL_COLUMNS,
    SMALL_SIDE = 128,
    LARGE_SIDE = 256
};

/* The shape of iteration `i`; when the sentence is a summed loop, its largest. */
static GemmShape iteration_product(const BoundGemm *bound, int64_t i)
{
    int64_t index[TFC_MAX_LOOPS] = {0};
    gemm_indices(bound, bound->free, bound->n_free, i, index);
    GemmShape largest = {0};
    int64_t sums = bound->n_sums ? bound->sum_iterations : 1;
    for (int64_t s = 0; s < sums; s++) {
        gemm_indices(bound, bound->sums, bound->n_sums, s, index);
        GemmShape p = gemm_shape_at(bound, index);
        largest.m = p.m > largest.m ? p.m : largest.m;
        largest.n = p.n > largest.n ? p.n : largest.n;
        largest.k = p.k > largest.k ? p.k : largest.k;
    }
    return largest;
}

static double work_of(GemmShape p)
{
    double m = (double)p.m, n = (double)p.n, k = (double)p.k;
    return 2 * m * n * k + READ_FLOPS * (m + n) * k;
}

bool gemm_room(BoundGemm *bound, int64_t n)
{
    if (n <= bound->capacity)
        return true;
    GemmTask *tasks = n <= INT32_MAX ? realloc(bound->tasks, sizeof *tasks * (size_t)n) : NULL;
    if (!tasks)
        return false;
    bound->tasks = tasks;
    bound->capacity = (int32_t)n;
    return true;
}

static bool add_task(BoundGemm *bound, GemmTask task)
{
    if (bound->n_tasks == bound->capacity &&
        !gemm_room(bound, bound->capacity ? 2 * (int64_t)bound->capacity : MAX_BLOCKS))
        return false;
    bound->tasks[bound->n_tasks++] = task;
    return true;
}

/* The least work of each of so many blocks of the product. */
static double least_block(GemmShape p, int blocks)
{
    bool reads = 2 * (double)(p.m < p.n ? p.m : p.n) <= READ_FLOPS;
    return reads ? READ_BLOCK_FLOPS : blocks <= 2 ? HALF_FLOPS : BLOCK_FLOPS;
}

/* The sides of the blocks that one large product is cut into: the longer one is halved
 * again and again. A block of m × n reads (m + n) k elements for m n k multiplications,
 * so it is to be large and square. */
static GemmShape block_of(GemmShape p, double flops)
{
    GemmShape block = p;
    for (int blocks = 2; blocks <= MAX_BLOCKS; blocks *= 2) {
        if (flops < blocks * least_block(p, blocks))
            break;
        int64_t *side = block.m >= block.n ? &block.m : &block.n;
        int64_t half = (*side / 2 + SIDE_ROUNDING - 1) / SIDE_ROUNDING * SIDE_ROUNDING;
        if (half < (blocks <= FEW_BLOCKS ? SMALL_SIDE : LARGE_SIDE))
            break;
        *side = half;
    }
    return block;
}

GemmShape gemm_block(GemmShape p) { return block_of(p, work_of(p)); }

static bool add_blocks(BoundGemm *bound, int64_t iteration, GemmShape p, double flops)
{
    GemmShape block = block_of(p, flops);
    for (int64_t m = 0; m < p.m; m += block.m)
        for (int64_t n = 0; n < p.n; n += block.n) {
            GemmTask task = {iteration, 1,
                             m,         m + block.m < p.m ? m + block.m : INT64_MAX,
                             n,         n + block.n < p.n ? n + block.n : INT64_MAX};
            if (!add_task(bound, task))
                return false;
        }
    return true;
}

bool gemm_cut(BoundGemm *bound)
{
    const TfcGemmStep *step = bound->step;
    bool uniform = step->m.kind == TFC_EXTENT_SIZE && step->n.kind == TFC_EXTENT_SIZE &&
                   step->k.kind == TFC_EXTENT_SIZE;
    for (int32_t l = 0; l < step->n_loops; l++)
        uniform &= step->loop_lengths[l] < 0;
    GemmShape p = {bound->m, bound->n, bound->k};
    GemmTask group = {0, 0, 0, INT64_MAX, 0, INT64_MAX};
    double grouped = 0;
    bound->n_tasks = 0;
    for (int64_t i = 0; i < bound->iterations; i++) {
        if (!uniform)
            p = iteration_product(bound, i);
        double flops = work_of(p) * (double)bound->sum_iterations;
        if (flops >= 2 * least_block(p, 2)) {
            if (group.count && !add_task(bound, group))
                return false;
            if (!add_blocks(bound, i, p, flops))
                return false;
            group.first = i + 1;
            group.count = 0;
            grouped = 0;
            continue;
        }
        group.count++;
        grouped += flops;
        if (grouped >= GROUP_FLOPS) {
            if (!add_task(bound, group))
                return false;
            group.first = i + 1;
            group.count = 0;
            grouped = 0;
        }
    }
    return !group.count || add_task(bound, group);
}
