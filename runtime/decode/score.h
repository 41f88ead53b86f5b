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

/* Goes once over the corpus in batches of at most batch_tokens. `each` (may be
 * NULL; needs `forward`): per corpus row, its log-probability. false: memory
 * cannot be had. */
bool score_corpus(const ScoreModel *model, const Corpus *corpus, int64_t batch_tokens, double *each,
                  Scores *out);

#endif
