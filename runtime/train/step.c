/* One step of the training: its batches, their gradients' sum, the update. */
#include "runtime/train/pieces.h"

#include "base/clock.h"
#include "base/machine.h"
#include "base/xxh64.h"
#include "runtime/exec/trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool trainer_out_of_memory(Trainer *t)
{
    Text has = {0};
    machine_memory_put(&has);
    diag_error(
        t->diags, (Loc){0},
        "out of memory: %s; smaller --batch-tokens, --memory SIZE (which recomputes values) or "
        "--shards N take less",
        has.data);
    text_free(&has);
    return false;
}

bool trainer_is_first(const Trainer *t) { return !ranks_mine(t->settings->ranks); }

const TfcProgram *trainer_program(const Trainer *t)
{
    return t->programs->step ? t->programs->step : t->programs->accumulate;
}

static bool reserve_for(Trainer *t, Exec *exec, const TfcProgram *program)
{
    const Feed *feed = &t->programs->feed;
    if (!t->corpus->prepared)
        return feed_reserve(exec, program, feed, t->batches);
    BatchShape largest = prepared_largest(t->corpus, &t->settings->batch);
    return feed_reserve_shapes(exec, program, feed, &largest, 1);
}

static bool reserve(Trainer *t)
{
    return reserve_for(t, t->compute, trainer_program(t)) &&
           (!t->counts || reserve_for(t, t->counts, t->programs->totals));
}

/* Whether a dimension that is made of others is too long in a large batch; reports it. */
static bool is_too_long(Trainer *t)
{
    enum { MOST_SHAPES = 32 };
    const TfcProgram *program = trainer_program(t);
    BatchShape shapes[MOST_SHAPES];
    int64_t n = 1;
    if (t->corpus->prepared)
        shapes[0] = prepared_largest(t->corpus, &t->settings->batch);
    else
        n = batches_largest(t->batches, shapes, MOST_SHAPES);
    for (int64_t i = 0; i < n && i < MOST_SHAPES; i++) {
        const int32_t d = feed_too_long(program, &t->programs->feed, &shapes[i]);
        if (d >= 0)
            diag_error(t->diags, (Loc){0},
                       "the dimension %s would be longer than 2^31 - 1 in a batch: smaller "
                       "--batch-tokens or --max-length are needed",
                       program->dims[d].name);
        if (d >= 0)
            return true;
    }
    return false;
}

static void close_rows(Trainer *t)
{
    batches_free(t->batches);
    corpus_free(t->window);
    t->batches = NULL;
    t->window = NULL;
}

/* Batches of the epoch that the state tells of; of prepared data, of its window. */
static bool open_rows(Trainer *t)
{
    const BatchOptions *options = &t->settings->batch;
    const TrainState *s = t->state;
    close_rows(t);
    int64_t begin = trace_begin();
    if (t->corpus->prepared) {
        t->window = prepared_window(t->diags, t->corpus, options->seed, s->epoch, s->window);
        if (!t->window)
            return false;
    }
    t->batches =
        batches_new(t->window ? t->window : t->corpus, options, s->epoch | s->window << 32);
    trace_end("order batches", begin);
    if (t->batches && reserve(t))
        return true;
    return (!t->batches || !is_too_long(t)) && trainer_out_of_memory(t);
}

/* On to what follows the rows that are done. */
static void leave_rows(Trainer *t)
{
    const Prepared *prepared = t->corpus->prepared;
    TrainState *s = t->state;
    s->batch = 0;
    if (prepared &&
        s->window + 1 < prepared_windows(t->corpus, t->settings->batch.seed, s->epoch)) {
        s->window++;
    } else {
        s->window = 0;
        s->epoch++;
    }
}

bool trainer_open_epoch(Trainer *t)
{
    const Prepared *prepared = t->corpus->prepared;
    if (t->batches && t->state->batch < batches_count(t->batches))
        return true;
    if (t->batches)
        leave_rows(t);
    for (size_t empty = 0; open_rows(t); leave_rows(t)) {
        int64_t n = batches_count(t->batches);
        if (t->state->batch < n) /* else saved at the very end of these rows */
            return true;
        if (!n && prepared && ++empty > prepared->shards.count) {
            diag_error(t->diags, (Loc){0}, "%s has no row of at most %" PRId64 " tokens",
                       prepared->folder, t->corpus->options.max_length);
            return false;
        }
    }
    return false;
}

/* Batches of an update, pieces of them where they are cut into shards. */
int64_t trainer_batches(const Trainer *t)
{
    int64_t shards = t->settings->batch.shards;
    return t->settings->accumulate * (shards > 1 ? shards : 1);
}

/* Those that the next update uses: at the end of an epoch perhaps fewer. */
static int64_t count_batches(const Trainer *t)
{
    int64_t left = batches_count(t->batches) - t->state->batch, most = trainer_batches(t);
    return left < most ? left : most;
}

/* The params of this rank's part, to all. */
static void share_params(Trainer *t)
{
    if (t->overlap)
        overlap_begin_params(t->overlap);
    else if (ranks_count(t->settings->ranks) > 1) {
        double begin = clock_seconds();
        split_share_params(t->programs->split, gradient_sum_params(t->sum));
        t->waited_network += clock_seconds() - begin;
    }
    store_changed(t->store);
    t->rounded = split_rounds(t->programs->split);
}

void trainer_settle(Trainer *t) { t->waited_network += overlap_wait_params(t->overlap); }

void trainer_fetch_params(Trainer *t)
{
    trainer_settle(t);
    if (!t->rounded)
        return;
    int64_t begin = trace_begin();
    double start = clock_seconds();
    split_fetch_params(t->programs->split);
    store_changed(t->store);
    t->rounded = false;
    t->waited_network += clock_seconds() - start;
    trace_end("fetch params", begin);
}

/* The gradient is whole; its norm. */
static float finish_sum(Trainer *t)
{
    int64_t begin = trace_begin();
    gradient_sum_finish(t->sum);
    float norm = (float)gradient_sum_norm(t->sum);
    trace_end("finish gradients", begin);
    return norm;
}

/* If hashes are wanted; of `outputs`, or NULL: of the store. */
static bool hash_gradients(Trainer *t, Exec *outputs)
{
    return !t->hashes || step_hashes_gradients(t->hashes, outputs, t->store, t->programs->split) ||
           trainer_out_of_memory(t);
}

/* The params of the next step. */
static bool apply_update(Trainer *t, float rate)
{
    const float step = (float)(t->state->step + 1);
    const Split *split = t->programs->split;
    trainer_settle(t);
    float norm = split ? finish_sum(t) : NAN;
    t->norm = norm;
    if (!hash_gradients(t, NULL))
        return false;
    if (t->states) { /* they read the params that gave the gradient */
        pieces_feed_totals(t, t->states);
        exec_input(t->states, "gradient_norm", &norm);
        if (!pieces_run(t, t->states))
            return false;
    }
    if (t->update) {
        pieces_feed_totals(t, t->update);
        exec_input(t->update, "rate", &rate);
        exec_input(t->update, "step", &step);
        if (split)
            exec_input(t->update, "gradient_norm", &norm);
        if (!pieces_run(t, t->update))
            return false;
    }
    if (split)
        share_params(t);
    return true;
}

/* ---- what is no number ends the training ---- */

static const char *number_text(double value) { return isnan(value) ? "not a number" : "infinite"; }

/* Who computed a batch of the n of an update, where there are several; "" if that is not known. */
static const char *computed_by(Trainer *t, int64_t index, int64_t n)
{
    const Ranks *ranks = t->settings->ranks;
    Arena *arena = t->diags->arena;
    if (ranks_count(ranks) < 2 || index < 0)
        return "";
    return arena_printf(arena, ", as %s computed it",
                        ranks_name_of(ranks, sum_tree_rank(index, n, ranks_count(ranks)), arena));
}

/* `what` of the next step is not finite: an error. `index`: the batch of n that made it so, -1: not
 * known. */
static bool refuse_number(Trainer *t, const char *what, double value, int64_t index, int64_t n)
{
    if (!trainer_is_first(t)) /* which tells it */
        return false;
    const char *help =
        "a lower rate or clipping may help, and --check-numerics names the operation";
    diag_error(t->diags, (Loc){0}, "step %" PRId64 ": %s is %s%s", t->state->step + 1, what,
               number_text(value), computed_by(t, index, n));
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
    if (!trainer_is_first(t))
        return false;
    trainer_settle(t); /* the params that gave it, and none of the others' are asked: they end */
    int64_t bad = -1;
    for (int64_t i = 0; !name && i < n && t->hooks->find_bad_gradient; i++) {
        if (!piece_tokens(t, i))
            continue;
        batches_fill(t->batches, t->state->batch + i, &t->batch);
        name = t->hooks->find_bad_gradient(t->hooks->user, &t->batch, piece_stream(t, i), &value);
        bad = name ? i : -1;
    }
    return refuse_number(t,
                         name ? arena_printf(t->diags->arena, "the gradient of '%s'", name)
                              : "the norm of the gradient, or the update that it makes,",
                         value, bad, n);
}

/* The batches have parts of the update's loss. */
static bool add_losses(Trainer *t, const PieceUpdate *update)
{
    double loss = 0;
    for (int64_t i = 0; i < update->n; i++) {
        if (!isfinite(t->losses[i]))
            return refuse_number(t, "the loss", t->losses[i], i, update->n);
        loss += t->losses[i];
    }
    if (t->hashes)
        t->hashes->loss = xxh64(&loss, sizeof loss, 0);
    t->loss_sum += loss * (double)update->tokens;
    t->loss_tokens += update->tokens;
    return true;
}

bool trainer_step(Trainer *t)
{
    if (!trainer_open_epoch(t))
        return false;
    PieceUpdate update = {.n = count_batches(t),
                          .rate = (float)trainer_rate(t, t->state->step + 1)};
    if (!isfinite(update.rate))
        return refuse_number(t, "the rate", update.rate, -1, update.n);
    for (int64_t i = 0; i < update.n; i++)
        update.tokens += piece_tokens(t, i);
    memset(t->losses, 0, (size_t)update.n * sizeof *t->losses);
    if (!pieces_count(t, &update) || !pieces_compute(t, &update))
        return false;
    pieces_wait(t, &update);
    if (!add_losses(t, &update) ||
        !(t->programs->step ? hash_gradients(t, t->compute) : apply_update(t, update.rate)))
        return false;
    /* infinite, too, where the update would not be finite; of a rank without a part there is only
     * the sum's */
    const float *norm = exec_output(t->update ? t->update : t->compute, "gradient_norm");
    if (norm || !t->sum)
        t->norm = norm ? *norm : NAN;
    if ((norm || t->sum) && !isfinite(t->norm))
        return refuse_gradient(t, update.n, t->norm);
    t->state->batch += update.n;
    t->state->step++;
    t->state->seconds = trainer_spent(t);
    return true;
}
