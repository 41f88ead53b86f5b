/* Scoring a corpus. */
#include "runtime/decode/score.h"

#include "base/functions.h"
#include "base/team.h"
#include "runtime/decode/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t vocab_of(const ScoreModel *model)
{
    for (int i = 0; i < model->forward->n_outputs; i++) {
        const TfcPort *port = &model->forward->outputs[i];
        if (!strcmp(port->name, model->logits))
            return port->shape.dims[port->shape.rank - 1].size;
    }
    return 0;
}

/* Rows of logits, and what their next tokens get. */
typedef struct ScoredRows {
    const float *logits;
    int64_t vocab;
    const int32_t *next;
    double *values;
    int32_t *guesses; /* or NULL */
} ScoredRows;

static void score_row(const void *context, int64_t i)
{
    const ScoredRows *r = context;
    const float *row = r->logits + i * r->vocab;
    int32_t next = r->next[i];
    r->values[i] =
        next < 0 || next >= r->vocab ? 0 : row[next] - pick_logsumexp(row, (int32_t)r->vocab);
    if (r->guesses)
        r->guesses[i] = (int32_t)pick_greatest(row, r->vocab);
}

int64_t score_place(const Corpus *corpus, int64_t row)
{
    return corpus->options.kind == CORPUS_STREAM ? row : corpus->target.start[row] + row;
}

int64_t score_tokens(const Corpus *corpus)
{
    return corpus->target.n ? corpus->target.start[corpus->target.n] + corpus->target.n : 0;
}

/* From logits in storage order: a row's tokens follow each other. */
static bool add_rows(const float *logits, int64_t vocab, const Corpus *corpus, const Batch *batch,
                     double *tokens, int32_t *guesses, Scores *out)
{
    size_t total = (size_t)batch->shape.side[SIDE_TARGET].total;
    double *values = malloc(sizeof(double) * (total + 1));
    int32_t *guessed = guesses ? malloc(sizeof(int32_t) * (total + 1)) : NULL;
    if (!values || (guesses && !guessed)) {
        free(values);
        free(guessed);
        return false;
    }
    team_each(exec_threads(), (int32_t)total, score_row,
              &(ScoredRows){logits, vocab, batch->target_next, values, guessed});
    for (int64_t b = 0, at = 0; b < batch->shape.rows; b++) {
        double sum = 0;
        int64_t place = tokens || guesses ? score_place(corpus, batch->row[b]) : 0;
        for (int32_t t = 0; t < batch->lengths[SIDE_TARGET][b]; t++, at++) {
            sum += values[at];
            out->tokens += batch->target_next[at] >= 0;
            if (tokens)
                tokens[place + t] = values[at];
            if (guesses)
                guesses[place + t] = guessed[at];
        }
        out->log_probability += sum;
    }
    free(values);
    free(guessed);
    return true;
}

/* Scorer
 *   forward, loss, counts   of the model's programs, or NULL; `loss` is `forward` where one program
 *                           gives both
 *   totals                  of counts
 *   tokens                  of all corpora
 *   is_counted              all corpora are counted
 *   batches                 of the current corpus, in the memory of those before */
struct Scorer {
    const ScoreModel *model;
    int64_t batch_tokens;
    Exec *forward, *loss, *counts;
    Totals *totals;
    int64_t tokens;
    bool is_counted;
    Scores sums;
    const Corpus *corpus;
    Feed feed;
    Batches *batches;
    Batch batch;
};

static Exec *open_exec(const TfcProgram *program, Store *store)
{
    Exec *exec = exec_new(program, store);
    if (exec)
        exec_set_rng(exec, 0, 0); /* masks are the same at every validation */
    return exec;
}

Scorer *scorer_new(const ScoreModel *m, int64_t batch_tokens)
{
    Scorer *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = m;
    s->batch_tokens = batch_tokens;
    s->sums = (Scores){.loss = m->loss ? 0 : NAN};
    bool ok = true;
    if (m->forward)
        ok = (s->forward = open_exec(m->forward, m->store)) != NULL;
    if (ok && m->loss)
        ok = (s->loss = m->loss == m->forward ? s->forward : open_exec(m->loss, m->store)) != NULL;
    if (ok && m->loss && m->totals)
        ok = (s->counts = open_exec(m->totals, m->store)) && (s->totals = totals_new(m->totals, 1));
    if (ok)
        return s;
    scorer_free(s);
    return NULL;
}

void scorer_free(Scorer *s)
{
    if (!s)
        return;
    batches_free(s->batches);
    batch_free(&s->batch);
    if (s->loss != s->forward)
        exec_free(s->loss);
    exec_free(s->forward);
    exec_free(s->counts);
    totals_free(s->totals);
    free(s);
}

/* Cuts a corpus into batches; tokens are hidden by one seed and epoch. */
static bool open_batches(Scorer *s, const Corpus *corpus)
{
    const BatchOptions options = {.tokens = s->batch_tokens, .hides = true};
    s->corpus = corpus;
    s->feed = feed_of_corpus(&s->model->feed, corpus);
    s->batches = batches_renew(s->batches, corpus, &options, 0);
    return s->batches != NULL;
}

static bool reserve(const Scorer *s, Exec *exec, const TfcProgram *program)
{
    return !exec || feed_reserve(exec, program, &s->feed, s->batches);
}

/* The batch that is loaded through a program. */
static bool run_batch(Scorer *s, Exec *exec)
{
    double tokens = (double)feed_tokens(&s->feed, &s->batch.shape);
    const float share = (float)(tokens / (double)(s->tokens ? s->tokens : 1));
    feed_batch(exec, &s->feed, &s->batch);
    exec_input(exec, SHARE_INPUT, &share);
    return exec_run(exec);
}

/* Whether each row is in one batch, whole. */
static bool has_rows_once(const Corpus *corpus)
{
    return corpus->options.kind != CORPUS_STREAM && !corpus->prepared && !corpus->n_parts &&
           !corpus->n_draws;
}

/* The rows as one batch: its tokens are those of all batches. */
static BatchShape shape_of_rows(const Corpus *corpus)
{
    BatchShape shape = {.rows = corpus->own};
    for (int side = 0; side <= corpus_last_side(corpus); side++)
        for (int64_t i = 0; i < corpus->own; i++)
            shape.side[side].total += corpus_side_length(corpus, i, side);
    return shape;
}

bool scorer_count(Scorer *s, const Corpus *corpus)
{
    if (!s->counts && has_rows_once(corpus)) {
        const BatchShape shape = shape_of_rows(corpus);
        s->tokens += feed_tokens(&s->model->feed, &shape);
        return true;
    }
    if (!open_batches(s, corpus) || !reserve(s, s->counts, s->model->totals))
        return false;
    for (int64_t i = 0; i < batches_count(s->batches); i++) {
        const BatchShape shape = batches_shape(s->batches, i);
        s->tokens += feed_tokens(&s->feed, &shape);
        if (!s->counts)
            continue;
        batches_fill(s->batches, i, &s->batch);
        if (!run_batch(s, s->counts))
            return false;
        totals_take(s->totals, s->counts, 0);
    }
    return true;
}

static void finish_counts(Scorer *s)
{
    if (!s->is_counted && s->counts) {
        totals_finish(s->totals);
        totals_feed(s->totals, s->loss);
    }
    s->is_counted = true;
}

static bool score_batch(Scorer *s, double *tokens, int32_t *guesses)
{
    s->sums.sentences += s->batch.shape.rows;
    if (s->forward) {
        if (!run_batch(s, s->forward))
            return false;
        const float *logits = exec_output(s->forward, s->model->logits);
        if (!add_rows(logits, vocab_of(s->model), s->corpus, &s->batch, tokens, guesses, &s->sums))
            return false;
    }
    if (!s->loss)
        return true;
    if (s->loss != s->forward && !run_batch(s, s->loss))
        return false;
    s->sums.loss += (double)*(const float *)exec_output(s->loss, "loss");
    return true;
}

bool scorer_add(Scorer *s, const Corpus *corpus, double *tokens, int32_t *guesses)
{
    finish_counts(s);
    bool ok = open_batches(s, corpus) && reserve(s, s->forward, s->model->forward) &&
              (s->loss == s->forward || reserve(s, s->loss, s->model->loss));
    for (int64_t i = 0; ok && i < batches_count(s->batches); i++) {
        batches_fill(s->batches, i, &s->batch);
        ok = score_batch(s, tokens, guesses);
    }
    return ok;
}

void scorer_finish(const Scorer *s, Scores *out)
{
    *out = s->sums;
    if (s->model->forward)
        return;
    out->tokens = s->tokens;
    out->log_probability = -out->loss * (double)s->tokens;
}

bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens,
                  double *tokens, int32_t *guesses, Scores *out)
{
    Scorer *s = scorer_new(model, batch_tokens);
    const bool ok = s && scorer_count(s, corpus) && scorer_add(s, corpus, tokens, guesses);
    if (ok)
        scorer_finish(s, out);
    scorer_free(s);
    return ok;
}

double score_token_loss(const Scores *scores)
{
    return scores->tokens ? -scores->log_probability / (double)scores->tokens : NAN;
}

bool score_losses_differ(double own, double token_loss)
{
    const double rounding = 1e-5;
    return isfinite(own) && !(fabs(own - token_loss) <= rounding * fmax(1, fabs(token_loss)));
}
