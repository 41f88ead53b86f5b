/* Continuations: a language model goes on with texts, further than what it sees at a time. */
#ifndef DRIVER_RUN_CONTINUATION_H
#define DRIVER_RUN_CONTINUATION_H

#include "driver/run/inference.h"

enum { CONTINUATION_ROWS = 16 /* texts that grow side by side, at most */ };

/* Continuation: a text that grows.
 *   number   the key of its random numbers
 *   left     tokens still to come
 *   ids      the prompt, then what came; the caller's to free
 *   prompt   how many ids are the prompt's
 *   ended    by a token or a string that it stops at */
typedef struct Continuation {
    int64_t number, left;
    Ids ids;
    size_t prompt;
    bool ended;
} Continuation;

/* ContinuationWatch: what is asked of texts while they grow.
 *   stops   a text ends before one of these strings
 *   grown   called with the new part of a text, its prompt first, once it is sure: what may be the
 *           beginning of a stop, or of a character, waits. For one text. NULL: no callback */
typedef struct ContinuationWatch {
    const TextList *stops;
    void (*grown)(void *context, const char *text, size_t length);
    void *context;
} ContinuationWatch;

/* Appends the ids of a prompt, of one line or several. */
void continuation_encode(const Vocabulary *vocab, const char *prompt, Ids *ids);
/* Appends the text of ids, "\n" for each line break. */
void continuation_put(const Vocabulary *vocab, const Ids *ids, Text *out);
/* Appends the text of a continuation up to the first of `stops` behind its prompt; where what is behind
 * that begins, in bytes. */
size_t continuation_text(const Vocabulary *vocab, const Continuation *text, const TextList *stops, Text *out);
/* Whether its prompt fits what the model sees at once; *seen: how many of its tokens are. */
bool continuation_fits(const Inference *inference, const DecodeSettings *settings, const Continuation *text,
                       int64_t *seen);
/* One drawn text a prompt, by the vocabulary's rule of texts. */
DecodeSettings continuation_settings(const Inference *inference);
/* Lets each of n texts grow by what is left to it, or to its end; the model is ready to decode. `watch`
 * may be NULL. False after an error. */
bool continuation_run(Inference *inference, const DecodeSettings *settings, const ContinuationWatch *watch,
                      Continuation *texts, int n);

#endif
