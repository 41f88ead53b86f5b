/* Log-probabilities of given texts: from the logits where the model has them
 * (so without label smoothing), else from its loss. */
#ifndef RUNTIME_DECODE_SCORE_H
#define RUNTIME_DECODE_SCORE_H

#include "runtime/decode/feed.h"

typedef struct ScoreModel {
    const TfcProgram *forward; /* gives `logits` [B, T~, V]; NULL: only `loss` is used */
    const TfcProgram *loss;    /* gives "loss", a mean over tokens; NULL: not needed */
    const char *logits;
    Feed feed;
    Store *store;
} ScoreModel;

typedef struct Scores {
    double log_probability; /* natural, of all target tokens */
    int64_t tokens;         /* target tokens, eos included */
    int64_t sentences;
} Scores;

/* Goes once over the corpus in batches of at most batch_tokens. `tokens` (may be
 * NULL; needs `forward`): the log-probability of each target token, room for score_tokens, 0 at
 * first. `guesses` (may be NULL; as large): the most probable token at each place. false: memory
 * cannot be had. */
bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens,
                  double *tokens, int32_t *guesses, Scores *out);
/* Target tokens of the corpus, ends included, cut ones too. */
int64_t score_tokens(const Corpus *corpus);
/* Where those of a row begin: as many as it is long, and its end. Of a stream: the row that
 * begins with that token. */
int64_t score_place(const Corpus *corpus, int64_t row);

#endif
