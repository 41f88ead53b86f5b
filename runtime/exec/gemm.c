/* Cutting products into tasks; see gemm.h. */
#include "runtime/exec/gemm.h"

#include "runtime/exec/choice.h"
#include "runtime/exec/size.h"
#include "runtime/exec/workspace.h"

#include <assert.h>
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
enum { PACK_COLUMNS = 4 * TFC_PANEL_COLUMNS }; /* a task */
enum { FEW_BLOCKS = 4, MAX_BLOCKS = 8, BLOCK_ROUNDING = 64, SMALL_SIDE = 128, LARGE_SIDE = 256 };

static void bind_matrix(GemmMatrix *out, const TfcMatrix *matrix, int32_t n_loops,
                        const int64_t *sizes)
{
    out->buffer = matrix->buffer;
    out->ragged_dim = matrix->ragged_dim;
    out->offset = matrix->offset;
    out->ragged_stride = sizes[matrix->ragged_stride];
    out->row_stride = sizes[matrix->row_stride];
    out->column_stride = sizes[matrix->column_stride];
    for (int32_t l = 0; l < n_loops; l++)
        out->loop_strides[l] = sizes[matrix->loop_strides[l]];
}

/* A loop adds up if c stays where it is. Decided by the form of the stride, not by
 * its value, which may be zero because some dimension is empty. */
static bool loop_adds_up(const TfcGemmStep *step, int32_t loop)
{
    return step->c.loop_strides[loop] == TFC_SIZE_ZERO &&
           !(loop == step->batch_loop && step->c.ragged_dim >= 0);
}

static void bind_loops(BoundGemm *bound, const int64_t *sizes)
{
    const TfcGemmStep *step = bound->step;
    bound->n_free = bound->n_sums = 0;
    bound->iterations = bound->sum_iterations = 1;
    for (int32_t l = 0; l < step->n_loops; l++) {
        bound->loops[l] = sizes[step->loops[l]];
        if (loop_adds_up(step, l)) {
            bound->sums[bound->n_sums++] = l;
            bound->sum_iterations *= bound->loops[l];
        } else {
            bound->free[bound->n_free++] = l;
            bound->iterations *= bound->loops[l];
        }
    }
    assert(!bound->n_sums || step->accumulate);
}

static void decode(const BoundGemm *bound, const int32_t *loops, int32_t n, int64_t iteration,
                   int64_t index[TFC_MAX_LOOPS])
{
    for (int32_t i = n - 1; i >= 0; i--) {
        int64_t extent = bound->loops[loops[i]];
        index[loops[i]] = iteration % extent;
        iteration /= extent;
    }
}

static int64_t extent_at(const TfcExtent *extent, int64_t size, const TfcDim *dims, int64_t sentence)
{
    return extent->kind == TFC_EXTENT_LENGTH ? dims[extent->dim].length[sentence] : size;
}

typedef struct Product {
    int64_t m, n, k;
} Product;

/* Nothing (m = 0) where a loop has passed the end of the sentence. */
static Product product_at(const BoundGemm *bound, const int64_t index[TFC_MAX_LOOPS])
{
    const TfcGemmStep *step = bound->step;
    int64_t sentence = step->batch_loop >= 0 ? index[step->batch_loop] : 0;
    for (int32_t l = 0; l < step->n_loops; l++)
        if (step->loop_lengths[l] >= 0 && index[l] >= bound->dims[step->loop_lengths[l]].length[sentence])
            return (Product){0, 0, 0};
    return (Product){extent_at(&step->m, bound->m, bound->dims, sentence),
                     extent_at(&step->n, bound->n, bound->dims, sentence),
                     extent_at(&step->k, bound->k, bound->dims, sentence)};
}

/* The shape of iteration `i`; when the sentence is a summed loop, its largest. */
static Product iteration_product(const BoundGemm *bound, int64_t i)
{
    int64_t index[TFC_MAX_LOOPS] = {0};
    decode(bound, bound->free, bound->n_free, i, index);
    Product largest = {0};
    int64_t sums = bound->n_sums ? bound->sum_iterations : 1;
    for (int64_t s = 0; s < sums; s++) {
        decode(bound, bound->sums, bound->n_sums, s, index);
        Product p = product_at(bound, index);
        largest.m = p.m > largest.m ? p.m : largest.m;
        largest.n = p.n > largest.n ? p.n : largest.n;
        largest.k = p.k > largest.k ? p.k : largest.k;
    }
    return largest;
}

static double work_of(Product p)
{
    double m = (double)p.m, n = (double)p.n, k = (double)p.k;
    return 2 * m * n * k + READ_FLOPS * (m + n) * k;
}

static bool add_task(BoundGemm *bound, GemmTask task)
{
    if (bound->n_tasks == bound->capacity) {
        int32_t capacity = bound->capacity ? bound->capacity * 2 : MAX_BLOCKS;
        GemmTask *tasks = realloc(bound->tasks, sizeof *tasks * (size_t)capacity);
        if (!tasks)
            return false;
        bound->tasks = tasks;
        bound->capacity = capacity;
    }
    bound->tasks[bound->n_tasks++] = task;
    return true;
}

/* The least work of each of so many blocks of the product. */
static double least_block(Product p, int blocks)
{
    bool reads = 2 * (double)(p.m < p.n ? p.m : p.n) <= READ_FLOPS;
    return reads ? READ_BLOCK_FLOPS : blocks <= 2 ? HALF_FLOPS : BLOCK_FLOPS;
}

/* The sides of the blocks that one large product is cut into: the longer one is halved
 * again and again. A block of m × n reads (m + n) k elements for m n k multiplications,
 * so it is to be large and square. */
static Product block_of(Product p, double flops)
{
    Product block = p;
    for (int blocks = 2; blocks <= MAX_BLOCKS; blocks *= 2) {
        if (flops < blocks * least_block(p, blocks))
            break;
        int64_t *side = block.m >= block.n ? &block.m : &block.n;
        int64_t half = (*side / 2 + BLOCK_ROUNDING - 1) / BLOCK_ROUNDING * BLOCK_ROUNDING;
        if (half < (blocks <= FEW_BLOCKS ? SMALL_SIDE : LARGE_SIDE))
            break;
        *side = half;
    }
    return block;
}

static bool add_blocks(BoundGemm *bound, int64_t iteration, Product p, double flops)
{
    Product block = block_of(p, flops);
    for (int64_t m = 0; m < p.m; m += block.m)
        for (int64_t n = 0; n < p.n; n += block.n) {
            GemmTask task = {iteration, 1, m, m + block.m < p.m ? m + block.m : INT64_MAX,
                             n, n + block.n < p.n ? n + block.n : INT64_MAX};
            if (!add_task(bound, task))
                return false;
        }
    return true;
}

static bool cut_tasks(BoundGemm *bound)
{
    const TfcGemmStep *step = bound->step;
    bool uniform = step->m.kind == TFC_EXTENT_SIZE && step->n.kind == TFC_EXTENT_SIZE &&
                   step->k.kind == TFC_EXTENT_SIZE;
    for (int32_t l = 0; l < step->n_loops; l++)
        uniform &= step->loop_lengths[l] < 0;
    Product p = {bound->m, bound->n, bound->k};
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

void gemm_move(BoundGemm *bound, int64_t begin, int64_t rows)
{
    const TfcGemmStep *step = bound->step;
    switch (bound->rows) {
    case TFC_ROWS_M:
        bound->m = rows;
        bound->a.offset = step->a.offset + begin * bound->a.row_stride;
        bound->c.offset = step->c.offset + begin * bound->c.row_stride;
        break;
    case TFC_ROWS_N:
        bound->n = rows;
        bound->b.offset = step->b.offset + begin * bound->b.column_stride;
        bound->c.offset = step->c.offset + begin * bound->c.column_stride;
        break;
    case TFC_ROWS_K:
        bound->k = rows;
        bound->a.offset = step->a.offset + begin * bound->a.column_stride;
        bound->b.offset = step->b.offset + begin * bound->b.row_stride;
        bound->accumulate = step->accumulate || begin > 0;
        break;
    case TFC_ROWS_NONE: case TFC_ROWS_UNITS: case TFC_ROWS_SUM: break;
    }
}

bool gemm_bind_rows(BoundGemm *bound, const TfcGemmStep *step, TfcRows are, int64_t rows,
                    const int64_t *sizes, const TfcDim *dims, const TfcProducts *products,
                    const TfcChoice *choice)
{
    bound->products = products;
    bound->choice = choice;
    bound->step = step;
    bound->rows = are;
    bound->accumulate = step->accumulate;
    bound->dims = dims;
    bind_matrix(&bound->a, &step->a, step->n_loops, sizes);
    bind_matrix(&bound->b, &step->b, step->n_loops, sizes);
    bind_matrix(&bound->c, &step->c, step->n_loops, sizes);
    bound->m = step->m.kind == TFC_EXTENT_SIZE ? sizes[step->m.size] : 0;
    bound->n = step->n.kind == TFC_EXTENT_SIZE ? sizes[step->n.size] : 0;
    bound->k = step->k.kind == TFC_EXTENT_SIZE ? sizes[step->k.size] : 0;
    gemm_move(bound, 0, rows);
    bind_loops(bound, sizes);
    return cut_tasks(bound);
}

bool gemm_bind(BoundGemm *bound, const TfcGemmStep *step, const int64_t *sizes,
               const TfcDim *dims, const TfcProducts *products, const TfcChoice *choice)
{
    return gemm_bind_rows(bound, step, TFC_ROWS_NONE, 0, sizes, dims, products, choice);
}

/* Where element (0, 0) of the matrix is at these loop indices. */
static int64_t matrix_origin(const BoundGemm *bound, const GemmMatrix *matrix,
                             const int64_t index[TFC_MAX_LOOPS])
{
    int64_t at = matrix->offset;
    for (int32_t l = 0; l < bound->step->n_loops; l++)
        at += index[l] * matrix->loop_strides[l];
    if (matrix->ragged_dim >= 0)
        at += bound->dims[matrix->ragged_dim].offset[index[bound->step->batch_loop]] *
              matrix->ragged_stride;
    return at;
}

/* A matrix for one product: element (i, j) at data + i × row_stride + j × column_stride. */
typedef struct Operand {
    void *data;
    int64_t row_stride, column_stride;
} Operand;

static Operand operand_at(const BoundGemm *bound, const GemmMatrix *matrix, void *const *buffers,
                          const int64_t index[TFC_MAX_LOOPS], int64_t row, int64_t column)
{
    int64_t at = matrix_origin(bound, matrix, index) + row * matrix->row_stride +
                 column * matrix->column_stride;
    TfcType type = matrix == &bound->c ? bound->step->result : bound->step->type;
    return (Operand){(char *)buffers[matrix->buffer] + at * type_bytes(type),
                     matrix->row_stride, matrix->column_stride};
}

static Operand transposed(Operand x)
{
    return (Operand){x.data, x.column_stride, x.row_stride};
}

/* The form that multiplies, or NULL: OpenBLAS does. */
static const TfcForm *form_for(const BoundGemm *bound, Product p)
{
    TfcType type = bound->step->type;
    const TfcForm *native = bound->products->native[type];
    bool blas = (int)type < TFC_BLAS_TYPES && bound->products->blas[type];
    assert(blas || native);
    return blas && native && choice_is_blas(bound->choice, type, p.m, p.n, p.k) ? NULL : native;
}

/* b as it was packed, if that is there and faster; or NULL. */
static const void *packed_operand(const BoundGemm *bound, Product p, int64_t begin,
                                  void *const *buffers)
{
    const TfcGemmStep *step = bound->step;
    bool there = step->panels && bound->products->native[step->type];
    if (!there || p.m > TFC_PANELS_TO || begin % TFC_PANEL_COLUMNS ||
        !form_for(bound, p))
        return NULL;
    return buffers[step->panels - 1];
}

static void multiply(const BoundGemm *bound, TfcProduct p)
{
    const TfcForm *form = form_for(bound, (Product){p.m, p.n, p.k});
    p.store = bound->step->result == TFC_BF16 ? TFC_STORE_ROUNDED
              : bound->accumulate             ? TFC_STORE_ADD
                                              : TFC_STORE_OVER;
    if (form)
        product_run(form, &p, workspace_here());
    else
        bound->products->blas[bound->step->type](&p);
}

/* c = a b; or, where c's columns are contiguous, c' = b' a'. */
static TfcProduct product_of(Product p, Operand a, Operand b, Operand c)
{
    if (c.column_stride != 1 && p.n > 1) {
        assert(c.row_stride == 1 || p.m <= 1);
        return product_of((Product){p.n, p.m, p.k}, transposed(b), transposed(a), transposed(c));
    }
    return (TfcProduct){.m = p.m, .n = p.n, .k = p.k,
                        .a = a.data, .a_row = a.row_stride, .a_column = a.column_stride,
                        .b = b.data, .b_row = b.row_stride, .b_column = b.column_stride,
                        .c = c.data, .c_row = c.row_stride};
}

typedef struct GemmRun {
    const BoundGemm *bound;
    const BoundKernel *epilogue; /* or NULL */
    void *const *buffers;
} GemmRun;

/* c's rows are storage rows, each of them row_stride long. */
static int64_t storage_row(const BoundGemm *bound, const int64_t index[TFC_MAX_LOOPS], int64_t row)
{
    return matrix_origin(bound, &bound->c, index) / bound->c.row_stride + row;
}

static void run_product(const GemmRun *run, const GemmTask *task, const int64_t index[TFC_MAX_LOOPS])
{
    const BoundGemm *bound = run->bound;
    Product p = product_at(bound, index);
    int64_t m_end = task->m_end < p.m ? task->m_end : p.m, m = m_end - task->m_begin;
    int64_t n_end = task->n_end < p.n ? task->n_end : p.n, n = n_end - task->n_begin;
    if (m <= 0 || n <= 0)
        return;
    Operand a = operand_at(bound, &bound->a, run->buffers, index, task->m_begin, 0);
    Operand b = operand_at(bound, &bound->b, run->buffers, index, 0, task->n_begin);
    Operand c = operand_at(bound, &bound->c, run->buffers, index, task->m_begin, task->n_begin);
    TfcProduct product = product_of((Product){m, n, p.k}, a, b, c);
    product.panels = packed_operand(bound, (Product){m, n, p.k}, task->n_begin, run->buffers);
    product.column = task->n_begin;
    assert(!product.panels || product.b == b.data);
    if (!run->epilogue) {
        multiply(bound, product);
        return;
    }
    TfcKernelArgs args = run->epilogue->args;
    int64_t row = storage_row(bound, index, task->m_begin);
    product.epilogue = &(TfcEpilogue){run->epilogue->call, &args, row, task->n_begin};
    multiply(bound, product);
}

static void run_task(const GemmRun *run, const GemmTask *task)
{
    const BoundGemm *bound = run->bound;
    int64_t index[TFC_MAX_LOOPS] = {0};
    for (int64_t i = task->first; i < task->first + task->count; i++) {
        decode(bound, bound->free, bound->n_free, i, index);
        for (int64_t s = 0; s < bound->sum_iterations; s++) {
            decode(bound, bound->sums, bound->n_sums, s, index);
            run_product(run, task, index);
        }
    }
}

static void run_numbered(const void *context, int64_t t)
{
    const GemmRun *run = context;
    run_task(run, &run->bound->tasks[t]);
}

void gemm_run(const BoundGemm *bound, const BoundKernel *epilogue, void *const *buffers, Team *team)
{
    team_run(team, bound->n_tasks, run_numbered, &(GemmRun){bound, epilogue, buffers});
}

static void pack_columns(const void *context, int64_t task)
{
    const GemmRun *run = context;
    const BoundGemm *bound = run->bound;
    const int64_t index[TFC_MAX_LOOPS] = {0};
    int64_t begin = task * PACK_COLUMNS, end = begin + PACK_COLUMNS;
    Operand b = operand_at(bound, &bound->b, run->buffers, index, 0, 0);
    product_pack(bound->products->native[bound->step->type], bound->k, begin,
                 end < bound->n ? end : bound->n, b.data, b.row_stride, b.column_stride,
                 run->buffers[bound->step->panels - 1]);
}

int64_t gemm_pack_tasks(const BoundGemm *bound)
{
    bool native = bound->products->native[bound->step->type];
    return native ? (bound->n + PACK_COLUMNS - 1) / PACK_COLUMNS : 0;
}

void gemm_pack_run(const BoundGemm *bound, void *const *buffers, Team *team)
{
    team_run(team, (int32_t)gemm_pack_tasks(bound), pack_columns,
             &(GemmRun){bound, NULL, buffers});
}

GemmCost gemm_cost(const BoundGemm *bound)
{
    GemmCost cost = {0};
    int64_t index[TFC_MAX_LOOPS] = {0};
    for (int64_t i = 0; i < bound->iterations; i++) {
        decode(bound, bound->free, bound->n_free, i, index);
        for (int64_t s = 0; s < bound->sum_iterations; s++) {
            decode(bound, bound->sums, bound->n_sums, s, index);
            Product p = product_at(bound, index);
            double m = (double)p.m, n = (double)p.n, k = (double)p.k;
            cost.m = p.m > cost.m ? p.m : cost.m;
            cost.n = p.n > cost.n ? p.n : cost.n;
            cost.k = p.k > cost.k ? p.k : cost.k;
            cost.products += p.m > 0 && p.n > 0;
            cost.flops += 2 * m * n * k;
            cost.elements[0] += m * k;
            cost.elements[1] += k * n;
            cost.elements[2] += m * n;
        }
    }
    return cost;
}

void gemm_release(BoundGemm *bound)
{
    free(bound->tasks);
    *bound = (BoundGemm){0};
}
