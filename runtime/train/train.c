/* The training loop: batches, updates, and when it ends. */
#define _GNU_SOURCE
#include "runtime/train/trainer.h"

#include "base/map.h"
#include "runtime/exec/trace.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

double trainer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool out_of_memory(Trainer *t)
{
    diag_error(t->diags, (Loc){0}, "out of memory");
    return false;
}

uint64_t train_config(const TrainSettings *s, const Corpus *corpus)
{
    uint64_t hash = hash_u64(HASH_SEED, vocab_hash(corpus->vocab));
    const Rows *sides[] = {&corpus->source, &corpus->target};
    for (int i = 0; i < 2; i++) {
        hash = hash_u64(hash, sides[i]->ids.count);
        hash = hash_bytes(hash, sides[i]->ids.data, sides[i]->ids.count * sizeof(int32_t));
    }
    for (int i = 0; i < corpus->n_parts; i++)
        hash = hash_bytes(hash, &corpus->parts[i], sizeof corpus->parts[i]);
    const int64_t numbers[] = {corpus->options.kind, corpus->options.max_length, s->batch.tokens,
                               s->batch.sentences,   (int64_t)s->batch.seed,     s->accumulate};
    hash = hash_bytes(hash, numbers, sizeof numbers);
    return s->batch.shards > 1 ? hash_u64(hash, (uint64_t)s->batch.shards) : hash;
}

/* ---- the rate ---- */

double trainer_rate(const Trainer *t, int64_t step)
{
    RateSettings rate = t->settings->rate;
    if (t->state->horizon)
        rate.steps = t->state->horizon;
    return schedule_rate(&rate, step);
}

/* A rate that falls over the whole run, in a run that only time ends: when the
 * warm-up is over it is known how long a step takes, and so how many there will be.
 * The estimate is renewed now and then, for the machine may have other work at times.
 * The state keeps it, so that a resumed run goes on along the same curve. */
static void set_horizon(Trainer *t)
{
    enum { STEPS_AN_ESTIMATE = 50 };
    const TrainSettings *s = t->settings;
    int64_t step = t->state->step;
    if (!rate_falls(&s->rate) || s->rate.steps || s->seconds <= 0 || step < s->rate.warmup ||
        step < 1)
        return;
    if (t->state->horizon && !(t->own_horizon && step % STEPS_AN_ESTIMATE == 0))
        return;
    double spent = trainer_now() - t->start, a_step = t->state->seconds / (double)step;
    t->state->horizon = step + 1 + (int64_t)(fmax(s->seconds - spent, 0) / a_step);
    t->own_horizon = true;
}

/* ---- one step ---- */

static const TfcProgram *compute_program(const Trainer *t)
{
    return t->programs->step ? t->programs->step : t->programs->accumulate;
}

/* Batches of the epoch, at the place where the state says; a new one when over. */
static bool open_epoch(Trainer *t)
{
    if (t->batches && t->state->batch < batches_count(t->batches))
        return true;
    if (t->batches) {
        t->state->epoch++;
        t->state->batch = 0;
    }
    batches_free(t->batches);
    int64_t begin = trace_begin();
    t->batches = batches_new(t->corpus, &t->settings->batch, t->state->epoch);
    trace_end("order batches", begin);
    if (!t->batches ||
        !feed_reserve(t->compute, compute_program(t), &t->programs->feed, t->batches))
        return out_of_memory(t);
    if (t->state->batch >= batches_count(t->batches)) { /* saved at the very end of an epoch */
        t->state->epoch++;
        t->state->batch = 0;
        batches_free(t->batches);
        t->batches = NULL;
        return open_epoch(t);
    }
    return true;
}

static bool run_checked(Trainer *t, Exec *exec)
{
    if (!t->settings->check_numerics)
        return exec_run(exec) || out_of_memory(t);
    int step = 0;
    const char *name = exec_find_nan(exec, &step);
    if (name)
        diag_error(t->diags, (Loc){0},
                   "step %" PRId64 ": the first NaN was made by '%s' (operation %d)",
                   t->state->step + 1, name, step);
    return !name;
}

/* Batches of an update, pieces of them where they are cut into shards. */
static int64_t most_batches(const Trainer *t)
{
    int64_t shards = t->settings->batch.shards;
    return t->settings->accumulate * (shards > 1 ? shards : 1);
}

/* Those that the next update uses: at the end of an epoch perhaps fewer. */
static int64_t count_batches(const Trainer *t)
{
    int64_t left = batches_count(t->batches) - t->state->batch, most = most_batches(t);
    return left < most ? left : most;
}

/* Of a batch of the next step: 0 of a piece without rows. */
static int64_t batch_tokens(const Trainer *t, int64_t index)
{
    BatchShape shape = batches_shape(t->batches, t->state->batch + index);
    return feed_tokens(&t->programs->feed, &shape);
}

/* Random numbers of a batch of the next step. */
static uint64_t stream_of(const Trainer *t, int64_t index)
{
    return (uint64_t)(t->state->step * most_batches(t) + index + 1);
}

/* Update: a step's batches, and how many tokens they have together. */
typedef struct Update {
    int64_t n, tokens;
    float rate;
} Update;

/* One batch through the compute program. */
static bool compute_batch(Trainer *t, const Update *update, int64_t index, int64_t tokens,
                          double *loss)
{
    const float share = (float)((double)tokens / (double)update->tokens), rate = update->rate;
    const float step = (float)(t->state->step + 1);
    int64_t begin = trace_begin();
    batches_fill(t->batches, t->state->batch + index, &t->batch);
    feed_batch(t->compute, &t->programs->feed, &t->batch);
    trace_end("load batch", begin);
    if (t->programs->step) {
        exec_input(t->compute, "rate", &rate);
        exec_input(t->compute, "step", &step);
    } else
        exec_input(t->compute, "weight", &share);
    exec_set_rng(t->compute, t->state->seed, stream_of(t, index));
    if (!run_checked(t, t->compute))
        return false;
    *loss = *(const float *)exec_output(t->compute, "loss");
    return true;
}

static bool apply_update(Trainer *t, float rate)
{
    const float step = (float)(t->state->step + 1);
    exec_input(t->update, "rate", &rate);
    exec_input(t->update, "step", &step);
    return run_checked(t, t->update);
}

/* ---- what is no number ends the training ---- */

static const char *number_text(double value) { return isnan(value) ? "not a number" : "infinite"; }

/* `what` of the next step is not finite: an error. */
static bool refuse_number(Trainer *t, const char *what, double value)
{
    const char *help =
        "a lower rate or clipping may help, and --check-numerics names the operation";
    diag_error(t->diags, (Loc){0}, "step %" PRId64 ": %s is %s", t->state->step + 1, what,
               number_text(value));
    if (t->saved_step)
        diag_note(t->diags, (Loc){0}, "the last good checkpoint is that of step %" PRId64 "; %s",
                  t->saved_step, help);
    else
        diag_note(t->diags, (Loc){0}, "nothing was saved yet; %s", help);
    return false;
}

/* The update left params and slots as they were (passes/optimizer.c); which gradient was it? */
static bool refuse_gradient(Trainer *t, int64_t n, double norm)
{
    double value = norm;
    const char *name = NULL;
    for (int64_t i = 0; !name && i < n && t->hooks->find_bad_gradient; i++) {
        if (!batch_tokens(t, i))
            continue;
        batches_fill(t->batches, t->state->batch + i, &t->batch);
        name = t->hooks->find_bad_gradient(t->hooks->user, &t->batch, stream_of(t, i), &value);
    }
    return refuse_number(t,
                         name ? arena_printf(t->diags->arena, "the gradient of '%s'", name)
                              : "the norm of the gradient",
                         value);
}

/* Adds the batch's gradient to the store's. */
static bool run_batch(Trainer *t, const Update *update, int64_t index)
{
    int64_t tokens = batch_tokens(t, index);
    double loss;
    if (!tokens)
        return true;
    if (!compute_batch(t, update, index, tokens, &loss))
        return false;
    if (!isfinite(loss))
        return refuse_number(t, "the loss", loss);
    t->loss_sum += loss * (double)tokens;
    t->loss_tokens += tokens;
    return true;
}

/* The sum of the gradients of batches first … first + n - 1, in the store. */
static bool run_tree(Trainer *t, const Update *update, int64_t first, int64_t n, int level)
{
    if (n == 1)
        return run_batch(t, update, first);
    int64_t left = gradient_sum_left(n);
    if (!run_tree(t, update, first, left, level + 1))
        return false;
    gradient_sum_keep(t->sum, level);
    if (!run_tree(t, update, first + left, n - left, level + 1))
        return false;
    gradient_sum_join(t->sum, level);
    return true;
}

static bool run_batches(Trainer *t, const Update *update)
{
    if (t->sum)
        return run_tree(t, update, 0, update->n, 0);
    for (int64_t i = 0; i < update->n; i++)
        if (!run_batch(t, update, i))
            return false;
    return true;
}

static bool run_step(Trainer *t)
{
    if (!open_epoch(t))
        return false;
    Update update = {.n = count_batches(t), .rate = (float)trainer_rate(t, t->state->step + 1)};
    if (!isfinite(update.rate))
        return refuse_number(t, "the rate", update.rate);
    for (int64_t i = 0; i < update.n; i++)
        update.tokens += batch_tokens(t, i);
    if (!run_batches(t, &update) || (t->update && !apply_update(t, update.rate)))
        return false;
    const float *norm = exec_output(t->update ? t->update : t->compute, "gradient_norm");
    t->norm = norm ? *norm : NAN;
    if (norm && !isfinite(*norm))
        return refuse_gradient(t, update.n, *norm);
    t->state->batch += update.n;
    t->state->step++;
    t->state->seconds = t->earlier + trainer_now() - t->start;
    set_horizon(t);
    return true;
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
           (s->seconds > 0 && trainer_now() - t->start >= s->seconds) || is_out_of_patience(t);
}

static TrainEnd run_loop(Trainer *t)
{
    const TrainSettings *s = t->settings;
    /* Time goes on between two looks at it: what is the last step is decided once. */
    for (bool last = is_over(t); !last;) {
        if (s->stop && *s->stop)
            return t->saved_step == t->state->step || trainer_save(t, false) ? TRAIN_INTERRUPTED
                                                                             : TRAIN_FAILED;
        if (!run_step(t))
            return TRAIN_FAILED;
        last = is_over(t);
        if (!trainer_after_step(t, last))
            return TRAIN_FAILED;
        last = last || is_out_of_patience(t);
    }
    if (s->average > 1 && !trainer_average(t))
        return TRAIN_FAILED;
    return TRAIN_DONE;
}

static bool open_trainer(Trainer *t)
{
    const TrainPrograms *p = t->programs;
    t->compute = exec_new(compute_program(t), t->store);
    t->update = p->step ? NULL : exec_new(p->update, t->store);
    bool sums = t->settings->batch.shards > 1;
    t->sum = sums ? gradient_sum_new(t->store, most_batches(t)) : NULL;
    if (!t->compute || (!p->step && !t->update) || (sums && !t->sum))
        return out_of_memory(t);
    if (!open_epoch(t) || !checkpoint_check(t->diags, "before the first step", t->store))
        return false;
    int64_t slab = exec_slab_bytes(t->compute) + (t->update ? exec_slab_bytes(t->update) : 0) +
                   (sums ? gradient_sum_bytes(t->sum) : 0);
    t->hooks->planned(t->hooks->user, slab, store_bytes(t->store));
    /* What a run that was cut off left behind it. */
    Arena *arena = arena_new();
    unlink(run_path(arena, t->settings->folder, "average.safetensors"));
    if (!t->state->step) {
        unlink(run_path(arena, t->settings->folder, "best.safetensors"));
        unlink(run_path(arena, t->settings->folder, "last.safetensors"));
    }
    run_prune(arena, t->settings->folder, t->state->step, INT64_MAX);
    arena_free(arena);
    return runlog_cut(t->diags, t->settings->folder, t->state->step);
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
                 .start = trainer_now(),
                 .earlier = state->seconds,
                 .saved_step = state->step,
                 .validated_step = state->step,
                 .norm = NAN};
    t.report_start = t.start;
    TrainEnd end = open_trainer(&t) ? run_loop(&t) : TRAIN_FAILED;
    exec_free(t.compute);
    exec_free(t.update);
    gradient_sum_free(t.sum);
    batches_free(t.batches);
    batch_free(&t.batch);
    return end;
}
