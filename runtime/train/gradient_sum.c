/* Gradients put aside and added. */
#include "runtime/train/gradient_sum.h"

#include "base/arena.h"
#include "base/team.h"
#include "base/vec.h"
#include "runtime/exec/size.h"

#include <string.h>

enum { BLOCK = 1 << 14 }; /* elements of a task */

/* Part: a gradient in the store, and its place in the room of a level. */
typedef struct Part {
    StoreTensor *tensor;
    int64_t at; /* bytes */
} Part;

struct GradientSum {
    Arena *arena;
    VEC(Part) parts;
    char *room;
    int64_t bytes; /* of a level */
    int levels;
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

GradientSum *gradient_sum_new(Store *store, int64_t pieces)
{
    Arena *arena = arena_try_new();
    GradientSum *sum = arena ? ARENA_NEW(arena, GradientSum) : NULL;
    if (!sum) {
        arena_free(arena);
        return NULL;
    }
    *sum = (GradientSum){.arena = arena, .levels = count_levels(pieces)};
    for (int64_t i = 0; i < store_count(store); i++) {
        StoreTensor *tensor = store_at(store, i);
        if (tensor->role != TFC_GRADIENT)
            continue;
        vec_push(arena, sum->parts, ((Part){tensor, sum->bytes}));
        sum->bytes += (tensor->count * type_bytes(tensor->type) + 63) / 64 * 64;
    }
    sum->room = arena_array(arena, (size_t)sum->levels, (size_t)sum->bytes);
    if (arena_failed(arena)) {
        arena_free(arena);
        return NULL;
    }
    return sum;
}

void gradient_sum_free(GradientSum *sum)
{
    if (sum)
        arena_free(sum->arena);
}

int64_t gradient_sum_bytes(const GradientSum *sum) { return sum->bytes * sum->levels; }

/* ---- a step over all elements ---- */

typedef struct Pass {
    StoreTensor *tensor;
    char *room;
    bool joins;
} Pass;

static void join_block(int type, char *to, const char *left, int64_t n)
{
    if (type == TFC_F64) {
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

static void run_block(const void *context, int64_t index)
{
    const Pass *pass = context;
    const StoreTensor *tensor = pass->tensor;
    int64_t size = type_bytes(tensor->type), begin = index * BLOCK;
    int64_t n = tensor->count - begin < BLOCK ? tensor->count - begin : BLOCK;
    char *data = (char *)tensor->data + begin * size, *room = pass->room + begin * size;
    if (pass->joins) {
        join_block(tensor->type, data, room, n);
        return;
    }
    memcpy(room, data, (size_t)(n * size));
    memset(data, 0, (size_t)(n * size));
}

static void run_pass(GradientSum *sum, int level, bool joins)
{
    Team team;
    team_open(&team, exec_threads(), NULL);
    for (size_t i = 0; i < sum->parts.count; i++) {
        const Part *part = &sum->parts.data[i];
        Pass pass = {part->tensor, sum->room + level * sum->bytes + part->at, joins};
        team_run(&team, (int32_t)((part->tensor->count + BLOCK - 1) / BLOCK), run_block, &pass);
    }
    team_close(&team);
}

void gradient_sum_keep(GradientSum *sum, int level) { run_pass(sum, level, false); }

void gradient_sum_join(GradientSum *sum, int level) { run_pass(sum, level, true); }

/* ---- between ranks ---- */

static int64_t part_bytes(const Part *part)
{
    return part->tensor->count * type_bytes(part->tensor->type);
}

void gradient_sum_send(GradientSum *sum, const Ranks *ranks, int to)
{
    for (size_t i = 0; i < sum->parts.count; i++) {
        const Part *part = &sum->parts.data[i];
        ranks_send(ranks, part->tensor->data, part_bytes(part), to);
        memset(part->tensor->data, 0, (size_t)part_bytes(part));
    }
}

void gradient_sum_receive(GradientSum *sum, const Ranks *ranks, int from)
{
    for (size_t i = 0; i < sum->parts.count; i++)
        ranks_receive(ranks, sum->parts.data[i].tensor->data, part_bytes(&sum->parts.data[i]), from);
}

void gradient_sum_share(GradientSum *sum, const Ranks *ranks)
{
    for (size_t i = 0; i < sum->parts.count; i++)
        ranks_share(ranks, sum->parts.data[i].tensor->data, part_bytes(&sum->parts.data[i]));
}
