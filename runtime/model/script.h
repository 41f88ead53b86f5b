/* A model for scripts, which call one function: JSON in, JSON out (script.c). */
#ifndef RUNTIME_MODEL_SCRIPT_H
#define RUNTIME_MODEL_SCRIPT_H

#include "base/json_write.h"
#include "runtime/model/model.h"
#include "runtime/text/tokenizer.h"

/* Answers a request. The answer ends with a NUL and is valid until the next call; never NULL. Any
 * request is allowed. One thread calls at a time, and every call has the same model. If memory for
 * the answer's text runs out, the process ends. */
const char *tfc_model_script(const TfcModel *model, const char *request, int64_t length);

/* Writes the member "attention" of an answer to a line: the attention weights of each token of the
 * answer over those of the source. Writes nothing if the line has no tokens. `text`: the request's.
 * Returns a TfcStatus. (script_attention.c) */
int script_put_attention(TfcSessionHandle *session, const char *text, const TfcTranslation *answer,
                         JsonWriter *json);

/* Writes the pieces of n tokens as a list of texts. False: memory ran out. (script_predict.c, as
 * the next ones) */
bool script_put_tokens(const Tokenizer *tokenizer, const char *key, const int32_t *ids, int64_t n,
                       Arena *arena, JsonWriter *json);
/* Whether texts are answered by predictions: the model makes them of a text and does not decode. */
bool script_predicts(const TfcModel *model);
/* Writes what is predicted of a text, as an object: the `top` most probable classes or results of
 * CTC (INT64_MAX: all classes, one result). search: its beam, lexicon and separator. Returns a
 * TfcStatus. */
int script_put_predictions(TfcSessionHandle *session, const TfcModel *model, const char *text,
                           int64_t top, const TfcLabelSearch *search, JsonWriter *json);

#endif
