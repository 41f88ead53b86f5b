/* Gradients put aside and added. */
#include "runtime/train/gradient_state.h"

#include "base/team.h"
#include "runtime/exec/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool make_rounded(GradientSum *sum)
{
    int64_t n = sum->bytes / (int64_t)sizeof(float);
    sum->rest = ARENA_ARRAY(sum->arena, float, n + 1);
    sum->sent = ARENA_ARRAY(sum->arena, uint16_t, n + 1);
    sum->received = ARENA_ARRAY(sum->arena, uint16_t, n + 1);
    return !arena_failed(sum->arena);
}

GradientSum *gradient_sum_new(Store *store, const Parts *parts, const Ranks *ranks, int64_t pieces,
                              bool rounded)
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
    if (sum && list_all(sum) && (!rounded || make_rounded(sum)))
        return sum;
    arena_free(arena);
    return NULL;
}

void gradient_sum_free(GradientSum *sum)
{
    if (sum)
        arena_free(sum->arena);
}

int64_t gradient_sum_bytes(const GradientSum *sum)
{
    return sum->bytes * (sum->levels + (sum->rest ? 2 : 0));
}

/* ---- steps over elements ---- */

void gradient_run_block(const void *context, int64_t index)
{
    const Pass *pass = context;
    int64_t begin = index * PART_BLOCK, left = pass->slice.count - begin;
    pass->run(pass, pass->slice.from + begin, left < PART_BLOCK ? left : PART_BLOCK);
}

Slice gradient_next_slice(const Parts *parts, Gradients of, int32_t tensor, int *next, int last)
{
    int part = *next;
    *next = of.pieces > 1 ? part + 1 : last + 1;
    return of.pieces > 1 ? parts_piece(parts, tensor, part, of.piece, of.pieces)
                         : parts_slice(parts, tensor, part, last);
}

void gradient_run_parts(GradientSum *sum, Gradients of, int first, int last, Pass pass)
{
    Team team;
    pass.sum = sum;
    if (first > last)
        return;
    team_open(&team, of.lane ? 1 : exec_threads(), NULL);
    for (int32_t i = 0; i < of.n; i++)
        for (int next = first; next <= last;) {
            pass.slice = gradient_next_slice(sum->parts, of, of.tensors[i], &next, last);
            team_run(&team, (int32_t)parts_blocks(pass.slice.count), gradient_run_block, &pass);
        }
    team_close(&team);
}

static void run_all(GradientSum *sum, Gradients of, Pass pass)
{
    gradient_run_parts(sum, of, 0, sum->parts->n - 1, pass);
}

Gradients gradient_sum_all(const GradientSum *sum) { return sum->all; }

static void keep_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    char *data = store_at_element(pass->sum, &pass->slice, from);
    memcpy(room_at_element(pass->sum, &pass->slice, from, pass->level), data, (size_t)(n * g->size));
    memset(data, 0, (size_t)(n * g->size));
}

void gradient_clear_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    memset(store_at_element(pass->sum, &pass->slice, from), 0, (size_t)(n * g->size));
}

void gradient_join_block(const Pass *pass, int64_t from, int64_t n)
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
    run_all(sum, of, (Pass){.level = level, .run = gradient_join_block});
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
    gradient_run_parts(sum, gradient_sum_all(sum), me, me, (Pass){.run = square_block});
    ranks_sum(sum->ranks, sum->squares, sum->n_blocks);
    for (int64_t i = 0; i < sum->n_blocks; i++)
        total += sum->squares[i];
    return sqrt(total);
}
