/* Scoring a corpus. */
#include "runtime/decode/score.h"

#include "base/team.h"
#include "runtime/decode/pick.h"

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

static int32_t greatest(const float *row, int64_t n)
{
    int32_t at = 0;
    for (int32_t i = 1; i < n; i++)
        if (row[i] > row[at])
            at = i;
    return at;
}

static void score_row(const void *context, int64_t i)
{
    const ScoredRows *r = context;
    const float *row = r->logits + i * r->vocab;
    int32_t next = r->next[i];
    r->values[i] = next < 0 || next >= r->vocab ? 0 : row[next] - pick_logsumexp(row, (int32_t)r->vocab);
    if (r->guesses)
        r->guesses[i] = greatest(row, r->vocab);
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
    size_t total = (size_t)batch->shape.target_total;
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
        for (int32_t t = 0; t < batch->target_lengths[b]; t++, at++) {
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

static bool score_batches(const ScoreModel *model, Exec *exec, const Corpus *corpus,
                          const Batches *batches, Batch *batch, double *tokens, int32_t *guesses,
                          Scores *out)
{
    for (int64_t i = 0; i < batches_count(batches); i++) {
        batches_fill(batches, i, batch);
        feed_batch(exec, &model->feed, batch);
        if (!exec_run(exec))
            return false;
        out->sentences += batch->shape.rows;
        if (model->forward) {
            const float *logits = exec_output(exec, model->logits);
            if (!add_rows(logits, vocab_of(model), corpus, batch, tokens, guesses, out))
                return false;
            continue;
        }
        int64_t n = feed_tokens(&model->feed, &batch->shape);
        out->log_probability -= *(const float *)exec_output(exec, "loss") * (double)n;
        out->tokens += n;
    }
    return true;
}

bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens,
                  double *tokens, int32_t *guesses, Scores *out)
{
    *out = (Scores){0};
    const TfcProgram *program = model->forward ? model->forward : model->loss;
    BatchOptions options = {.tokens = batch_tokens};
    Batches *batches = batches_new(corpus, &options, 0);
    Exec *exec = exec_new(program, model->store);
    Batch batch = {0};
    bool ok = batches && exec && feed_reserve(exec, program, &model->feed, batches);
    if (ok) {
        exec_set_rng(exec, 0, 0); /* masks are the same at every validation */
        ok = score_batches(model, exec, corpus, batches, &batch, tokens, guesses, out);
    }
    batch_free(&batch);
    exec_free(exec);
    batches_free(batches);
    return ok;
}
