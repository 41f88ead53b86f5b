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

/* Scoring: one corpus through one model. `loss` is `forward` where one program gives both. */
typedef struct Scoring {
    const ScoreModel *model;
    const Corpus *corpus;
    Feed feed;
    Batches *batches;
    Batch batch;
    Exec *forward, *loss, *counts; /* or NULL */
    Totals *totals;                /* of counts */
    int64_t tokens;                /* of the corpus */
} Scoring;

static Exec *open_exec(const Scoring *s, const TfcProgram *program)
{
    Exec *exec = exec_new(program, s->model->store);
    if (exec && feed_reserve(exec, program, &s->feed, s->batches)) {
        exec_set_rng(exec, 0, 0); /* masks are the same at every validation */
        return exec;
    }
    exec_free(exec);
    return NULL;
}

static bool open_scoring(Scoring *s, int64_t batch_tokens)
{
    const ScoreModel *m = s->model;
    BatchOptions options = {.tokens = batch_tokens, .hides = true}; /* by one seed and epoch */
    bool ok = (s->batches = batches_new(s->corpus, &options, 0)) != NULL;
    if (ok && m->forward)
        ok = (s->forward = open_exec(s, m->forward)) != NULL;
    if (ok && m->loss)
        ok = (s->loss = m->loss == m->forward ? s->forward : open_exec(s, m->loss)) != NULL;
    if (ok && m->loss && m->totals)
        ok = (s->counts = open_exec(s, m->totals)) && (s->totals = totals_new(m->totals, 1));
    for (int64_t i = 0; ok && i < batches_count(s->batches); i++) {
        BatchShape shape = batches_shape(s->batches, i);
        s->tokens += feed_tokens(&s->feed, &shape);
    }
    return ok;
}

static void close_scoring(Scoring *s)
{
    batch_free(&s->batch);
    if (s->loss != s->forward)
        exec_free(s->loss);
    exec_free(s->forward);
    exec_free(s->counts);
    totals_free(s->totals);
    batches_free(s->batches);
}

/* The batch that is loaded through a program. */
static bool run_batch(Scoring *s, Exec *exec)
{
    double tokens = (double)feed_tokens(&s->feed, &s->batch.shape);
    const float share = (float)(tokens / (double)(s->tokens ? s->tokens : 1));
    feed_batch(exec, &s->feed, &s->batch);
    exec_input(exec, SHARE_INPUT, &share);
    return exec_run(exec);
}

static bool count_corpus(Scoring *s)
{
    for (int64_t i = 0; s->counts && i < batches_count(s->batches); i++) {
        batches_fill(s->batches, i, &s->batch);
        if (!run_batch(s, s->counts))
            return false;
        totals_take(s->totals, s->counts, 0);
    }
    if (s->counts) {
        totals_finish(s->totals);
        totals_feed(s->totals, s->loss);
    }
    return true;
}

static bool score_batch(Scoring *s, double *tokens, int32_t *guesses, Scores *out)
{
    out->sentences += s->batch.shape.rows;
    if (s->forward) {
        if (!run_batch(s, s->forward))
            return false;
        const float *logits = exec_output(s->forward, s->model->logits);
        if (!add_rows(logits, vocab_of(s->model), s->corpus, &s->batch, tokens, guesses, out))
            return false;
    }
    if (!s->loss)
        return true;
    if (s->loss != s->forward && !run_batch(s, s->loss))
        return false;
    out->loss += (double)*(const float *)exec_output(s->loss, "loss");
    return true;
}

bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens,
                  double *tokens, int32_t *guesses, Scores *out)
{
    Scoring s = {.model = model, .corpus = corpus, .feed = feed_of_corpus(&model->feed, corpus)};
    *out = (Scores){.loss = model->loss ? 0 : NAN};
    bool ok = open_scoring(&s, batch_tokens) && count_corpus(&s);
    for (int64_t i = 0; ok && i < batches_count(s.batches); i++) {
        batches_fill(s.batches, i, &s.batch);
        ok = score_batch(&s, tokens, guesses, out);
    }
    if (!model->forward) {
        out->tokens = s.tokens;
        out->log_probability = -out->loss * (double)s.tokens;
    }
    close_scoring(&s);
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
