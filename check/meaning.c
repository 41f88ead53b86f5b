/* Compiled code against the oracle, which shares nothing with it: every output, and every param
 * that a run changes, on every batch. No element may be further off than rounding can bring it;
 * as that bound grows with every op, each tensor is held to a part of its size, too. */
#include "check/interpret.h"

#include <inttypes.h>
#include <math.h>

/* A tensor of a program beside the oracle's. */
typedef struct Pair {
    const OracleTensor *expected;
    TfcType type;
    const void *found;
    double size, apart;         /* ||expected|| and ||found - expected|| of what is finite */
    int64_t open, wrong, worst; /* may be anything; beyond the bound; the element most apart */
} Pair;

typedef VEC(Pair) MeaningPairs;

typedef struct Tally {
    int64_t elements, open;
    double tolerance, worst; /* part of a tensor's size */
    const char *worst_name, *open_batch;
    const char *wrong; /* the first that is; NULL: none */
    int n_wrong;       /* tensors, of all batches */
} Tally;

static double found_at(const Pair *p, int64_t i) { return check_element(p->type, p->found, i); }

static void measure_pair(Pair *p)
{
    double squares = 0, distance = 0, most = -1;
    for (int64_t i = 0; i < p->expected->count; i++) {
        double found = found_at(p, i), value = p->expected->data[i];
        bool undecided_truth = p->type == TFC_BOOL && p->expected->error[i] > 0;
        if (p->expected->exists && !p->expected->exists[i])
            continue;
        bool open = undecided_truth || isnan(value) ||
                    (!isfinite(value) && p->expected->error[i] == INFINITY);
        p->open += open;
        if (open || found == value)
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
    double part = p->apart > 0 ? p->apart / fmax(p->size, CHECK_SMALL * greatest) : 0;
    t->elements += p->expected->count;
    t->open += p->open;
    if (p->open && !t->open_batch)
        t->open_batch = batch->name;
    if (!(part <= t->worst)) {
        t->worst = part;
        t->worst_name = arena_strdup(arena, p->expected->name);
    }
    if (part <= t->tolerance && !p->wrong)
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
            Pair pair = {expected, param->type, param->data, 0, 0, 0, 0, 0};
            vec_push(in->arena, *pairs, pair);
        }
    }
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
