/* What ranks have to have in common, compared before the first step. */
#include "driver/train/ranks.h"

#include "base/map.h"
#include "driver/session/session.h"
#include "driver/session/tuning.h"
#include "runtime/exec/size.h"

#include <inttypes.h>
#include <string.h>

bool training_ranks_choose(Job *job, Ranks *ranks)
{
    TfcChoice choice = {{0}};
    bool ok = ranks_mine(ranks) || session_choice(job, &choice);
    if (!ok || !ranks)
        return ok;
    ranks_share(ranks, &choice, sizeof choice);
    job->choice = arena_copy(job->arena, &choice, sizeof choice);
    return true;
}

/* ---- comparing ---- */

/* A name and what it stands for, each with its NUL. */
static void put_fact(Text *out, const char *name, const char *value)
{
    text_put(out, name, strlen(name) + 1);
    text_put(out, value, strlen(value) + 1);
}

static uint64_t hash_params(Store *store)
{
    uint64_t hash = HASH_SEED;
    for (int64_t i = 0; i < store_count(store); i++) {
        const StoreTensor *tensor = store_at(store, i);
        if (store_is_param(tensor))
            hash = hash_bytes(hash, tensor->data, (size_t)(tensor->count * type_bytes(tensor->type)));
    }
    return hash;
}

/* All that decides the bits, and each text by its checksum. */
static void put_facts(Training *t, const RunRecord *record, Text *out)
{
    Arena *arena = t->job->arena;
    for (size_t i = 0; i < record->facts.count; i++)
        put_fact(out, record->facts.data[i].name, record->facts.data[i].value);
    for (size_t i = 0; i < record->texts.count; i++)
        put_fact(out, arena_printf(arena, "the text of --%s", record->texts.data[i].option),
                 record->texts.data[i].sha256);
    put_fact(out, "the step to go on from", arena_printf(arena, "%" PRId64, t->state.step));
    put_fact(out, "what the params begin with, as a hash,",
             arena_printf(arena, "%016" PRIx64, hash_params(t->store)));
}

/* Tells each fact that is another; both texts end in NUL. */
static bool compare(Training *t, const char *first, size_t n_first, const char *own, size_t n_own)
{
    const char *end = first + n_first, *own_end = own + n_own;
    bool same = true;
    while (first < end && own < own_end) {
        const char *value = first + strlen(first) + 1, *own_value = own + strlen(own) + 1;
        if (strcmp(first, own) || strcmp(value, own_value))
            same = job_error(t->job, "%s is '%s' here and '%s' on rank 0", own, own_value, value);
        first = value + strlen(value) + 1;
        own = own_value + strlen(own_value) + 1;
    }
    return same && (n_first == n_own || job_error(t->job, "rank 0 has other texts"));
}

static bool same_everywhere(Training *t, const RunRecord *record)
{
    const Ranks *ranks = t->options->ranks;
    Text own = {0};
    put_facts(t, record, &own);
    int64_t n = (int64_t)own.length;
    ranks_share(ranks, &n, sizeof n);
    char *first = ARENA_ARRAY(t->job->arena, char, n + 1);
    if (!ranks_mine(ranks))
        memcpy(first, own.data, own.length);
    ranks_share(ranks, first, n);
    bool same = compare(t, first, (size_t)n, own.data, own.length);
    text_free(&own);
    return same;
}

/* ---- what can be shared ---- */

static bool can_share(Training *t)
{
    int64_t count = ranks_count(t->options->ranks), shards = t->settings.batch.shards;
    if (count > 1 && shards < 2)
        return job_error(t->job, "--shards 1 leaves %" PRId64 " ranks nothing to share", count);
    if (count > shards && !ranks_mine(t->options->ranks))
        diag_warning(&t->job->diags, (Loc){0},
                     "%" PRId64 " ranks share %" PRId64 " shards: %" PRId64 " have nothing to do",
                     count, shards, count - shards);
    return true;
}

bool training_ranks_agree(Training *t, const RunRecord *record)
{
    return !t->options->ranks || (can_share(t) && same_everywhere(t, record));
}
