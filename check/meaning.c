/* Compiled code against the oracle, which shares nothing with it: every output, and every param
 * that a run changes, on every batch. No element may be further off than rounding can bring it;
 * as that bound grows with every op, each tensor is held to a part of its size, too, or to what
 * the roundings of what is read make of it, if that is more. */
#include "check/interpret.h"

#include "base/philox.h"

#include <inttypes.h>
#include <math.h>

/* A tensor of a program beside the oracle's. */
typedef struct Pair {
    const OracleTensor *expected;
    TfcType type;
    const void *found;
    double size, apart;         /* ||expected|| and ||found - expected|| of what is finite */
    double shift;               /* ||expected - expected of what is read, rounded otherwise|| */
    int64_t open, wrong, worst; /* may be anything; beyond the bound; the element most apart */
} Pair;

typedef VEC(Pair) MeaningPairs;

/* A result has gone through so many roundings, of which those of what is read are one. */
static const double ROUNDINGS = 32;

typedef struct Tally {
    int64_t elements, open;
    double tolerance, worst; /* part of a tensor's size */
    const char *worst_name, *open_batch;
    const char *wrong; /* the first that is; NULL: none */
    int n_wrong;       /* tensors, of all batches */
} Tally;

static double found_at(const Pair *p, int64_t i) { return element_value(p->type, p->found, i); }

static void measure_pair(Pair *p)
{
    double squares = 0, distance = 0, most = -1;
    for (int64_t i = 0; i < p->expected->count; i++) {
        double found = found_at(p, i), value = p->expected->data[i];
        bool undecided_truth = p->type == TFC_BOOL && p->expected->error[i] > 0;
        if (p->expected->exists && !p->expected->exists[i])
            continue;
        bool open = undecided_truth || (!isfinite(value) && p->expected->error[i] == INFINITY);
        p->open += open;
        if (open || found == value || (isnan(found) && isnan(value)))
            continue;
        double apart = isfinite(found - value) ? fabs(found - value) : INFINITY;
        distance += apart * apart;
        p->wrong += !oracle_agrees(p->expected, i, found);
        if (apart > most) {
            most = apart;
            p->worst = i;
        }
    }
    for (int64_t i = 0; i < p->expected->count; i++)
        if (isfinite(p->expected->data[i]))
            squares += p->expected->data[i] * p->expected->data[i];
    p->size = sqrt(squares);
    p->apart = sqrt(distance);
}

static void judge_pair(Check *check, const Pair *p, double greatest, const CheckBatch *batch,
                       Tally *t)
{
    Arena *arena = check->job->arena;
    const double size = fmax(p->size, CHECK_SMALL * greatest);
    const double part = p->apart > 0 ? p->apart / size : 0,
                 tolerance = fmax(t->tolerance, ROUNDINGS * p->shift / size);
    t->elements += p->expected->count;
    t->open += p->open;
    if (p->open && !t->open_batch)
        t->open_batch = batch->name;
    if (!(part <= t->worst)) {
        t->worst = part;
        t->worst_name = arena_strdup(arena, p->expected->name);
    }
    if (part <= tolerance && !p->wrong)
        return;
    t->n_wrong++;
    if (!t->wrong)
        t->wrong =
            arena_printf(arena, "%s[%" PRId64 "] on %s: %.9g, interpreted %.9g", p->expected->name,
                         p->worst, batch->name, found_at(p, p->worst), p->expected->data[p->worst]);
}

static void add_pairs(MeaningPairs *pairs, Interpreted *in, Variant *v)
{
    for (size_t i = 0; i < in->run.outputs.count; i++) {
        const OracleTensor *expected = &in->run.outputs.data[i];
        for (int k = 0; k < v->program->n_outputs; k++)
            if (!strcmp(v->program->outputs[k].name, expected->name)) {
                Pair pair = {.expected = expected,
                             .type = v->program->outputs[k].type,
                             .found = exec_output(v->exec, expected->name)};
                vec_push(in->arena, *pairs, pair);
            }
    }
    for (size_t i = 0; i < in->run.assigned.count; i++) {
        const OracleTensor *expected = &in->run.assigned.data[i];
        const StoreTensor *param = store_find(v->store, expected->name);
        if (param) {
            Pair pair = {.expected = expected, .type = param->type, .found = param->data};
            vec_push(in->arena, *pairs, pair);
        }
    }
}

/* Moves each f32 that the function reads by half a unit of its last place, up or down. */
static void round_otherwise(const Check *check, Interpreted *in)
{
    for (size_t g = 0; g < in->given.count; g++) {
        OracleTensor *given = &in->given.data[g];
        for (int64_t i = 0; given->type.dtype == DT_F32 && i < given->count; i++) {
            const uint32_t key[2] = {(uint32_t)check->seed, 79},
                           counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)g, 0};
            uint32_t random[4];
            philox4x32(counter, key, random);
            given->data[i] *= random[0] & 1 ? 1 + 0x1p-24 : 1 - 0x1p-24;
        }
    }
}

static double distance_of(const OracleTensor *a, const OracleTensor *b)
{
    double distance = 0;
    for (int64_t i = 0; i < a->count; i++)
        if (isfinite(a->data[i] - b->data[i]))
            distance += (a->data[i] - b->data[i]) * (a->data[i] - b->data[i]);
    return sqrt(distance);
}

/* The condition of what is computed: how far each tensor moves with what is read. */
static bool measure_shifts(Check *check, Interpreted *in, Variant *v, MeaningPairs *pairs)
{
    MeaningPairs moved = {0};
    round_otherwise(check, in);
    if (!interpreted_run(in))
        return false;
    add_pairs(&moved, in, v);
    for (size_t i = 0; i < pairs->count; i++)
        pairs->data[i].shift = distance_of(pairs->data[i].expected, moved.data[i].expected);
    return true;
}

static bool compare_batch(Check *check, Variant *v, const CheckBatch *batch, Tally *t)
{
    SyntheticOptions shape = check_shape(check, batch);
    if (!variant_feed(check, v, &shape))
        return false;
    Interpreted in;
    interpreted_open(check, v, v->meaning, &in);
    bool ok = interpreted_run(&in) && variant_run(check, v);
    MeaningPairs pairs = {0};
    double greatest = 0;
    if (ok)
        add_pairs(&pairs, &in, v);
    for (size_t i = 0; i < pairs.count; i++) {
        measure_pair(&pairs.data[i]);
        greatest = fmax(greatest, pairs.data[i].size);
    }
    bool beyond = false;
    for (size_t i = 0; i < pairs.count; i++)
        beyond |=
            pairs.data[i].apart > t->tolerance * fmax(pairs.data[i].size, CHECK_SMALL * greatest);
    ok = ok && (!beyond || measure_shifts(check, &in, v, &pairs));
    for (size_t i = 0; i < pairs.count; i++)
        judge_pair(check, &pairs.data[i], greatest, batch, t);
    interpreted_close(&in);
    return ok;
}

static const char *describe(Check *check, const Tally *t)
{
    Arena *arena = check->job->arena;
    if (t->wrong)
        return arena_printf(arena, "%s; %d tensors differ, worst %.1e (%s)", t->wrong, t->n_wrong,
                            t->worst, t->worst_name);
    if (t->open == t->elements)
        return "nothing to compare: no element is a number";
    const char *open = "";
    if (t->open)
        open = arena_printf(arena, "; %" PRId64 " of them no number (first: %s)", t->open,
                            t->open_batch);
    return arena_printf(arena, "%" PRId64 " elements of %d batches, worst %.1e (%s)%s", t->elements,
                        check_batch_count, t->worst, t->worst_name ? t->worst_name : "none", open);
}

bool check_meaning(Check *check, const char *name, Variant *v, double tolerance)
{
    Tally t = {.tolerance = tolerance};
    for (int i = 0; i < check_batch_count; i++)
        if (!compare_batch(check, v, &check_batches[i], &t))
            return false;
    check_row(check, name, t.wrong || t.open == t.elements ? CHECK_FAILED : CHECK_OK,
              describe(check, &t));
    return true;
}
