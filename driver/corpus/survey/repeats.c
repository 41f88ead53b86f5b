/* Comparing hashes with those before. */
#include "driver/corpus/survey/repeats.h"

Repeats repeats_begin(Findings *findings, const SurveyOptions *options)
{
    Repeats repeats = {.findings = findings,
                       .kinds = {{SURVEY_duplicate, SURVEY_overlap}},
                       .n = 1,
                       .n_held = options->valid.count};
    repeats.held = ARENA_ARRAY(findings->job->arena, HeldText, repeats.n_held + 1);
    for (size_t v = 0; v < repeats.n_held; v++)
        repeats.held[v].name = options->valid.data[v].name;
    return repeats;
}

void repeats_hold(Repeats *repeats, size_t v, const uint64_t *hashes)
{
    HeldText *held = &repeats->held[v];
    for (int k = 0; k < repeats->n; k++) {
        line_hashes_add(&held->hashes[k], hashes[k], (int64_t)held->rows[k].count + 1);
        vec_push(repeats->findings->job->arena, held->rows[k], hashes[k]);
    }
}

static void find_again(Repeats *r, const RawPair *pair, int64_t number, const uint64_t *hashes)
{
    int64_t before[REPEAT_KEYS] = {0};
    for (int k = 0; k < r->n; k++)
        before[k] = line_hashes_add(&r->seen[k], hashes[k], number);
    for (int k = 0; k < (before[0] ? 1 : r->n); k++)
        if (before[k])
            findings_add(r->findings, r->kinds[k].again, pair, everywhere, "as %s %lld",
                         r->findings->out->data == OF_TABLE ? "record" : "line",
                         (long long)before[k]);
}

static void find_held(Repeats *r, const RawPair *pair, const uint64_t *hashes)
{
    bool is_told[REPEAT_KEYS] = {0};
    for (size_t v = 0; v < r->n_held; v++) {
        HeldText *held = &r->held[v];
        int64_t line[REPEAT_KEYS];
        int key = r->n;
        for (int k = r->n; k-- > 0;) {
            line[k] = line_hashes_find(&held->hashes[k], hashes[k], true);
            key = line[k] ? k : key;
        }
        if (key == r->n || is_told[key])
            continue;
        is_told[key] = true;
        findings_add(r->findings, r->kinds[key].held, pair, everywhere, "%s, %s %lld",
                     held->name ? held->name : "validation",
                     r->findings->out->data == OF_TABLE ? "record" : "line", (long long)line[key]);
    }
}

void repeats_find(Repeats *repeats, const RawPair *pair, int64_t number, const uint64_t *hashes)
{
    find_again(repeats, pair, number, hashes);
    find_held(repeats, pair, hashes);
}

void repeats_put(const Repeats *repeats)
{
    for (size_t v = 0; v < repeats->n_held; v++) {
        const HeldText *held = &repeats->held[v];
        SurveyValid valid = {.name = held->name, .lines = (int64_t)held->rows[0].count};
        for (int k = 0; k < repeats->n; k++)
            for (size_t row = 0; row < held->rows[k].count; row++)
                valid.found[k] += line_hashes_is_marked(&held->hashes[k], held->rows[k].data[row]);
        if (repeats->findings->out->data == OF_TABLE && repeats->n > 1)
            valid.found[1] -= valid.found[0];
        vec_push(repeats->findings->job->arena, repeats->findings->out->valid, valid);
    }
}

void repeats_free(Repeats *repeats)
{
    for (int k = 0; k < REPEAT_KEYS; k++) {
        line_hashes_free(&repeats->seen[k]);
        for (size_t v = 0; v < repeats->n_held; v++)
            line_hashes_free(&repeats->held[v].hashes[k]);
    }
}
