/* Binding products to a shape, and running them; see gemm.h. */
#include "runtime/exec/gemm.h"

#include "runtime/exec/choice.h"
#include "runtime/exec/gemm_tasks.h"
#include "runtime/exec/per_thread.h"
#include "runtime/exec/size.h"
#include "runtime/product/product_pack.h"

#include <assert.h>
#include <stdlib.h>

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
    case TFC_ROWS_NONE:
    case TFC_ROWS_UNITS:
    case TFC_ROWS_SUM: break;
    }
}

bool gemm_bind_rows(BoundGemm *bound, const TfcGemmStep *step, const TfcGrouping *grouping,
                    TfcRows are, int64_t rows, const int64_t *sizes, const TfcDim *dims,
                    const TfcProducts *products, const TfcChoice *choice)
{
    bound->grouping = grouping;
    bound->products = products;
    bound->choice = choice;
    bound->step = step;
    bound->rows = are;
    bound->accumulate = step->accumulate;
    bound->dims = dims;
    bind_matrix(&bound->a, &step->a, step->n_loops, sizes);
    bind_matrix(&bound->b, &step->b, step->n_loops, sizes);
    bind_matrix(&bound->c, &step->c, step->n_loops, sizes);
    bound->m = sizes[step->m.size];
    bound->n = sizes[step->n.size];
    bound->k = sizes[step->k.size];
    gemm_move(bound, 0, rows);
    bind_loops(bound, sizes);
    return grouping ? grouped_bind(bound) : gemm_cut(bound);
}

bool gemm_bind(BoundGemm *bound, const TfcGemmStep *step, const int64_t *sizes, const TfcDim *dims,
               const TfcProducts *products, const TfcChoice *choice)
{
    return gemm_bind_rows(bound, step, NULL, TFC_ROWS_NONE, 0, sizes, dims, products, choice);
}

/* A matrix for one product: element (i, j) at data + i × row_stride + j × column_stride. */
typedef struct Operand {
    void *data;
    int64_t row_stride, column_stride;
} Operand;

static Operand operand_at(const BoundGemm *bound, const GemmMatrix *matrix, void *const *buffers,
                          const int64_t index[TFC_MAX_LOOPS], int64_t row, int64_t column)
{
    int64_t at = gemm_origin(bound, matrix, index) + row * matrix->row_stride +
                 column * matrix->column_stride;
    TfcType type = matrix == &bound->c ? bound->step->result : bound->step->type;
    return (Operand){(char *)buffers[matrix->buffer] + at * type_bytes(type), matrix->row_stride,
                     matrix->column_stride};
}

static Operand transposed(Operand x) { return (Operand){x.data, x.column_stride, x.row_stride}; }

/* The form that multiplies, or NULL: OpenBLAS does. */
static const TfcForm *form_for(const BoundGemm *bound, GemmShape p)
{
    TfcProductType product = bound->step->product;
    const TfcForm *native = bound->products->native[product];
    bool blas = (int)product < TFC_BLAS_TYPES && bound->products->blas[product];
    assert(blas || native);
    return blas && native && choice_is_blas(bound->choice, bound->step->type, p.m, p.n, p.k)
               ? NULL
               : native;
}

/* Where the panels of the matrix b of these indices begin: those of each iteration of the loops
 * along which b moves lie one after another. */
static void *panels_at(const BoundGemm *bound, const TfcForm *form,
                       const int64_t index[TFC_MAX_LOOPS], void *const *buffers)
{
    const TfcGemmStep *step = bound->step;
    int64_t matrix = 0, blocks = (bound->n + TFC_PANEL_COLUMNS - 1) / TFC_PANEL_COLUMNS;
    for (int32_t l = 0; l < step->n_loops; l++)
        if (step->b.loop_strides[l] != TFC_SIZE_ZERO)
            matrix = matrix * bound->loops[l] + index[l];
    return (char *)buffers[step->panels - 1] +
           matrix * blocks * TFC_PANEL_COLUMNS * pack_kept_bytes(&form->sizes, bound->k);
}

/* b as it was packed, if that is there; or NULL. */
static const void *packed_operand(const BoundGemm *bound, GemmShape p, int64_t begin,
                                  const int64_t index[TFC_MAX_LOOPS], void *const *buffers)
{
    const TfcForm *form = form_for(bound, p);
    if (!bound->step->panels || !form || begin % TFC_PANEL_COLUMNS)
        return NULL;
    return panels_at(bound, form, index, buffers);
}

static void multiply(const BoundGemm *bound, TfcProduct p)
{
    const TfcForm *form = form_for(bound, (GemmShape){p.m, p.n, p.k});
    p.store = bound->step->result == TFC_BF16 ? TFC_STORE_ROUNDED
              : bound->accumulate             ? TFC_STORE_ADD
                                              : TFC_STORE_OVERWRITE;
    if (form)
        product_run(form, &p, workspace_here());
    else
        bound->products->blas[bound->step->product](&p);
}

/* c = a b; or, where c's columns are contiguous, c' = b' a'. */
static TfcProduct product_of(GemmShape p, Operand a, Operand b, Operand c)
{
    if (c.column_stride != 1 && p.n > 1) {
        assert(c.row_stride == 1 || p.m <= 1);
        return product_of((GemmShape){p.n, p.m, p.k}, transposed(b), transposed(a), transposed(c));
    }
    /* clang-format off */
    return (TfcProduct){.m = p.m, .n = p.n, .k = p.k,
                        .a = a.data, .a_row = a.row_stride, .a_column = a.column_stride,
                        .b = b.data, .b_row = b.row_stride, .b_column = b.column_stride,
                        .c = c.data, .c_row = c.row_stride};
    /* clang-format on */
}

typedef struct GemmRun {
    const BoundGemm *bound;
    const BoundKernel *epilogue; /* or NULL */
    void *const *buffers;
} GemmRun;

/* c's rows are storage rows, each of them row_stride long. */
static int64_t storage_row(const BoundGemm *bound, const int64_t index[TFC_MAX_LOOPS], int64_t row)
{
    return gemm_origin(bound, &bound->c, index) / bound->c.row_stride + row;
}

/* KernelEpilogue: the kernel of a product's epilogue. Its units are c's rows, which begin at unit
 * `row`; its columns are c's, which begin at `column`. */
typedef struct KernelEpilogue {
    TfcKernel kernel;
    TfcKernelArgs args; /* the columns are set for each part */
    int64_t row, column;
} KernelEpilogue;

static void run_epilogue(void *of, TfcPart part)
{
    KernelEpilogue *e = of;
    e->args.column_begin = e->column + part.column;
    e->args.column_end = e->column + part.column_end;
    e->kernel(&e->args, e->row + part.row, e->row + part.row_end);
}

static void run_product(const GemmRun *run, const GemmTask *task,
                        const int64_t index[TFC_MAX_LOOPS])
{
    const BoundGemm *bound = run->bound;
    GemmShape p = gemm_shape_at(bound, index);
    int64_t m_end = task->m_end < p.m ? task->m_end : p.m, m = m_end - task->m_begin;
    int64_t n_end = task->n_end < p.n ? task->n_end : p.n, n = n_end - task->n_begin;
    if (m <= 0 || n <= 0)
        return;
    Operand a = operand_at(bound, &bound->a, run->buffers, index, task->m_begin, 0);
    const void *panels =
        packed_operand(bound, (GemmShape){m, n, p.k}, task->n_begin, index, run->buffers);
    Operand b = {NULL, bound->b.row_stride,
                 bound->b.column_stride}; /* not read beside its panels */
    if (!panels)
        b = operand_at(bound, &bound->b, run->buffers, index, 0, task->n_begin);
    Operand c = operand_at(bound, &bound->c, run->buffers, index, task->m_begin, task->n_begin);
    TfcProduct product = product_of((GemmShape){m, n, p.k}, a, b, c);
    product.panels = panels;
    product.column = task->n_begin;
    assert(!panels || product.b == b.data);
    if (!run->epilogue) {
        multiply(bound, product);
        return;
    }
    KernelEpilogue kernel = {run->epilogue->call, run->epilogue->args,
                             storage_row(bound, index, task->m_begin), task->n_begin};
    product.epilogue = &(TfcEpilogue){run_epilogue, &kernel};
    multiply(bound, product);
}

static void run_task(const GemmRun *run, const GemmTask *task)
{
    const BoundGemm *bound = run->bound;
    int64_t index[TFC_MAX_LOOPS] = {0};
    for (int64_t i = task->first; i < task->first + task->count; i++) {
        gemm_indices(bound, bound->free, bound->n_free, i, index);
        for (int64_t s = 0; s < bound->sum_iterations; s++) {
            gemm_indices(bound, bound->sums, bound->n_sums, s, index);
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
    if (bound->grouping)
        grouped_run(bound, buffers, team);
    else
        team_run(team, bound->n_tasks, run_numbered, &(GemmRun){bound, epilogue, buffers});
}

enum { PACK_COLUMNS = 4 * TFC_PANEL_COLUMNS }; /* a task */

/* Of one matrix. */
static int64_t pack_tasks(const BoundGemm *bound)
{
    return (bound->n + PACK_COLUMNS - 1) / PACK_COLUMNS;
}

static void pack_some_columns(const void *context, int64_t task)
{
    const GemmRun *run = context;
    const BoundGemm *bound = run->bound;
    const TfcForm *form = bound->products->native[bound->step->product];
    const int64_t tasks = pack_tasks(bound), begin = task % tasks * PACK_COLUMNS;
    const int64_t end = begin + PACK_COLUMNS;
    int64_t index[TFC_MAX_LOOPS] = {0};
    gemm_indices(bound, bound->free, bound->n_free, task / tasks, index);
    Operand b = operand_at(bound, &bound->b, run->buffers, index, 0, 0);
    product_pack(form, bound->k, begin, end < bound->n ? end : bound->n, b.data, b.row_stride,
                 b.column_stride, panels_at(bound, form, index, run->buffers));
}

int64_t gemm_pack_tasks(const BoundGemm *bound)
{
    bool native = bound->products->native[bound->step->product];
    return native ? bound->iterations * pack_tasks(bound) : 0;
}

void gemm_pack_run(const BoundGemm *bound, void *const *buffers, Team *team)
{
    team_run(team, (int32_t)gemm_pack_tasks(bound), pack_some_columns,
             &(GemmRun){bound, NULL, buffers});
}

GemmCost gemm_cost(const BoundGemm *bound)
{
    GemmCost cost = {0};
    int64_t index[TFC_MAX_LOOPS] = {0};
    for (int64_t i = 0; i < bound->iterations; i++) {
        gemm_indices(bound, bound->free, bound->n_free, i, index);
        for (int64_t s = 0; s < bound->sum_iterations; s++) {
            gemm_indices(bound, bound->sums, bound->n_sums, s, index);
            GemmShape p = gemm_shape_at(bound, index);
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
    if (bound->grouping) {
        cost.products = bound->grouping->n_groups;
        cost.elements[bound->grouping->kind == TFC_GROUPS_ROWS ? 1 : 2] *= (double)cost.products;
    }
    return cost;
}

void gemm_release(BoundGemm *bound)
{
    free(bound->tasks);
    free(bound->sorted);
    *bound = (BoundGemm){0};
}
