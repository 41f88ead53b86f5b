/* Continuations: a language model goes on with texts, further than what it sees at a time. */
#ifndef DRIVER_CONTINUATION_H
#define DRIVER_CONTINUATION_H

#include "driver/inference.h"

enum { CONTINUATION_ROWS = 16 /* texts that grow side by side, at most */ };

/* Continuation: a text that grows.
 *   number   the key of its random numbers
 *   left     tokens still to come
 *   ids      the prompt, then what came; the caller's to free */
typedef struct Continuation {
    int64_t number, left;
    Ids ids;
} Continuation;

/* The token between lines of a stream, which also comes before its first. */
int32_t continuation_break(const Vocabulary *vocab);
/* Appends the ids of a prompt, of one line or several. */
void continuation_encode(const Vocabulary *vocab, const char *prompt, Ids *ids);
/* Appends the text of ids, `line_break` for each break. */
void continuation_put(const Vocabulary *vocab, const Ids *ids, const char *line_break, Text *out);
/* One drawn text a prompt; `kind`: of the text that the model was trained on. */
DecodeSettings continuation_settings(const Inference *inference, CorpusKind kind);
/* Lets each of n texts grow by what is left to it, or to its end; the model is ready to decode. False
 * after an error. */
bool continuation_run(Inference *inference, const DecodeSettings *settings, Continuation *texts, int n);

#endif
