/* The training loop: steps, and when it ends. */
#define _GNU_SOURCE
#include "runtime/train/trainer.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "runtime/exec/trace.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The ids and values of all rows. */
static uint64_t hash_rows(uint64_t hash, const Corpus *corpus)
{
    for (int k = 0; k < corpus_values(&corpus->options); k++) {
        const Ids *values = &corpus->values[k].ids;
        if (k < FIRST_COLUMN)
            hash = hash_u64(hash, values->count);
        hash = hash_bytes(hash, values->data, values->count * sizeof(int32_t));
    }
    return hash;
}

uint64_t train_config(const TrainSettings *s, const Corpus *corpus)
{
    uint64_t hash = hash_rows(hash_u64(HASH_SEED, vocab_hash(corpus->vocab)), corpus);
    if (corpus->prepared)
        hash = hash_string(hash, corpus->prepared->sha256);
    for (int i = 0; i < corpus->n_mixed; i++) {
        const PreparedPart *part = &corpus->mixed[i];
        hash = part->prepared ? hash_string(hash, part->prepared->sha256)
                              : hash_rows(hash, part->rows);
        hash = hash_bytes(hash, &part->weight, sizeof part->weight);
    }
    for (int i = 0; i < corpus->n_parts; i++)
        hash = hash_bytes(hash, &corpus->parts[i], sizeof corpus->parts[i]);
    const int64_t numbers[] = {corpus_kind_numbers[corpus->options.kind],
                               corpus->options.max_length,
                               s->batch.tokens,
                               s->batch.sentences,
                               (int64_t)s->batch.seed,
                               s->accumulate};
    hash = hash_bytes(hash, numbers, sizeof numbers);
    if (s->batch.distinct)
        hash = hash_string(hash, "distinct");
    return s->batch.shards > 1 ? hash_u64(hash, (uint64_t)s->batch.shards) : hash;
}

/* ---- the loop ---- */

static bool is_out_of_patience(const Trainer *t)
{
    return t->settings->patience > 0 && t->state->bad >= t->settings->patience;
}

static bool is_over(const Trainer *t)
{
    const TrainSettings *s = t->settings;
    return (s->steps > 0 && t->state->step >= s->steps) ||
           (s->seconds > 0 && trainer_spent(t) >= s->seconds) || is_out_of_patience(t);
}

/* Verdict: what rank 0 knows after a step. Time goes on between two looks at it: what is the last
 * step is decided once. */
typedef struct Verdict {
    TrainState state;
    bool last;
} Verdict;

/* Tells, validates and saves as it is due, on rank 0; all ranks go on from its state. */
static bool end_step(Trainer *t, bool *last)
{
    const Ranks *ranks = t->settings->ranks;
    const Split *split = t->programs->split;
    Verdict verdict = {0};
    if (trainer_is_first(t)) {
        bool over = is_over(t);
        if (!trainer_after_step(t, over))
            return false;
        verdict = (Verdict){*t->state, over || is_out_of_patience(t)};
        if (split)
            split_end_serving(split);
    } else if (!split_serve(split, t->diags))
        return false;
    ranks_share(ranks, &verdict, sizeof verdict);
    *t->state = verdict.state;
    if (!trainer_is_first(t))
        t->state->thresholds = NULL; /* rank 0's memory */
    *last = verdict.last;
    return true;
}

/* Whether this rank or another was asked to. */
static bool must_stop(const Trainer *t)
{
    const TrainSettings *s = t->settings;
    double asked = s->stop && *s->stop;
    ranks_sum(s->ranks, &asked, 1);
    return asked > 0;
}

static TrainEnd interrupt(Trainer *t)
{
    const Split *split = t->programs->split;
    bool saved;
    if (trainer_is_first(t)) {
        saved = (t->saved_step == t->state->step || trainer_save(t, false)) && trainer_log_rest(t);
        if (saved && split)
            split_end_serving(split);
    } else
        saved = split_serve(split, t->diags);
    return saved ? TRAIN_INTERRUPTED : TRAIN_FAILED;
}

static TrainEnd run_loop(Trainer *t)
{
    const TrainSettings *s = t->settings;
    for (bool last = is_over(t); !last;) {
        if (must_stop(t))
            return interrupt(t);
        if (!trainer_step(t))
            return TRAIN_FAILED;
        trainer_pace(t);
        if (!end_step(t, &last))
            return TRAIN_FAILED;
    }
    if (trainer_is_first(t) && s->average > 1 && !trainer_average(t))
        return TRAIN_FAILED;
    return TRAIN_DONE;
}

/* What a run that was cut off left behind it goes. */
static bool clean_folder(Trainer *t)
{
    Arena *arena = arena_new();
    unlink(file_in(arena, t->settings->folder, "average.safetensors"));
    if (!t->state->step) {
        unlink(file_in(arena, t->settings->folder, "best.safetensors"));
        unlink(file_in(arena, t->settings->folder, "last.safetensors"));
    }
    run_prune(arena, t->settings->folder, t->state->step, INT64_MAX);
    arena_free(arena);
    bool ok = runlog_cut(t->diags, t->settings->folder, t->state->step, &t->earlier);
    t->state->seconds = t->earlier;
    return ok;
}

/* Whether ranks have the folder together; it is better known now than at the first checkpoint. */
static bool try_folder(Trainer *t, const Split *split)
{
    Arena *arena = arena_new();
    bool ok = split_try(split, t->diags, file_in(arena, t->settings->folder, "last.safetensors"));
    arena_free(arena);
    return ok;
}

static bool open_sums(Trainer *t, const Split *split)
{
    int64_t most = trainer_batches(t);
    t->sum = gradient_sum_new(t->store, split->parts, split->ranks, most,
                              t->settings->rounded_gradients);
    t->sums = calloc((size_t)sum_tree_most(most), sizeof *t->sums);
    return t->sum && t->sums && overlap_new(&t->overlap, split, t->sum, t->compute);
}

/* What an update of several batches adds up besides gradients. */
static bool open_totals(Trainer *t)
{
    const TrainPrograms *p = t->programs;
    int64_t most = trainer_batches(t);
    t->counts = p->totals ? exec_new(p->totals, t->store) : NULL;
    t->states = p->states ? exec_new(p->states, t->store) : NULL;
    t->early = p->totals ? totals_new(p->totals, most) : NULL;
    t->late = totals_new(p->accumulate, most);
    return (!p->totals || (t->counts && t->early)) && (!p->states || t->states) && t->late;
}

static int64_t slab_bytes(const Trainer *t)
{
    const Exec *all[] = {t->compute, t->update, t->counts, t->states};
    int64_t bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += all[i] ? exec_slab_bytes(all[i]) : 0;
    return bytes;
}

/* Whether every step is hashed, as rank 0 wants it. */
static bool wants_hashes(const TrainSettings *s)
{
    bool wants = s->hashes;
    ranks_share(s->ranks, &wants, sizeof wants);
    return wants;
}

static bool open_trainer(Trainer *t)
{
    const TrainPrograms *p = t->programs;
    t->compute = exec_new(trainer_program(t), t->store);
    const Split *split = p->split;
    t->update = p->update ? exec_new(p->update, split ? split->own : t->store) : NULL;
    t->losses = calloc((size_t)trainer_batches(t), sizeof *t->losses);
    if (!t->compute || (p->update && !t->update) || !t->losses || (split && !open_sums(t, split)) ||
        (p->accumulate && !open_totals(t)))
        return trainer_out_of_memory(t);
    if (!trainer_open_epoch(t) || !checkpoint_check(t->diags, "before the first step", t->store))
        return false;
    if (wants_hashes(t->settings))
        t->hashes = step_hashes_new(t->diags->arena, t->store);
    int64_t slab = slab_bytes(t) + (split ? gradient_sum_bytes(t->sum) + split_bytes(split) : 0);
    t->hooks->planned(t->hooks->user, slab,
                      store_bytes(t->store) + (split ? store_own_bytes(split->own) : 0));
    return (!trainer_is_first(t) || clean_folder(t)) && (!split || try_folder(t, split));
}

TrainEnd train(Diagnostics *diags, const TrainPrograms *programs, const TrainSettings *settings,
               const TrainHooks *hooks, Corpus *corpus, Store *store, TrainState *state)
{
    Trainer t = {.diags = diags,
                 .programs = programs,
                 .settings = settings,
                 .hooks = hooks,
                 .corpus = corpus,
                 .store = store,
                 .state = state,
                 .start = clock_seconds(),
                 .saved_step = state->step,
                 .validated_step = state->step,
                 .norm = NAN};
    t.report_start = t.start;
    TrainEnd end = open_trainer(&t) ? run_loop(&t) : TRAIN_FAILED;
    overlap_free(t.overlap);
    exec_free(t.compute);
    exec_free(t.update);
    exec_free(t.counts);
    exec_free(t.states);
    totals_free(t.early);
    totals_free(t.late);
    gradient_sum_free(t.sum);
    free(t.sums);
    free(t.losses);
    batches_free(t.batches);
    corpus_free(t.window);
    batch_free(&t.batch);
    return end;
}
