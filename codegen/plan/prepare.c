/* Steps that depend on nothing but params that the program leaves as they are: they make weights
 * that lie side by side for one product, weights as bf16, or panels (panels.c). They come first,
 * and the executor runs them again only when the params have changed (TfcProgram.n_prepared):
 *
 *   0: #5 = row(#1) …      ; a         prepared
 *   1: #6 = row(#0) …      ; x    ⇒      0: #5 = row(#1) …      ; a
 *   2: #7 = #6 @ #5                    1: #6 = row(#0) …        ; x
 *                                      2: #7 = #6 @ #5
 *
 * A program that trains changes its params at every run. It has only those of these steps whose
 * results it then renews itself for the next run (op keep): the step that updates a weight also
 * gives it rounded to bf16. */
#include "codegen/plan/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_cache(const Plan *plan, const TfcBuffer *buffer)
{
    const TfcShape *shape = &plan->tensors.data[buffer->index].shape;
    return shape->rank > 0 && shape->dims[0].dim >= 0;
}

typedef struct Constants {
    const Plan *plan;
    bool *buffer, *step; /* whether it depends on params alone */
    bool *read;          /* of each buffer: a step before this one reads it that varies */
    bool here;           /* what is found of one step */
    bool again;          /* a buffer was found to vary: steps seen before may read or write it */
} Constants;

static void find_trained(void *data, int32_t buffer, bool written)
{
    Plan *plan = data;
    const TfcBuffer *b = &plan->buffers.data[buffer];
    plan->trains |= written && b->kind == TFC_BUFFER_TENSOR && !is_cache(plan, b);
}

/* What works in place stays behind those that read what was there. */
static void find_varying(void *data, int32_t buffer, bool written)
{
    Constants *c = data;
    c->here &= c->buffer[buffer] && !(written && c->read[buffer]);
}

static void mark_varying(void *data, int32_t buffer, bool written)
{
    Constants *c = data;
    if (!written) {
        c->read[buffer] = true;
        return;
    }
    c->again |= c->buffer[buffer];
    c->buffer[buffer] = false;
}

/* Marks the steps that could come before all others, as far as their kinds go: none of a loop. */
static void find_preparable(const Plan *plan, bool *step)
{
    for (size_t s = 0; s < plan->steps.count; s++) {
        const TfcKernelStep *kernel = &plan->steps.data[s].kernel;
        const TfcStepKind kind = plan->steps.data[s].kind;
        step[s] = kind == TFC_STEP_KERNEL ? !kernel->n_dims && !kernel->n_ints && !kernel->epilogue
                                          : kind != TFC_STEP_GEMM; /* of two weights: never seen */
    }
    for (size_t l = 0; l < plan->loops.count; l++)
        for (int32_t s = plan->loops.data[l].first; s < plan->loops.data[l].end; s++)
            step[s] = false;
}

/* Steps that read or write what varies vary, and so does what they write: a later step that
 * works in place makes the earlier one vary that filled its buffer. */
static void find_constants(Plan *plan, Constants *c)
{
    for (size_t b = 0; b < plan->buffers.count; b++) {
        const TfcBuffer *buffer = &plan->buffers.data[b];
        bool varies = buffer->kind == TFC_BUFFER_INPUT ||
                      plan->sizes.data[buffer->size].n_factors > 0 ||
                      (buffer->kind == TFC_BUFFER_TENSOR && is_cache(plan, buffer));
        c->buffer[b] = !varies;
    }
    find_preparable(plan, c->step);
    for (c->again = true; c->again;) {
        c->again = false;
        memset(c->read, 0, sizeof *c->read * plan->buffers.count);
        for (size_t s = 0; s < plan->steps.count; s++) {
            c->here = c->step[s];
            step_buffers(plan, &plan->steps.data[s], find_varying, c);
            c->step[s] = c->here;
            if (!c->here)
                step_buffers(plan, &plan->steps.data[s], mark_varying, c);
        }
    }
}

static void find_made(void *data, int32_t buffer, bool written)
{
    Constants *c = data;
    TfcBufferKind kind = c->plan->buffers.data[buffer].kind;
    c->here &= kind == (written ? TFC_BUFFER_KEPT : TFC_BUFFER_TENSOR);
}

/* Steps from params to what the program renews itself. */
static void find_renewed(Plan *plan, Constants *c)
{
    find_preparable(plan, c->step);
    for (size_t s = 0; s < plan->steps.count; s++) {
        const Op *op = plan->origins.data[s];
        c->here = c->step[s];
        for (int r = 0; r < op->n_results; r++)
            c->here &= placement(plan, &op->results[r])->kept;
        step_buffers(plan, &plan->steps.data[s], find_made, c);
        c->step[s] = c->here && op->n_results > 0;
    }
}

/* ---- order ---- */

typedef struct Order {
    Plan *plan;
    const bool *constant;
    int32_t *maker; /* of each buffer: the constant step that writes it, or -1 */
    int32_t *moved; /* where each step stands now, or -1 */
    size_t n;       /* steps so far */
    int32_t step;
    bool is_fixed; /* a buffer is written twice: constant steps keep their order */
} Order;

static void find_maker(void *data, int32_t buffer, bool written)
{
    Order *order = data;
    if (!written)
        return;
    order->is_fixed |= order->maker[buffer] >= 0;
    order->maker[buffer] = order->step;
}

static void put_step(Order *order, size_t s)
{
    order->moved[s] = (int32_t)order->n++;
    order->plan->n_prepared += order->constant[s];
}

static void find_need(void *data, int32_t buffer, bool written)
{
    Order *order = data;
    int32_t maker = order->maker[buffer];
    if (maker >= 0 && order->is_fixed && order->plan->steps.data[maker].kind != TFC_STEP_PACK)
        maker = -1;
    if (!written && maker >= 0 && order->moved[maker] < 0)
        order->step = maker;
}

/* A step that makes what step s reads and was not put yet; s: there is none. */
static size_t find_needed(Order *order, size_t s)
{
    order->step = (int32_t)s;
    step_buffers(order->plan, &order->plan->steps.data[s], find_need, order);
    return (size_t)order->step;
}

/* Puts the step behind those that make what it reads. */
static void put_needed(Order *order, size_t s)
{
    while (order->moved[s] < 0) {
        const size_t needed = find_needed(order, s);
        if (needed == s)
            put_step(order, s);
        else
            put_needed(order, needed);
    }
}

/* A step that packs a matrix, and how many elements that has. */
typedef struct PackedMatrix {
    int64_t elements;
    size_t step;
} PackedMatrix;

static int compare_packed(const void *a, const void *b)
{
    const PackedMatrix *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements < y->elements ? 1 : -1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* Each matrix is packed right behind the step that makes it, the largest first: so few of them, and
 * of the params that they are made of, are in memory at once beside the panels. */
static void put_packed(Order *order)
{
    const Plan *plan = order->plan;
    VEC(PackedMatrix) packed = {0};
    for (size_t s = 0; s < plan->steps.count; s++) {
        const TfcGemmStep *gemm = &plan->steps.data[s].gemm;
        if (plan->steps.data[s].kind == TFC_STEP_PACK)
            vec_push(plan->arena, packed,
                     ((PackedMatrix){plan->sizes.data[gemm->n.size].coefficient *
                                         plan->sizes.data[gemm->k.size].coefficient,
                                     s}));
    }
    if (packed.count)
        qsort(packed.data, packed.count, sizeof *packed.data, compare_packed);
    for (size_t i = 0; i < packed.count; i++)
        put_needed(order, packed.data[i].step);
}

/* The constant steps, and then the others in their order. */
static void put_first(Plan *plan, const bool *constant)
{
    size_t n = plan->steps.count;
    Order order = {.plan = plan,
                   .constant = constant,
                   .maker = ARENA_ARRAY(plan->arena, int32_t, plan->buffers.count + 1),
                   .moved = ARENA_ARRAY(plan->arena, int32_t, n + 1)};
    TfcStep *steps = arena_copy(plan->arena, plan->steps.data, sizeof *steps * n);
    const Op **origins = arena_copy(plan->arena, plan->origins.data, sizeof *origins * n);
    for (size_t b = 0; b < plan->buffers.count; b++)
        order.maker[b] = -1;
    for (size_t s = 0; s < n; s++)
        if (constant[s]) {
            order.step = (int32_t)s;
            step_buffers(plan, &steps[s], find_maker, &order);
        }
    memset(order.moved, -1, sizeof *order.moved * n);
    if (!order.is_fixed)
        put_packed(&order);
    for (size_t s = 0; s < n; s++)
        if (constant[s])
            put_needed(&order, s);
    for (size_t s = 0; s < n; s++)
        if (!constant[s])
            put_step(&order, s);
    const int32_t *moved = order.moved;
    for (size_t s = 0; s < n; s++) {
        plan->steps.data[moved[s]] = steps[s];
        plan->origins.data[moved[s]] = origins[s];
    }
    for (size_t l = 0; l < plan->loops.count; l++) {
        TfcLoop *loop = &plan->loops.data[l];
        int32_t length = loop->end - loop->first;
        loop->first = length ? moved[loop->first] : loop->first;
        loop->end = loop->first + length;
    }
}

void prepare_constants(Plan *plan)
{
    Constants c = {.plan = plan,
                   .buffer = ARENA_ARRAY(plan->arena, bool, plan->buffers.count + 1),
                   .read = ARENA_ARRAY(plan->arena, bool, plan->buffers.count + 1),
                   .step = ARENA_ARRAY(plan->arena, bool, 2 * plan->steps.count + 1)};
    for (size_t s = 0; s < plan->steps.count; s++)
        step_buffers(plan, &plan->steps.data[s], find_trained, plan);
    if (!plan->steps.count)
        return;
    if (plan->trains) {
        find_renewed(plan, &c);
    } else {
        size_t n = plan->steps.count;
        find_constants(plan, &c);
        pack_weights(plan, c.buffer);
        for (size_t s = n; s < plan->steps.count; s++)
            c.step[s] = true;
    }
    widen_long_products(plan);
    assert(lookups_read_panels(plan));
    put_first(plan, c.step);
}
