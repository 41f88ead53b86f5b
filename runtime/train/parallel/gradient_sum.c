/* Gradients put aside and added. */
#include "runtime/train/parallel/gradient_state.h"

#include "base/team.h"
#include "runtime/exec/memory.h"
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

/* The parts' gradients, then those of their rows. */
static bool find_gradients(GradientSum *sum, Store *store)
{
    const Parts *parts = sum->parts;
    sum->gradients = ARENA_ARRAY(sum->arena, Gradient, 2 * (int64_t)parts->n_tensors + 1);
    for (int rows = 0; sum->gradients && rows < 2; rows++)
        for (int32_t t = 0; t < parts->n_tensors; t++) {
            const PartTensor *of = &parts->tensors[t];
            if (rows && !of->rows)
                continue;
            StoreTensor *tensor = store_find(store, rows ? of->rows : of->gradient);
            sum->gradients[sum->n++] = (Gradient){
                tensor, t, rows || of->sparse, type_bytes(tensor->type), 0, sum->n_blocks};
            sum->n_blocks += parts_blocks(tensor->count);
        }
    return sum->gradients != NULL;
}

static void place_gradients(GradientSum *sum)
{
    for (int32_t i = 0; i < sum->n; i++) {
        Gradient *g = &sum->gradients[i];
        Room *room = g->sparse ? &sum->sparse : &sum->dense;
        g->at = room->bytes;
        room->bytes += (g->tensor->count * g->size + 63) / 64 * 64;
    }
}

static int64_t count_marks(const GradientSum *sum)
{
    bool any = false;
    for (int32_t i = 0; i < sum->n; i++)
        any |= sum->gradients[i].sparse;
    return any ? (sum->levels + 1) * sum->n_blocks * BLOCK_WORDS : 0;
}

static bool list_all(GradientSum *sum)
{
    int32_t n = sum->n;
    int32_t *numbers = ARENA_ARRAY(sum->arena, int32_t, (int64_t)n + 1);
    RankMessage *room = ARENA_ARRAY(sum->arena, RankMessage, 4 * (int64_t)n * sum->parts->n + 1);
    for (int32_t i = 0; numbers && i < n; i++)
        numbers[i] = i;
    sum->all = (Gradients){.numbers = numbers, .n = n, .pieces = 1, .room = room};
    return !arena_failed(sum->arena);
}

/* Elements of a level that may be rounded. */
static int64_t count_dense(const GradientSum *sum)
{
    return sum->dense.bytes / (int64_t)sizeof *sum->rest;
}

static bool make_rounded(GradientSum *sum)
{
    int64_t n = count_dense(sum) + 1;
    sum->rest = ARENA_ARRAY(sum->arena, float, n);
    sum->sent = ARENA_ARRAY(sum->arena, uint16_t, n);
    sum->received = ARENA_ARRAY(sum->arena, uint16_t, n);
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
            place_gradients(sum);
            sum->marks = ARENA_ARRAY(arena, uint64_t, count_marks(sum) + 1);
            sum->dense.memory = memory_new(sum->levels * sum->dense.bytes);
            sum->sparse.memory = arena_array(arena, (size_t)sum->levels, (size_t)sum->sparse.bytes);
            sum->squares = ARENA_ARRAY(arena, double, sum->n_blocks + 1);
        }
    }
    if (sum && sum->dense.memory && list_all(sum) && (!rounded || make_rounded(sum)))
        return sum;
    if (sum)
        gradient_sum_free(sum);
    else
        arena_free(arena);
    return NULL;
}

void gradient_sum_free(GradientSum *sum)
{
    if (!sum)
        return;
    free(sum->dense.memory);
    arena_free(sum->arena);
}

int64_t gradient_sum_bytes(const GradientSum *sum)
{
    int64_t rounded =
        sum->rest ? count_dense(sum) * (int64_t)(sizeof *sum->rest + 2 * sizeof *sum->sent) : 0;
    return (sum->dense.bytes + sum->sparse.bytes) * sum->levels + rounded +
           count_marks(sum) * (int64_t)sizeof *sum->marks;
}

/* ---- steps over elements ---- */

void gradient_run_block(const void *context, int64_t index)
{
    const Pass *pass = context;
    int64_t from = pass->slice.from + index * PART_BLOCK,
            left = pass->slice.from + pass->slice.count - from;
    int64_t n = left < PART_BLOCK ? left : PART_BLOCK;
    bool sparse = pass->sum->gradients[pass->slice.tensor].sparse && pass->marks != MARKS_IGNORED;
    if (sparse && pass->marks == MARKS_MADE)
        gradient_mark_block(pass, from, n);
    if (sparse && pass->run)
        gradient_each_marked(pass, from, n);
    else if (pass->run)
        pass->run(pass, from, n);
}

Slice gradient_next_slice(const GradientSum *sum, Gradients of, int32_t gradient, int *next,
                          int last)
{
    int part = *next;
    int32_t tensor = sum->gradients[gradient].part;
    *next = of.pieces > 1 ? part + 1 : last + 1;
    Slice slice = of.pieces > 1 ? parts_piece(sum->parts, tensor, part, of.piece, of.pieces)
                                : parts_slice(sum->parts, tensor, part, last);
    slice.tensor = gradient;
    return slice;
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
            pass.slice = gradient_next_slice(sum, of, of.numbers[i], &next, last);
            team_run(&team, (int32_t)parts_blocks(pass.slice.count), gradient_run_block, &pass);
        }
    team_close(&team);
}

static void run_all(GradientSum *sum, Gradients of, Pass pass)
{
    gradient_run_parts(sum, of, 0, sum->parts->n - 1, pass);
}

Gradients gradient_sum_all(const GradientSum *sum) { return sum->all; }

int32_t gradient_sum_count(const GradientSum *sum) { return sum->n; }

const StoreTensor *gradient_sum_tensor(const GradientSum *sum, int32_t number)
{
    return sum->gradients[number].tensor;
}

Gradients gradient_sum_params(const GradientSum *sum)
{
    Gradients params = sum->all;
    params.n = sum->parts->n_tensors;
    return params;
}

static void keep_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    char *data = store_at_element(pass->sum, &pass->slice, from);
    memcpy(room_at_element(pass->sum, &pass->slice, from, pass->level), data,
           (size_t)(n * g->size));
    memset(data, 0, (size_t)(n * g->size));
}

void gradient_clear_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    memset(store_at_element(pass->sum, &pass->slice, from), 0, (size_t)(n * g->size));
}

/* to = left + to */
static void add_run(void *to, const void *left, TfcType type, int64_t n)
{
    if (type == TFC_F64) {
        double *sum = to;
        const double *other = left;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sum[i] = other[i] + sum[i];
    } else {
        float *sum = to;
        const float *other = left;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            sum[i] = other[i] + sum[i];
    }
}

void gradient_join_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *g = &pass->sum->gradients[pass->slice.tensor];
    add_run(store_at_element(pass->sum, &pass->slice, from),
            room_at_element(pass->sum, &pass->slice, from, pass->level), g->tensor->type, n);
}

/* Rows are added to the gradient that they belong to, and 0 then. */
static void finish_block(const Pass *pass, int64_t from, int64_t n)
{
    const Gradient *rows = &pass->sum->gradients[pass->slice.tensor];
    Slice whole = {.tensor = rows->part};
    add_run(store_at_element(pass->sum, &whole, from),
            store_at_element(pass->sum, &pass->slice, from), rows->tensor->type, n);
    gradient_clear_block(pass, from, n);
}

void gradient_sum_keep(GradientSum *sum, Gradients of, int level)
{
    run_all(sum, of, (Pass){.level = level, .marks = MARKS_MADE, .run = keep_block});
}

void gradient_sum_join(GradientSum *sum, Gradients of, int level)
{
    run_all(sum, of, (Pass){.level = level, .marks = MARKS_USED, .run = gradient_join_block});
}

void gradient_sum_finish(GradientSum *sum)
{
    Gradients rows = sum->all;
    int me = ranks_mine(sum->ranks);
    rows.numbers += sum->parts->n_tensors;
    rows.n -= sum->parts->n_tensors;
    gradient_run_parts(sum, rows, me, me,
                       (Pass){.level = -1, .marks = MARKS_MADE, .run = finish_block});
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
    gradient_run_parts(sum, gradient_sum_params(sum), me, me, (Pass){.run = square_block});
    ranks_sum(sum->ranks, sum->squares, sum->n_blocks);
    for (int64_t i = 0; i < sum->n_blocks; i++)
        total += sum->squares[i];
    return sqrt(total);
}
