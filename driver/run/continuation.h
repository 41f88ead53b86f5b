/* Continuations: texts that a language model continues, also beyond the length of its context. */
#ifndef DRIVER_RUN_CONTINUATION_H
#define DRIVER_RUN_CONTINUATION_H

#include "driver/run/growing_text.h"
#include "driver/run/inference.h"
#include "runtime/decode/continue.h"

/* ContinuationWatch: how texts end, and a callback while one grows.
 *   stops   strings that end a text once one of them is after the prompt; in the prompt they do
 *           not. Its ids keep the stop's tokens, which continuation_text cuts off. NULL: none
 *   grown   called with each new part of the text, the prompt first, nothing from a stop on. A part
 *           that may be the beginning of a stop, or of a character, is held back until that is
 *           decided. Only for a run of one text. NULL: no callback */
typedef struct ContinuationWatch {
    const TextList *stops;
    void (*grown)(void *context, const char *text, size_t length);
    void *context;
} ContinuationWatch;

/* Appends the ids of a prompt, of one line or several. False: tokenizer_problem says why not. */
bool continuation_encode(const Vocabulary *vocab, const char *prompt, Ids *ids);
/* Appends the text of a continuation, up to the first of `stops` (may be NULL) after its prompt.
 * Returns how many of the appended bytes are the prompt's; 0 if the text does not begin with the
 * text of the prompt alone, which then counts as generated. */
size_t continuation_text(const Vocabulary *vocab, const Continuation *text, const TextList *stops,
                         Text *out);
/* Whether the text so far fits into the model's context. *seen: how many of the text's tokens the
 * model sees. */
bool continuation_fits(const Inference *inference, const DecodeSettings *settings,
                       const Continuation *text, int64_t *seen);
/* Settings that sample one text for each prompt, by the vocabulary's TextRule. */
DecodeSettings continuation_settings(const Inference *inference);
/* Generates each of n texts until it ends or has no tokens left to generate, in batches of
 * CONTINUE_ROWS, by workers. Call inference_prepare_decode and load the params before. `watch`
 * may be NULL. False after an error. */
bool continuation_run(Inference *inference, const DecodeSettings *settings,
                      const ContinuationWatch *watch, Continuation *texts, int64_t n);

#endif
