/* Gradients put aside and added. */
#include "runtime/train/gradient_sum.h"

#include "base/team.h"
#include "runtime/exec/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gradient: a tensor of the parts, in the store, and its place in the room of a level. */
typedef struct Gradient {
    StoreTensor *tensor;
    int64_t size;  /* bytes of an element */
    int64_t at;    /* bytes */
    int64_t block; /* the number of its first block */
} Gradient;

struct GradientSum {
    Arena *arena;
    const Parts *parts;
    const Ranks *ranks;
    Gradient *gradients; /* as parts->tensors */
    char *room;
    int64_t bytes; /* of a level */
    int levels;
    double *squares; /* a block: the sum of squares */
    int64_t n_blocks;
    RankMessage *messages; /* room for those of a meeting */
};

int64_t gradient_sum_left(int64_t n)
{
    int64_t left = 1;
    while (left * 2 < n)
        left *= 2;
    return left;
}

/* Of a tree over n pieces. */
static int count_levels(int64_t n)
{
    int levels = 0;
    for (; n > 1; n = gradient_sum_left(n))
        levels++;
    return levels;
}

static bool find_gradients(GradientSum *sum, Store *store)
{
    const Parts *parts = sum->parts;
    sum->gradients = ARENA_ARRAY(sum->arena, Gradient, (int64_t)parts->n_tensors + 1);
    for (int32_t t = 0; sum->gradients && t < parts->n_tensors; t++) {
        StoreTensor *tensor = store_find(store, parts->tensors[t].gradient);
        sum->gradients[t] =
            (Gradient){tensor, type_bytes(tensor->type), sum->bytes, sum->n_blocks};
        sum->bytes += (tensor->count * type_bytes(tensor->type) + 63) / 64 * 64;
        sum->n_blocks += parts_blocks(tensor->count);
    }
    return sum->gradients != NULL;
}

GradientSum *gradient_sum_new(Store *store, const Parts *parts, const Ranks *ranks, int64_t pieces)
{
    Arena *arena = arena_try_new();
    GradientSum *sum = arena ? ARENA_NEW(arena, GradientSum) : NULL;
    if (sum) {
        *sum = (GradientSum){
            .arena = arena, .parts = parts, .ranks = ranks, .levels = count_levels(pieces)};
        if (find_gradients(sum, store)) {
            sum->room = arena_array(arena, (size_t)sum->levels, (size_t)sum->bytes);
            sum->squares = ARENA_ARRAY(arena, double, sum->n_blocks + 1);
            sum->messages = ARENA_ARRAY(arena, RankMessage, 4 * (int64_t)parts->first[parts->n] + 1);
        }
    }
    if (sum && sum->messages && !arena_failed(arena))
        return sum;
    arena_free(arena);
    return NULL;
}

void gradient_sum_free(GradientSum *sum)
{
    if (sum)
        arena_free(sum->arena);
}

int64_t gradient_sum_bytes(const GradientSum *sum) { return sum->bytes * sum->levels; }

/* ---- steps over elements ---- */

/* Pass: what is done to a slice of a gradient, a block a task. */
typedef struct Pass {
    GradientSum *sum;
    Slice slice;
    int level;
    void (*run)(const struct Pass *pass, int64_t from, int64_t n);
} Pass;

static char *store_at_element(const GradientSum *sum, const Slice *slice, int64_t from)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    return (char *)g->tensor->data + from * g->size;
}

static char *room_at_element(const GradientSum *sum, const Slice *slice, int64_t from, int level)
{
    const Gradient *g = &sum->gradients[slice->tensor];
    return sum->room + level * sum->bytes + g->at + from * g->size;
}

static void run_block(const void *context, int64_t index)
{
    const Pass *pass = context;
    int64_t begin = index * PART_BLOCK, left = pass->slice.count - begin;
    pass->run(pass, pass->slice.from + begin, left < PART_BLOCK ? left : PART_BLOCK);
}

static void run_slices(GradientSum *sum, const Slice *slices, int32_t n, Pass pass)
{
    Team team;
    team_open(&team, exec_threads(), NULL);
    pass.sum = sum;
    for (int32_t i = 0; i < n; i++) {
        pass.slice = slices[i];
        team_run(&team, (int32_t)parts_blocks(pass.slice.count), run_block, &pass);
    }
    team_close(&team);
}

static void run_all(GradientSum *sum, Pass pass)
{
    run_slices(sum, sum->parts->slices, sum->parts->first[sum->parts->n], pass);
}

static void run_part(GradientSum *sum, int part, Pass pass)
{
    const int32_t *first = &sum->parts->first[part];
    run_slices(sum, sum->parts->slices + first[0], first[1] - first[0], pass);
}

static void keep_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    char *data = store_at_element(pass->sum, &pass->slice, from);
    memcpy(room_at_element(pass->sum, &pass->slice, from, pass->level), data, (size_t)(n * g->size));
    memset(data, 0, (size_t)(n * g->size));
}

static void clear_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    memset(store_at_element(pass->sum, &pass->slice, from), 0, (size_t)(n * g->size));
}

static void join_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    char *to = store_at_element(pass->sum, &pass->slice, from);
    const char *left = room_at_element(pass->sum, &pass->slice, from, pass->level);
    if (g->tensor->type == TFC_F64) {
        double *sum = (double *)to;
        const double *other = (const double *)left;
        for (int64_t i = 0; i < n; i++)
            sum[i] = other[i] + sum[i];
    } else {
        float *sum = (float *)to;
        const float *other = (const float *)left;
        for (int64_t i = 0; i < n; i++)
            sum[i] = other[i] + sum[i];
    }
}

void gradient_sum_keep(GradientSum *sum, int level)
{
    run_all(sum, (Pass){.level = level, .run = keep_block});
}

void gradient_sum_join(GradientSum *sum, int level)
{
    run_all(sum, (Pass){.level = level, .run = join_block});
}

/* ---- between ranks ---- */

/* The rank of a span that holds part p of its sum. */
static int owner(const GradientSum *sum, Span span, int p)
{
    return span.from + (int)((int64_t)p * (span.to - span.from + 1) / sum->parts->n);
}

/* Adds what this rank sends or receives of a part that goes from one rank to another; how many
 * messages there are then. */
static int64_t add_messages(GradientSum *sum, int64_t n, int part, int from, int to, int level)
{
    int me = ranks_mine(sum->ranks);
    if (from == to || (me != from && me != to))
        return n;
    for (int32_t i = sum->parts->first[part]; i < sum->parts->first[part + 1]; i++) {
        const Slice *slice = &sum->parts->slices[i];
        char *data = level < 0 ? store_at_element(sum, slice, slice->from)
                               : room_at_element(sum, slice, slice->from, level);
        sum->messages[n++] = (RankMessage){.data = data,
                                           .bytes = slice->count * sum->gradients[slice->tensor].size,
                                           .other = me == from ? to : from,
                                           .is_sent = me == from};
    }
    return n;
}

void gradient_sum_meet(GradientSum *sum, int level, Span left, Span right, Span whole)
{
    int me = ranks_mine(sum->ranks);
    int64_t n = 0;
    for (int p = 0; p < sum->parts->n; p++) {
        int to = owner(sum, whole, p);
        n = add_messages(sum, n, p, owner(sum, left, p), to, level);
        n = add_messages(sum, n, p, owner(sum, right, p), to, -1);
    }
    ranks_move(sum->ranks, sum->messages, n);
    for (int p = 0; p < sum->parts->n; p++) {
        if (owner(sum, whole, p) == me)
            run_part(sum, p, (Pass){.level = level, .run = join_block});
        else if (right.from <= me && me <= right.to)
            run_part(sum, p, (Pass){.run = clear_block});
    }
}

void gradient_sum_spread(GradientSum *sum, Span span)
{
    int me = ranks_mine(sum->ranks);
    int64_t n = 0;
    for (int p = 0; p < sum->parts->n; p++)
        n = add_messages(sum, n, p, owner(sum, span, p), p, -1);
    if (span.from == 0 && span.to == sum->parts->n - 1)
        return; /* it is there already */
    ranks_move(sum->ranks, sum->messages, n);
    for (int p = 0; p < sum->parts->n; p++)
        if (p != me)
            run_part(sum, p, (Pass){.run = clear_block});
}

/* ---- the norm ---- */

/* Σ x², in eight sums that are added at the end, so that it is fast and always the same. */
static void square_block(const Pass *pass, int64_t from, int64_t n)
{
    enum { LANES = 8 };
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    const char *data = store_at_element(pass->sum, &pass->slice, from);
    double lanes[LANES] = {0}, total = 0;
    if (g->tensor->type == TFC_F64)
        for (int64_t i = 0; i < n; i++)
            lanes[i % LANES] += ((const double *)data)[i] * ((const double *)data)[i];
    else
        for (int64_t i = 0; i < n; i++)
            lanes[i % LANES] += (double)((const float *)data)[i] * (double)((const float *)data)[i];
    for (int i = 0; i < LANES; i++)
        total += lanes[i];
    pass->sum->squares[g->block + from / PART_BLOCK] = total;
}

double gradient_sum_norm(GradientSum *sum)
{
    double total = 0;
    memset(sum->squares, 0, (size_t)sum->n_blocks * sizeof *sum->squares);
    run_part(sum, ranks_mine(sum->ranks), (Pass){.run = square_block});
    ranks_sum(sum->ranks, sum->squares, sum->n_blocks);
    for (int64_t i = 0; i < sum->n_blocks; i++)
        total += sum->squares[i];
    return sqrt(total);
}
