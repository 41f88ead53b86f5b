/* What calls with text share. Functions give a TfcStatus. */
#ifndef RUNTIME_MODEL_TEXTS_H
#define RUNTIME_MODEL_TEXTS_H

#include "runtime/model/state.h"

/* ---- texts.c ---- */

/* Checks that a text has no NUL and is valid UTF-8. `name`: of a prefix, for the message; else
 * NULL. */
int texts_check(const char *name, const char *utf8, int64_t length);
/* Begins a call: makes stepper, tokenizers and settings ready. `encodes`: the call needs a model
 * with an encoder. */
int texts_begin(TfcSession *session, const TfcGeneration *given, bool encodes,
                DecodeSettings *settings);
/* Appends a text's ids, and counts the unknown ones among them. false: out of memory. */
bool texts_encode(TfcSession *session, const Tokenizer *tokenizer, const char *text, size_t length,
                  TokenIds *ids);
/* Refuses settings that ask for several results, in a call that returns one text. */
int texts_need_one(const DecodeSettings *settings);
/* Appends a special token, or nothing for -1, a token that the model lacks. false: out of
 * memory. */
bool texts_push_special(TokenIds *ids, int64_t id);

/* ---- translations.c ---- */

/* Translates lines. Results of each line go to `list`, in the arena of the session's results; list
 * NULL: the best results become the session's text. `first`: the number of the first line. */
int texts_translate(TfcSession *session, const TfcGeneration *settings, int64_t first,
                    const char *utf8, size_t length, const TfcTranslation **list, int64_t *n);

#endif
