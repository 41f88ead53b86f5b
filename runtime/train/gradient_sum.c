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
    Gradients all;
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

static bool list_all(GradientSum *sum)
{
    int32_t n = sum->parts->n_tensors;
    int32_t *tensors = ARENA_ARRAY(sum->arena, int32_t, (int64_t)n + 1);
    RankMessage *room = ARENA_ARRAY(sum->arena, RankMessage, 4 * (int64_t)n * sum->parts->n + 1);
    for (int32_t t = 0; tensors && t < n; t++)
        tensors[t] = t;
    sum->all = (Gradients){.tensors = tensors, .n = n, .pieces = 1, .room = room};
    return !arena_failed(sum->arena);
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
        }
    }
    if (sum && list_all(sum))
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

/* What the call is about of a tensor's parts next … last, as far as it is contiguous; *next is the part
 * behind it then. */
static Slice next_slice(const Parts *parts, Gradients of, int32_t tensor, int *next, int last)
{
    int part = *next;
    *next = of.pieces > 1 ? part + 1 : last + 1;
    return of.pieces > 1 ? parts_piece(parts, tensor, part, of.piece, of.pieces)
                         : parts_slice(parts, tensor, part, last);
}

/* Of all these gradients what parts first … last have of them. */
static void run_parts(GradientSum *sum, Gradients of, int first, int last, Pass pass)
{
    Team team;
    pass.sum = sum;
    if (first > last)
        return;
    team_open(&team, of.lane ? 1 : exec_threads(), NULL);
    for (int32_t i = 0; i < of.n; i++)
        for (int next = first; next <= last;) {
            pass.slice = next_slice(sum->parts, of, of.tensors[i], &next, last);
            team_run(&team, (int32_t)parts_blocks(pass.slice.count), run_block, &pass);
        }
    team_close(&team);
}

static void run_all(GradientSum *sum, Gradients of, Pass pass)
{
    run_parts(sum, of, 0, sum->parts->n - 1, pass);
}

Gradients gradient_sum_all(const GradientSum *sum) { return sum->all; }

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

void gradient_sum_keep(GradientSum *sum, Gradients of, int level)
{
    run_all(sum, of, (Pass){.level = level, .run = keep_block});
}

void gradient_sum_join(GradientSum *sum, Gradients of, int level)
{
    run_all(sum, of, (Pass){.level = level, .run = join_block});
}

/* ---- between ranks ---- */

/* Range: parts first … last; none where first > last. */
typedef struct Range {
    int first, last;
} Range;

/* What a rank has of the sum that a span holds. */
static Range owned(const GradientSum *sum, Span span, int rank)
{
    int64_t n = sum->parts->n, size = span.to - span.from + 1, at = rank - span.from;
    if (!span_has(span, rank))
        return (Range){0, -1};
    return (Range){(int)((at * n + size - 1) / size), (int)(((at + 1) * n + size - 1) / size) - 1};
}

void gradients_move(const Ranks *ranks, Gradients of, int64_t n)
{
    if (of.lane)
        ranks_move_behind(ranks, of.room, n, of.lane);
    else
        ranks_move(ranks, of.room, n);
}

/* Messages of a tensor to or from another rank, with what both ranges have. They lie in the room of a
 * level, or in the store, where the level is -1. Gives how many there are then. */
static int64_t add_message(const GradientSum *sum, Gradients of, int64_t n, int32_t tensor, Range a,
                           Range b, int level, int other, bool is_sent)
{
    int next = a.first > b.first ? a.first : b.first, last = a.last < b.last ? a.last : b.last;
    while (next <= last) {
        Slice slice = next_slice(sum->parts, of, tensor, &next, last);
        if (slice.count)
            of.room[n++] = (RankMessage){.data = level < 0 ? store_at_element(sum, &slice, slice.from)
                                                           : room_at_element(sum, &slice, slice.from, level),
                                         .bytes = slice.count * sum->gradients[tensor].size,
                                         .other = other,
                                         .is_sent = is_sent};
    }
    return n;
}

/* What this rank sends and receives of all tensors whose sum `have` holds and `want` is to hold. */
static int64_t add_messages(const GradientSum *sum, Gradients of, int64_t n, Span have, Span want,
                            int level)
{
    int me = ranks_mine(sum->ranks);
    Range mine = owned(sum, have, me), wanted = owned(sum, want, me);
    for (int32_t i = 0; i < of.n; i++) {
        for (int rank = want.from; span_has(have, me) && rank <= want.to; rank++)
            if (rank != me)
                n = add_message(sum, of, n, of.tensors[i], mine, owned(sum, want, rank), level, rank, true);
        for (int rank = have.from; span_has(want, me) && rank <= have.to; rank++)
            if (rank != me)
                n = add_message(sum, of, n, of.tensors[i], owned(sum, have, rank), wanted, level, rank, false);
    }
    return n;
}

/* What this rank has no part in is 0. */
static void clear_others(GradientSum *sum, Gradients of, Range mine)
{
    Pass clear = {.run = clear_block};
    run_parts(sum, of, 0, mine.first - 1, clear);
    run_parts(sum, of, mine.last + 1, sum->parts->n - 1, clear);
}

void gradient_sum_meet(GradientSum *sum, Gradients of, int level, Span left, Span right, Span whole)
{
    int me = ranks_mine(sum->ranks);
    Range mine = owned(sum, whole, me);
    int64_t n = add_messages(sum, of, 0, left, whole, level);
    gradients_move(sum->ranks, of, add_messages(sum, of, n, right, whole, -1));
    run_parts(sum, of, mine.first, mine.last, (Pass){.level = level, .run = join_block});
    if (span_has(right, me))
        clear_others(sum, of, mine);
}

void gradient_sum_spread(GradientSum *sum, Gradients of, Span span)
{
    int me = ranks_mine(sum->ranks);
    Span all = {0, sum->parts->n - 1};
    if (span.from == all.from && span.to == all.to)
        return; /* it is there already */
    gradients_move(sum->ranks, of, add_messages(sum, of, 0, span, all, -1));
    clear_others(sum, of, (Range){me, me});
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
    int me = ranks_mine(sum->ranks);
    run_parts(sum, gradient_sum_all(sum), me, me, (Pass){.run = square_block});
    ranks_sum(sum->ranks, sum->squares, sum->n_blocks);
    for (int64_t i = 0; i < sum->n_blocks; i++)
        total += sum->squares[i];
    return sqrt(total);
}
