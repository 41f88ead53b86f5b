/* Loops over rows: steps that are run for one chunk of rows after another.
 *
 *   0: #9[37000, 1] = #5 @ #0, m ΣT …         for each 256 of ΣT:
 *   1: … = row(#9) × ΣT                         0: #9 = #5 @ #0, m 256
 *   2: #9 = row(#9, …) × ΣT             ⇒       1: … = row(#9) × 256
 *   3: #7 = #5 @ #9, k ΣT                       2: #9 = row(#9, …) × 256
 *                                               3: #7 += #5 @ #9, k 256
 *
 * Pass chunk_rows says which ops belong together. Steps are made for them as for any
 * others; then it is checked, by what each step does to each buffer, that running
 * them by chunks computes the same. If not, they stay as they are. */
#include "codegen/plan/plan.h"

#include "codegen/body.h"

#include <assert.h>

/* A chunk has about CHUNK_ELEMENTS in a row's widest value. With fewer rows products
 * slow down, since each packs the whole of its other operand. */
enum { CHUNK_ELEMENTS = 1 << 23, FEWEST_ROWS = 256, MOST_ROWS = 1024, MOST_VIEWS = 32 };

/* How the rows of the loop lead a tensor. */
static Lead lead_of(const Plan *plan, const Type *type)
{
    return layout_lead(plan->module, type, plan->rows.symbol, plan->rows.batch);
}

/* ---- making ---- */

static void close_loop(Plan *plan)
{
    int32_t end = (int32_t)plan->steps.count;
    if (plan->rows.symbol == NO_SYMBOL)
        return;
    vec_last(plan->loops).end = end;
    if (vec_last(plan->loops).first == end)
        plan->loops.count--;
    plan->rows.symbol = NO_SYMBOL;
}

/* Leaves that the ops read are computed before, not once a chunk. */
static bool compute_leaves(Plan *plan, const Op *first)
{
    for (const Op *op = first; op && op_chunk(op) == plan->chunk; op = op->next)
        for (int i = 0; i < op->n_args; i++)
            if (op_chunk(op->args[i]->op) != plan->chunk && !view_of_value(plan, op->args[i]))
                return false;
    return true;
}

static int64_t const_extent(const Axis *axis)
{
    return dim_is_const(axis->extent) && axis->extent.size > 0 ? axis->extent.size : 1;
}

/* Rows between the leading axis and the columns count as rows, too. */
static int32_t chunk_rows(const Layout *layout)
{
    int64_t rows = CHUNK_ELEMENTS / const_extent(&layout->axes[layout->n - 1]) / 64 * 64;
    rows = rows < FEWEST_ROWS ? FEWEST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
    for (int i = 1; i + 1 < layout->n; i++)
        rows /= const_extent(&layout->axes[i]);
    return rows < 1 ? 1 : (int32_t)rows;
}

static bool open_loop(Plan *plan, Op *op)
{
    const Type *type = &op->results[0].type;
    Layout layout = layout_of(plan->module, type);
    if (!layout.n || dim_is_const(layout.axes[0].extent))
        return true;
    if (!compute_leaves(plan, op))
        return false;
    int symbol = layout.axes[0].extent.symbol;
    bool packed = layout_is_packed(&layout);
    TfcLoop loop = {.first = (int32_t)plan->steps.count,
                    .dim = plan->program_dim[symbol],
                    .quantity = packed ? TFC_TOTAL : TFC_EXTENT,
                    .chunk = chunk_rows(&layout)};
    plan->rows = (LoopRows){symbol, packed ? plan->module->symbols.data[symbol].batch : NO_SYMBOL,
                            axis_size(plan, &layout.axes[0])};
    vec_push(plan->arena, plan->loops, loop);
    return true;
}

bool loop_enter(Plan *plan, Op *op)
{
    int chunk = op ? op_chunk(op) : NO_CHUNK;
    if (chunk == plan->chunk)
        return true;
    close_loop(plan);
    plan->chunk = chunk;
    return chunk == NO_CHUNK || open_loop(plan, op);
}

/* ---- how a step goes through the rows ---- */

static const Type *view_type(const Op *op, int view)
{
    return view < op->n_args ? &op->args[view]->type : &op->results[view - op->n_args].type;
}

/* Sums over all rows and nothing else, of values that do not know how many there are. */
static bool sums_rows(const Plan *plan, const Body *body, const Signature *s)
{
    for (int i = 0; i < s->output.rank; i++) {
        int symbol = s->output.dims[i].symbol;
        if (symbol != NO_SYMBOL && (symbol == plan->rows.symbol || symbol == plan->rows.batch))
            return false;
    }
    for (int i = 0; i < body->n_ops; i++) {
        const Op *op = body->ops[i].op;
        if (body->ops[i].random >= 0 || op_attr(op, ATTR_dim) ||
            (op_family(op) == FAMILY_reduce && op->kind != OP_reduce_sum))
            return false;
    }
    for (int i = 0; i < body->n_results; i++)
        if (body->yields[i]->type.dtype != DT_F32 && body->yields[i]->type.dtype != DT_F64)
            return false;
    return true;
}

/* Bit i: the rows of view i are those of the space, and read or written there only.
 * False if a view has the rows, but other ones. */
static bool find_along(const Plan *plan, const Op *op, const Body *body, Lead space,
                       uint32_t *along)
{
    bool all = true;
    for (int v = 0; v < op->n_args + op->n_results; v++) {
        Lead lead = lead_of(plan, view_type(op, v));
        if (same_lead(lead, space) && (v >= op->n_args || body->input_aligned[v]))
            *along |= UINT32_C(1) << v;
        else
            all &= !lead.dim;
    }
    return all;
}

void loop_kernel(Plan *plan, const Op *op, const Signature *s, TfcStep *step)
{
    TfcSize units = plan->sizes.data[step->kernel.range];
    if (plan->rows.symbol == NO_SYMBOL || op_is_own_kernel(op) ||
        op->n_args + op->n_results > MOST_VIEWS)
        return;
    Body body = body_of(plan->arena, op);
    Lead space = lead_of(plan, &s->space);
    if (!space.dim)
        return;
    bool all = find_along(plan, op, &body, space, &step->kernel.along);
    if (s->range == RANGE_COLUMNS)
        step->rows = all && sums_rows(plan, &body, s) ? TFC_ROWS_SUM : TFC_ROWS_NONE;
    else
        step->rows = size_divide(units, plan->rows.size, &units) ? TFC_ROWS_UNITS : TFC_ROWS_NONE;
}

void loop_gemm(Plan *plan, const TfcSize *m, const TfcSize *n, const TfcSize *k, TfcStep *step)
{
    const TfcSize *sides[] = {m, n, k};
    static const TfcRows rows[] = {TFC_ROWS_M, TFC_ROWS_N, TFC_ROWS_K};
    int found = 0;
    for (int i = 0; plan->rows.symbol != NO_SYMBOL && i < 3; i++)
        if (sides[i] && size_equal(sides[i], &plan->rows.size)) {
            step->rows = rows[i];
            found++;
        }
    /* rounded sums cannot be summed up */
    if (found != 1 || (step->rows == TFC_ROWS_K && step->gemm.result == TFC_BF16))
        step->rows = TFC_ROWS_NONE;
}

/* ---- whether a loop is sound ---- */

/* What a step does to a buffer: row by row, with rows so far apart, or otherwise. */
typedef struct Access {
    int32_t buffer;
    bool written, along;
    TfcSizeRef stride;
} Access;

static int kernel_accesses(const TfcStep *step, Access *out)
{
    const TfcKernelStep *kernel = &step->kernel;
    for (int32_t v = 0; v < kernel->n_views; v++)
        out[v] = (Access){kernel->views[v].buffer, v >= kernel->n_views - kernel->n_results,
                          kernel->along >> v & 1, kernel->views[v].strides[0]};
    return kernel->n_views;
}

static int gemm_accesses(const TfcStep *step, Access *out)
{
    const TfcMatrix *a = &step->gemm.a, *b = &step->gemm.b, *c = &step->gemm.c;
    TfcRows rows = step->rows;
    out[0] = (Access){a->buffer, false, rows != TFC_ROWS_N,
                      rows == TFC_ROWS_K ? a->column_stride : a->row_stride};
    out[1] = (Access){b->buffer, false, rows != TFC_ROWS_M,
                      rows == TFC_ROWS_K ? b->row_stride : b->column_stride};
    out[2] = (Access){c->buffer, true, rows != TFC_ROWS_K,
                      rows == TFC_ROWS_N ? c->column_stride : c->row_stride};
    return 3;
}

static int accesses_of(const TfcStep *step, Access *out)
{
    return step->kind == TFC_STEP_KERNEL ? kernel_accesses(step, out) : gemm_accesses(step, out);
}

/* What all steps of a loop do to one buffer. */
typedef struct Touches {
    int n, written;
    bool along, summed;
} Touches;

static Touches touches_of(const Plan *plan, const TfcLoop *loop, TfcSize rows, int32_t buffer)
{
    Touches touches = {.along = true};
    TfcSize size = plan->sizes.data[plan->buffers.data[buffer].size];
    for (int32_t s = loop->first; s < loop->end; s++) {
        Access accesses[MOST_VIEWS];
        const TfcStep *step = &plan->steps.data[s];
        int n = accesses_of(step, accesses);
        for (int i = 0; i < n; i++) {
            if (accesses[i].buffer != buffer)
                continue;
            TfcSize reach = size_product(plan->sizes.data[accesses[i].stride], rows);
            touches.n++;
            touches.written += accesses[i].written;
            touches.along &= accesses[i].along && size_equal(&reach, &size);
            touches.summed |=
                accesses[i].written && (step->rows == TFC_ROWS_SUM || step->rows == TFC_ROWS_K);
        }
    }
    return touches;
}

static TfcSize rows_of(const TfcLoop *loop) { return size_dim(loop->dim, loop->quantity); }

/* Every buffer that the loop writes is gone through row by row by all that touch
 * it, or is one sum over the rows that nothing else in the loop touches. */
static bool is_sound(const Plan *plan, const TfcLoop *loop)
{
    for (int32_t s = loop->first; s < loop->end; s++)
        if (plan->steps.data[s].rows == TFC_ROWS_NONE)
            return false;
    for (int32_t b = 0; b < (int32_t)plan->buffers.count; b++) {
        Touches touches = touches_of(plan, loop, rows_of(loop), b);
        if (touches.written && !touches.along && !(touches.summed && touches.n == 1))
            return false;
    }
    return true;
}

/* A buffer that only the loop knows holds one chunk; what else it touches lives
 * throughout the loop. */
static void settle_buffers(Plan *plan, const TfcLoop *loop, int number)
{
    for (int32_t b = 0; b < (int32_t)plan->buffers.count; b++) {
        TfcBuffer *buffer = &plan->buffers.data[b];
        Touches touches = touches_of(plan, loop, rows_of(loop), b);
        bool inside = buffer->first >= loop->first && buffer->last < loop->end;
        if (!touches.n)
            continue;
        if (buffer->kind == TFC_BUFFER_SLAB && inside && touches.along) {
            buffer->loop = number + 1;
            continue;
        }
        if (buffer->first > loop->first)
            buffer->first = loop->first;
        if (buffer->last < loop->end - 1)
            buffer->last = loop->end - 1;
    }
}

void settle_loops(Plan *plan)
{
    size_t kept = 0;
    for (size_t l = 0; l < plan->loops.count; l++) {
        TfcLoop loop = plan->loops.data[l];
        bool sound = is_sound(plan, &loop);
        for (int32_t s = loop.first; !sound && s < loop.end; s++)
            plan->steps.data[s].rows = TFC_ROWS_NONE;
        if (!sound)
            continue;
        settle_buffers(plan, &loop, (int)kept);
        plan->loops.data[kept++] = loop;
    }
    plan->loops.count = kept;
}
