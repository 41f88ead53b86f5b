/* The batches of an update, or their pieces, through the programs: what their losses read of all of
 * them, their gradients and losses, and the sums among ranks. */
#include "runtime/train/pieces.h"

#include "base/functions.h"
#include "base/clock.h"
#include "runtime/exec/trace.h"

#include <inttypes.h>

bool pieces_run(Trainer *t, Exec *exec)
{
    if (!t->settings->check_numerics)
        return exec_run(exec) || trainer_out_of_memory(t);
    int step = 0;
    const char *name;
    if (!exec_find_nan(exec, &name, &step))
        return trainer_out_of_memory(t);
    const TrainHooks *hooks = t->hooks;
    const char *why = "";
    Loc place = {0};
    if (name && hooks->place_of_step)
        place = hooks->place_of_step(hooks->user, exec_program(exec), step, &why);
    if (name)
        diag_error(t->diags, place,
                   "step %" PRId64 ": the first NaN was made by '%s' (operation %d)%s",
                   t->state->step + 1, name, step, why);
    return !name;
}

int64_t piece_tokens(const Trainer *t, int64_t index)
{
    BatchShape shape = batches_shape(t->batches, t->state->batch + index);
    return feed_tokens(&t->programs->feed, &shape);
}

uint64_t piece_stream(const Trainer *t, int64_t index)
{
    return (uint64_t)(t->state->step * trainer_batches(t) + index + 1);
}

/* One batch through a program, which has a share of what the update's batches have together. */
static bool run_on_batch(Trainer *t, Exec *exec, const PieceUpdate *update, int64_t index,
                         int64_t tokens)
{
    const float share = (float)((double)tokens / (double)update->tokens);
    int64_t begin = trace_begin();
    batches_fill(t->batches, t->state->batch + index, &t->batch);
    feed_batch(exec, &t->programs->feed, &t->batch);
    trace_end("load batch", begin);
    exec_input(exec, SHARE_INPUT, &share);
    exec_set_rng(exec, t->state->seed, piece_stream(t, index));
    return pieces_run(t, exec);
}

/* One batch through the compute program. */
static bool compute_batch(Trainer *t, const PieceUpdate *update, int64_t index, int64_t tokens,
                          double *loss)
{
    const float rate = update->rate, step = (float)(t->state->step + 1);
    exec_input(t->compute, "rate", &rate);
    exec_input(t->compute, "step", &step);
    if (!run_on_batch(t, t->compute, update, index, tokens))
        return false;
    *loss = *(const float *)exec_output(t->compute, "loss");
    if (t->late)
        totals_take(t->late, t->compute, index);
    return true;
}

/* ---- sums over the batches of an update ---- */

static void finish_totals(Trainer *t, Totals *totals)
{
    int64_t n;
    double *numbers = totals_numbers(totals, &n);
    if (n)
        ranks_sum(t->settings->ranks, numbers, n);
    totals_finish(totals);
}

bool pieces_count(Trainer *t, const PieceUpdate *update)
{
    const Ranks *ranks = t->settings->ranks;
    if (t->late)
        totals_clear(t->late);
    if (!t->counts)
        return true;
    totals_clear(t->early);
    for (int64_t i = 0; i < update->n; i++) {
        int64_t tokens = piece_tokens(t, i);
        if (!tokens || sum_tree_rank(i, update->n, ranks_count(ranks)) != ranks_mine(ranks))
            continue;
        if (!run_on_batch(t, t->counts, update, i, tokens))
            return false;
        totals_take(t->early, t->counts, i);
    }
    finish_totals(t, t->early);
    totals_feed(t->early, t->compute);
    return true;
}

void pieces_feed_totals(Trainer *t, Exec *exec)
{
    if (t->early)
        totals_feed(t->early, exec);
    if (t->late)
        totals_feed(t->late, exec);
    exec_set_rng(exec, t->state->seed, piece_stream(t, 0));
}

/* ---- gradients ---- */

/* Adds the batch's gradient to the store's. */
static bool run_batch(Trainer *t, const PieceUpdate *update, int64_t index)
{
    int64_t tokens = piece_tokens(t, index);
    return !tokens || compute_batch(t, update, index, tokens, &t->losses[index]);
}

static bool run_sum_step(Trainer *t, const PieceUpdate *update, const SumStep *step)
{
    if (step->kind == SUM_PIECE)
        return run_batch(t, update, step->piece);
    int64_t begin = trace_begin();
    double start = clock_seconds();
    sum_tree_do(t->sum, step, gradient_sum_all(t->sum));
    bool meets = step->kind == SUM_MEET || step->kind == SUM_SPREAD;
    trace_end(meets ? "sum gradients" : "sum shards", begin);
    if (meets)
        t->waited_network += clock_seconds() - start;
    return true;
}

/* The steps up to the last piece; those behind it, too, if no overlap does them. */
static bool run_sums(Trainer *t, const PieceUpdate *update)
{
    const Ranks *ranks = t->settings->ranks;
    int64_t n = sum_tree_steps(t->sums, update->n, ranks_count(ranks), ranks_mine(ranks)), here = n;
    bool behind = t->overlap && sum_tree_is_even(update->n, ranks_count(ranks)), ok = true;
    while (behind && here && t->sums[here - 1].kind != SUM_PIECE)
        here--;
    for (int64_t i = 0; ok && i < here - behind; i++)
        ok = run_sum_step(t, update, &t->sums[i]);
    if (!ok || !behind)
        return ok;
    overlap_begin_sums(t->overlap, t->sums + here, n - here);
    ok = !here || run_sum_step(t, update, &t->sums[here - 1]);
    overlap_allow_sums(t->overlap); /* the others wait for them, whatever happened here */
    return ok;
}

bool pieces_compute(Trainer *t, const PieceUpdate *update)
{
    if (t->sum)
        return run_sums(t, update);
    for (int64_t i = 0; i < update->n; i++)
        if (!run_batch(t, update, i))
            return false;
    return true;
}

void pieces_wait(Trainer *t, const PieceUpdate *update)
{
    int64_t begin = trace_begin();
    double start = clock_seconds();
    ranks_sum(t->settings->ranks, t->losses, update->n);
    if (t->late)
        finish_totals(t, t->late);
    t->waited_ranks += clock_seconds() - start;
    if (ranks_count(t->settings->ranks) > 1)
        trace_end("wait for ranks", begin);
    if (t->overlap)
        t->waited_network += overlap_wait_sums(t->overlap);
}
