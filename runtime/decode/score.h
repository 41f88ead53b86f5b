/* Log-probabilities of given texts, from the logits where the model has them (so without label smoothing), and the
 * model's own loss, as its `loss = …` says, of all texts as of one batch. Models without logits have that alone. */
#ifndef RUNTIME_DECODE_SCORE_H
#define RUNTIME_DECODE_SCORE_H

#include "runtime/decode/feed.h"
#include "runtime/decode/totals.h"

/* ScoreModel: without `forward` there is a loss. */
typedef struct ScoreModel {
    const TfcProgram *forward; /* gives `logits` [B, T~, V] or NULL */
    const TfcProgram *loss;    /* gives a batch's part of "loss" (derive_loss_share), perhaps the same program; or NULL */
    const TfcProgram *totals;  /* gives what the loss reads of the whole corpus; NULL: nothing */
    const char *logits;
    Feed feed;
    Store *store;
} ScoreModel;

typedef struct Scores {
    double log_probability; /* natural, of all target tokens; without logits, of a model's loss a token */
    double loss;            /* the model's own; NAN: it was not asked for */
    int64_t tokens;         /* target tokens, eos included */
    int64_t sentences;
} Scores;

/* Goes once over the corpus in batches of at most batch_tokens. `tokens` (may be
 * NULL; needs `forward`): the log-probability of each target token, room for score_tokens, 0 at
 * first. `guesses` (may be NULL; as large): the most probable token at each place. false: memory
 * cannot be had. */
bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens,
                  double *tokens, int32_t *guesses, Scores *out);
/* Nats a target token; NAN without tokens. */
double score_token_loss(const Scores *scores);
/* Whether the model's own loss is known and another number than this: it has label smoothing, counts some tokens alone,
 * or has further terms. */
bool score_losses_differ(double own, double token_loss);
/* Target tokens of the corpus, ends included, cut ones too. */
int64_t score_tokens(const Corpus *corpus);
/* Where those of a row begin: as many as it is long, and its end. Of a stream: the row that
 * begins with that token. */
int64_t score_place(const Corpus *corpus, int64_t row);

#endif
