/* Buckets, and when they may be sent. */
#include "runtime/train/overlap.h"

#include "runtime/exec/size.h"
#include "runtime/exec/trace.h"
#include "runtime/train/errands.h"

#include <stdlib.h>

enum { BUCKET = 1 << 20 };

/* Bucket: tensors first … first + n - 1 of an order, and the step that it waits for, or that waits
 * for it. */
typedef struct Bucket {
    int32_t first, n, step;
} Bucket;

/* Order: all tensors of the parts. */
typedef struct Order {
    int32_t *tensors;
    Bucket *buckets;
    int32_t n;
} Order;

struct Overlap {
    Arena *arena;
    const Split *split;
    GradientSum *sum;
    Exec *compute;
    ExecHook hook;
    Errands *errands;
    Order gradients, params;
    const SumStep *steps;
    int64_t n_steps;
    bool moves, sums;   /* params were updated; the last piece is computed */
    int32_t come, whole; /* buckets of params that were waited for, of gradients that may be sent */
    int32_t allowed;     /* jobs of the update */
    double waited;
};

/* ---- buckets ---- */

/* Place: a tensor and the step that orders it. */
typedef struct Place {
    int32_t tensor, step;
} Place;

static int compare_places(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    return x->step != y->step ? (x->step < y->step ? -1 : 1) : x->tensor - y->tensor;
}

/* Rank 0's order, as all ranks send in the same. */
static void cut(const Overlap *o, Order *order, Place *places)
{
    const Parts *parts = o->split->parts;
    int64_t bytes = 0;
    qsort(places, (size_t)parts->n_tensors, sizeof *places, compare_places);
    ranks_share(o->split->ranks, places, parts->n_tensors * (int64_t)sizeof *places);
    for (int32_t i = 0; i < parts->n_tensors; i++) {
        const StoreTensor *tensor = store_find(o->split->store, parts->tensors[places[i].tensor].param);
        if (!order->n || bytes >= BUCKET) {
            order->buckets[order->n++] = (Bucket){i, 0, places[i].step};
            bytes = 0;
        }
        order->buckets[order->n - 1].n++;
        order->tensors[i] = places[i].tensor;
        bytes += tensor->count * type_bytes(tensor->type);
    }
}

static bool make_orders(Overlap *o)
{
    const Parts *parts = o->split->parts;
    Place *places = ARENA_ARRAY(o->arena, Place, (int64_t)parts->n_tensors + 1);
    Order *orders[] = {&o->gradients, &o->params};
    for (int i = 0; i < 2; i++) {
        orders[i]->tensors = ARENA_ARRAY(o->arena, int32_t, (int64_t)parts->n_tensors + 1);
        orders[i]->buckets = ARENA_ARRAY(o->arena, Bucket, (int64_t)parts->n_tensors + 1);
    }
    if (arena_failed(o->arena))
        return false;
    for (int32_t t = 0; t < parts->n_tensors; t++)
        places[t] = (Place){t, exec_tensor_span(o->compute, parts->tensors[t].gradient).last};
    cut(o, &o->gradients, places);
    for (int32_t i = 0; i < o->gradients.n; i++) { /* whole with the last of its tensors */
        Bucket *bucket = &o->gradients.buckets[i];
        bucket->step = places[bucket->first + bucket->n - 1].step;
    }
    for (int32_t t = 0; t < parts->n_tensors; t++)
        places[t] = (Place){t, exec_tensor_span(o->compute, parts->tensors[t].param).first};
    cut(o, &o->params, places);
    return true;
}

/* ---- what the second thread does: an update's params, then the next one's gradients ---- */

static void move_params(Overlap *o, const Bucket *bucket)
{
    int64_t begin = trace_begin();
    split_share_params(o->split, (Gradients){o->params.tensors + bucket->first, bucket->n, true});
    trace_end("share params", begin);
}

static void sum_gradients(Overlap *o, const Bucket *bucket)
{
    int64_t begin = trace_begin();
    Gradients gradients = {o->gradients.tensors + bucket->first, bucket->n, true};
    for (int64_t i = 0; i < o->n_steps; i++)
        sum_tree_do(o->sum, &o->steps[i], gradients);
    trace_end("sum gradients", begin);
}

static void do_job(void *context, int32_t job)
{
    Overlap *o = context;
    if (job >= o->params.n)
        sum_gradients(o, &o->gradients.buckets[job - o->params.n]);
    else if (o->moves)
        move_params(o, &o->params.buckets[job]);
}

static double wait_for(Overlap *o, int32_t jobs, const char *name)
{
    int64_t begin = trace_begin();
    double waited = errands_wait(o->errands, jobs);
    if (waited > 0)
        trace_end(name, begin);
    return waited;
}

/* ---- beside the computing ---- */

static void before_step(void *context, int32_t step)
{
    Overlap *o = context;
    int32_t come = o->come;
    while (come < o->params.n && o->params.buckets[come].step <= step)
        come++;
    if (come > o->come)
        o->waited += wait_for(o, come, "wait for params");
    o->come = come;
}

static void after_step(void *context, int32_t step)
{
    Overlap *o = context;
    int32_t whole = o->whole;
    while (o->sums && whole < o->gradients.n && o->gradients.buckets[whole].step <= step)
        whole++;
    if (whole > o->whole)
        errands_allow(o->errands, o->params.n + whole);
    o->whole = whole;
}

static void begin_update(Overlap *o, bool moves)
{
    errands_begin(o->errands, do_job, o, o->params.n + o->gradients.n);
    o->moves = moves;
    o->come = o->whole = 0;
    o->allowed = o->params.n;
    errands_allow(o->errands, o->allowed);
}

void overlap_begin_params(Overlap *o) { begin_update(o, true); }

double overlap_wait_params(Overlap *o)
{
    if (!o)
        return 0;
    double waited = o->waited + wait_for(o, o->params.n, "wait for params");
    o->come = o->params.n;
    o->waited = 0;
    return waited;
}

void overlap_begin_sums(Overlap *o, const SumStep *steps, int64_t n)
{
    o->steps = steps;
    o->n_steps = n;
    o->sums = true;
}

void overlap_allow_sums(Overlap *o)
{
    o->sums = false;
    o->allowed = o->params.n + o->gradients.n;
    errands_allow(o->errands, o->allowed);
}

double overlap_wait_sums(Overlap *o) { return wait_for(o, o->allowed, "wait for gradients"); }

/* ---- the overlap ---- */

bool overlap_new(Overlap **out, const Split *split, GradientSum *sum, Exec *compute)
{
    *out = NULL;
    if (!ranks_two_threads(split->ranks) || ranks_count(split->ranks) < 2)
        return true;
    Arena *arena = arena_try_new();
    Overlap *o = arena ? ARENA_NEW(arena, Overlap) : NULL;
    if (o) {
        *o = (Overlap){.arena = arena, .split = split, .sum = sum, .compute = compute};
        o->hook = (ExecHook){o, before_step, after_step};
        if (make_orders(o))
            o->errands = errands_new();
    }
    if (!o || !o->errands) {
        arena_free(arena);
        return false;
    }
    begin_update(o, false);
    exec_set_hook(compute, &o->hook);
    *out = o;
    return true;
}

void overlap_free(Overlap *o)
{
    if (!o)
        return;
    exec_set_hook(o->compute, NULL);
    errands_free(o->errands);
    arena_free(o->arena);
}
