/* What calls with text share. Functions give a TfcStatus. */
#ifndef RUNTIME_MODEL_TEXTS_H
#define RUNTIME_MODEL_TEXTS_H

#include "runtime/model/state.h"

/* ---- texts.c ---- */

/* Text without NUL and of valid UTF-8; of a prefix with its name, else NULL. */
int texts_check(const char *name, const char *utf8, int64_t length);
/* What each call begins with: stepper, tokenizers and settings. `encodes`: the call is one of
 * models with an encoder. */
int texts_begin(TfcSession *session, const TfcGeneration *given, bool encodes,
                DecodeSettings *settings);
/* Appends a text's ids, and counts the unknown ones among them. false: out of memory. */
bool texts_encode(TfcSession *session, const Tokenizer *tokenizer, const char *text, size_t length,
                  TokenIds *ids);
/* Of calls that give one text. */
int texts_need_one(const DecodeSettings *settings);
/* A token that the model may be without: -1. false: out of memory. */
bool texts_push_special(TokenIds *ids, int64_t id);

/* ---- translations.c ---- */

/* The results of each line, in the arena of the session's results; list NULL: the best become the
 * session's text. `first`: the number of the first line. */
int texts_translate(TfcSession *session, const TfcGeneration *settings, int64_t first,
                    const char *utf8, size_t length, const TfcTranslation **list, int64_t *n);

#endif
