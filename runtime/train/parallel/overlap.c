/* Buckets, and when they may be sent. */
#include "runtime/train/parallel/overlap.h"

#include "runtime/exec/size.h"
#include "runtime/exec/trace.h"
#include "runtime/train/errands.h"

#include <stdlib.h>

enum { LANES = 2 };
enum { BUCKET = 1 << 20, PIECE = 1 << 22 }; /* bytes, at least and about at most */

/* Bucket: first … first + n - 1 of an order, or one piece of one of them; and the step that it
 * waits for, or that waits for it. */
typedef struct Bucket {
    int32_t first, n, step;
    int32_t piece, pieces;
} Bucket;

/* Order: all gradients, by the steps that are done with them, or all params, by those that need
 * them; by the numbers that they have in the sum, or the parts. */
typedef struct Order {
    int32_t *numbers;
    Bucket *buckets;
    int32_t n;
    /* a bucket waits for the last of its gradients' steps; else its first param's one waits for
     * it */
    bool ends;
} Order;

/* Lane: a thread, which does jobs number, number + LANES, …. */
typedef struct Lane {
    Overlap *overlap;
    int number;
    Errands *errands;
    RankMessage *room;
} Lane;

struct Overlap {
    Arena *arena;
    const Split *split;
    GradientSum *sum;
    Exec *compute;
    ExecHook hook;
    Lane lanes[LANES];
    Order gradients, params;
    const SumStep *steps;
    int64_t n_steps;
    bool moves, sums;    /* params were updated; the last piece is computed */
    int32_t come, whole; /* buckets of params that were waited for, of gradients that may be sent */
    int32_t allowed;     /* jobs of the update */
    double waited;
};

/* ---- buckets ---- */

/* BucketPlace: a gradient or a param, its size, and the step that orders it. */
typedef struct BucketPlace {
    int64_t bytes;
    int32_t number, step;
} BucketPlace;

static int compare_places(const void *a, const void *b)
{
    const BucketPlace *x = a, *y = b;
    return x->step != y->step ? (x->step < y->step ? -1 : 1) : x->number - y->number;
}

static int32_t pieces_of(int64_t bytes) { return (int32_t)((bytes + PIECE - 1) / PIECE); }

/* Puts the i-th of the order into the last bucket if there is room, else into new ones. */
static void add_place(Order *order, int32_t i, const BucketPlace *place, int64_t *filled)
{
    int32_t pieces = pieces_of(place->bytes);
    bool goes_on = order->n && *filled < BUCKET && pieces <= 1;
    Bucket *last = &order->buckets[order->n - 1];
    order->numbers[i] = place->number;
    if (goes_on) {
        last->n++;
        last->step = order->ends ? place->step : last->step;
        *filled += place->bytes;
        return;
    }
    for (int32_t piece = 0; piece == 0 || piece < pieces; piece++)
        order->buckets[order->n++] = (Bucket){i, 1, place->step, piece, pieces > 1 ? pieces : 1};
    *filled = place->bytes;
}

/* In rank 0's order, as all ranks send in the same. */
static bool cut_overlap(Overlap *o, Order *order, BucketPlace *places, int32_t n)
{
    int64_t filled = 0, n_buckets = 1;
    for (int32_t i = 0; i < n; i++)
        n_buckets += 1 + pieces_of(places[i].bytes);
    order->numbers = ARENA_ARRAY(o->arena, int32_t, (int64_t)n + 1);
    order->buckets = ARENA_ARRAY(o->arena, Bucket, n_buckets);
    if (arena_failed(o->arena))
        return false;
    qsort(places, (size_t)n, sizeof *places, compare_places);
    ranks_share(o->split->ranks, places, n * (int64_t)sizeof *places);
    for (int32_t i = 0; i < n; i++)
        add_place(order, i, &places[i], &filled);
    return true;
}

static bool make_orders(Overlap *o)
{
    const Parts *parts = o->split->parts;
    int32_t n = gradient_sum_count(o->sum);
    BucketPlace *places = ARENA_ARRAY(o->arena, BucketPlace, (int64_t)n + 1);
    o->gradients.ends = true;
    for (int32_t g = 0; places && g < n; g++) {
        const StoreTensor *gradient = gradient_sum_tensor(o->sum, g);
        int32_t last = exec_tensor_span(o->compute, gradient->name).last;
        places[g] = (BucketPlace){gradient->count * type_bytes(gradient->type), g, last};
    }
    if (!places || !cut_overlap(o, &o->gradients, places, n))
        return false;
    for (int32_t t = 0; t < parts->n_tensors; t++) {
        const StoreTensor *param = store_find(o->split->store, parts->tensors[t].param);
        int32_t first = exec_tensor_span(o->compute, param->name).first;
        places[t] = (BucketPlace){param->count * split_sent_size(o->split, t), t, first};
    }
    return cut_overlap(o, &o->params, places, parts->n_tensors);
}

/* Room for the messages of any bucket. */
static bool make_rooms(Overlap *o)
{
    int64_t most = 1;
    const Order *orders[] = {&o->gradients, &o->params};
    for (int i = 0; i < 2; i++)
        for (int32_t b = 0; b < orders[i]->n; b++)
            most = orders[i]->buckets[b].n > most ? orders[i]->buckets[b].n : most;
    for (int l = 0; l < LANES; l++)
        o->lanes[l].room = ARENA_ARRAY(o->arena, RankMessage, 4 * most * o->split->parts->n);
    return !arena_failed(o->arena);
}

/* ---- what the lanes do: an update's params, then the next one's gradients ---- */

static Gradients gradients_of(const Lane *lane, const Order *order, const Bucket *bucket)
{
    return (Gradients){order->numbers + bucket->first,
                       bucket->n,
                       bucket->piece,
                       bucket->pieces,
                       lane->number + 1,
                       lane->room};
}

static void move_params(const Lane *lane, const Bucket *bucket)
{
    int64_t begin = trace_begin();
    split_share_params(lane->overlap->split, gradients_of(lane, &lane->overlap->params, bucket));
    trace_end("share params", begin);
}

static void sum_gradients(const Lane *lane, const Bucket *bucket)
{
    const Overlap *o = lane->overlap;
    int64_t begin = trace_begin();
    for (int64_t i = 0; i < o->n_steps; i++)
        sum_tree_do(o->sum, &o->steps[i], gradients_of(lane, &o->gradients, bucket));
    trace_end("sum gradients", begin);
}

static void do_job(void *context, int32_t turn)
{
    const Lane *lane = context;
    const Overlap *o = lane->overlap;
    int32_t job = turn * LANES + lane->number;
    if (job >= o->params.n)
        sum_gradients(lane, &o->gradients.buckets[job - o->params.n]);
    else if (o->moves)
        move_params(lane, &o->params.buckets[job]);
}

/* How many of the first jobs are a lane's. */
static int32_t turns(const Lane *lane, int32_t jobs)
{
    return (jobs + LANES - 1 - lane->number) / LANES;
}

static void allow(Overlap *o, int32_t jobs)
{
    for (int l = 0; l < LANES; l++)
        errands_allow(o->lanes[l].errands, turns(&o->lanes[l], jobs));
}

static double wait_for(Overlap *o, int32_t jobs, const char *name)
{
    int64_t begin = trace_begin();
    double waited = 0;
    for (int l = 0; l < LANES; l++)
        waited += errands_wait(o->lanes[l].errands, turns(&o->lanes[l], jobs));
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
        allow(o, o->params.n + whole);
    o->whole = whole;
}

static void begin_update(Overlap *o, bool moves)
{
    for (int l = 0; l < LANES; l++)
        errands_begin(o->lanes[l].errands, do_job, &o->lanes[l]);
    o->moves = moves;
    o->come = o->whole = 0;
    o->allowed = o->params.n;
    allow(o, o->allowed);
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
    allow(o, o->allowed);
}

double overlap_wait_sums(Overlap *o) { return wait_for(o, o->allowed, "wait for gradients"); }

/* ---- the overlap ---- */

static void close_lanes(Overlap *o)
{
    for (int l = 0; l < LANES; l++)
        if (o->lanes[l].errands)
            errands_free(o->lanes[l].errands);
}

static bool open_lanes(Overlap *o)
{
    bool ok = true;
    for (int l = 0; l < LANES; l++) {
        o->lanes[l].overlap = o;
        o->lanes[l].number = l;
        ok &= (o->lanes[l].errands = errands_new()) != NULL;
    }
    if (!ok)
        close_lanes(o);
    return ok;
}

bool overlap_new(Overlap **out, const Split *split, GradientSum *sum, Exec *compute)
{
    *out = NULL;
    if (!ranks_have_lanes(split->ranks) || ranks_count(split->ranks) < 2)
        return true;
    Arena *arena = arena_try_new();
    Overlap *o = arena ? ARENA_NEW(arena, Overlap) : NULL;
    if (o) {
        *o = (Overlap){.arena = arena, .split = split, .sum = sum, .compute = compute};
        o->hook = (ExecHook){o, before_step, after_step};
    }
    if (!o || !make_orders(o) || !make_rooms(o) || !open_lanes(o)) {
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
    close_lanes(o);
    arena_free(o->arena);
}
