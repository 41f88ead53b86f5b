/* Log-probabilities of given texts, computed from logits (so without label smoothing), and the loss
 * that the model declares (`loss = …`), over all texts as one batch. A model without logits has
 * only its loss. */
#ifndef RUNTIME_DECODE_SCORE_H
#define RUNTIME_DECODE_SCORE_H

#include "runtime/decode/feed.h"
#include "runtime/decode/totals.h"

/* ScoreModel: the programs of a model; at least one of forward and loss is there. */
typedef struct ScoreModel {
    const TfcProgram *forward; /* gives `logits` [B, T~, V]; or NULL */

    /* gives a batch's part of "loss" (derive_loss_share); it may be `forward`; or NULL */
    const TfcProgram *loss;
    /* gives sums over the whole corpus, which `loss` reads; NULL: it reads none */
    const TfcProgram *totals;
    const char *logits;
    Feed feed;
    Store *store;
} ScoreModel;

typedef struct Scores {
    double log_probability; /* natural, of all target tokens; without logits: -loss × tokens */
    double loss;            /* the model's own; NAN: not computed */
    int64_t tokens;         /* target tokens, eos included; without logits: feed_tokens */
    int64_t sentences;
} Scores;

/* Scorer: scores several corpora, one after the other, as if they were one. Each is counted before
 * the first is scored, since a loss may be divided by what all of them have:
 *
 *   Scorer *s = scorer_new(model, batch_tokens);
 *   for each corpus: ok = ok && scorer_count(s, corpus);
 *   for each corpus, in the same order: ok = ok && scorer_add(s, corpus, NULL, NULL);
 *   scorer_finish(s, &scores);
 *   scorer_free(s);
 *
 * Sums are in f64: of each corpus in the order of its batches (batch.h), then of the next. The
 * model must outlive the scorer. scorer_new gives NULL and the next two false if memory ran out. */
typedef struct Scorer Scorer;
Scorer *scorer_new(const ScoreModel *model, int64_t batch_tokens);
bool scorer_count(Scorer *scorer, const Corpus *corpus);
/* tokens, guesses: as of score_corpus, of this corpus. */
bool scorer_add(Scorer *scorer, const Corpus *corpus, double *tokens, int32_t *guesses);
void scorer_finish(const Scorer *scorer, Scores *out);
void scorer_free(Scorer *scorer); /* NULL is allowed */

/* Scores the corpus in batches of at most batch_tokens. false: memory ran out.
 *   tokens    gets the log-probability of each target token; room for score_tokens numbers, which
 *             the caller has set to 0; needs `forward`. NULL: not wanted
 *   guesses   gets the most probable token at each place; room for as many; needs `forward`. NULL:
 *             not wanted */
bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens,
                  double *tokens, int32_t *guesses, Scores *out);
/* Nats a target token; NAN without tokens. */
double score_token_loss(const Scores *scores);
/* Whether the model's own loss is finite and differs from score_token_loss by more than rounding,
 * for example by label smoothing, by counting only some tokens, or by further terms. */
bool score_losses_differ(double own, double token_loss);
/* How many target tokens the corpus has, with the ends, and with tokens that batches cut off. */
int64_t score_tokens(const Corpus *corpus);
/* The index of a row's first target token among score_tokens; its other tokens and its end follow.
 * In a stream of tokens `row` is the number of the row's first token. */
int64_t score_place(const Corpus *corpus, int64_t row);

#endif
