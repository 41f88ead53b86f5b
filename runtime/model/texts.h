/* What calls with text share. Functions that return int return a TfcStatus. */
#ifndef RUNTIME_MODEL_TEXTS_H
#define RUNTIME_MODEL_TEXTS_H

#include "runtime/model/state.h"

/* ---- texts.c ---- */

/* Checks that a text is not too long (TOKENIZER_MOST), has no NUL and is valid UTF-8. `name`,
 * `length_name`: what its caller calls both, for messages. */
int texts_check(const char *name, const char *utf8, const char *length_name, int64_t length);
/* The same of a text that ends with a NUL, which becomes *cell. what: the text, for messages. */
int texts_check_cell(const char *what, const char *utf8, Line *cell);
/* The same of bytes of any number. */
int texts_check_bytes(const char *what, const char *utf8, size_t length);
/* Makes the model's tokenizers, unless they are there. */
int texts_open(TfcLoaded *loaded);
/* Begins a call: makes stepper, tokenizers and settings ready, and ends what decode_step had begun.
 * `encodes`: whether the call needs a model with an encoder or one without. */
int texts_begin(TfcSession *session, const TfcGeneration *given, bool encodes,
                DecodeSettings *settings);
/* text_frame_encode, which also counts the unknown ones among the text's own tokens. */
bool texts_encode(TfcSession *session, const Tokenizer *tokenizer, const TextFrame *frame,
                  const Line *text, TokenIds *ids, size_t *own, RowFault *fault);
/* The error of a text: "WHAT: …", with the byte that it is about, unless that is the whole. */
int texts_fail(const char *what, const RowFault *fault);
/* Refuses settings that ask for several results, in a call that returns one text. */
int texts_need_one(const DecodeSettings *settings);

/* TextLines: the lines of a text; begins with text and length, which its owner keeps.
 *   line, size   the line, without its newline and a return before it
 *   ends         it has a newline */
typedef struct TextLines {
    const char *text;
    size_t length, at;
    const char *line;
    size_t size;
    bool ends;
} TextLines;
/* Goes to the next line; false: there is none. */
bool texts_next_line(TextLines *lines);

/* ---- translations.c ---- */

/* Translates lines. *list gets the results of all lines, *n in number, in the arena of the
 * session's results; list NULL: the best results become the session's text. `first`: the number of
 * the first line, for random numbers and messages. */
int texts_translate(TfcSession *session, const TfcGeneration *settings, int64_t first,
                    const char *utf8, size_t length, const TfcTranslation **list, int64_t *n);

/* ---- predicted_labels.c ---- */

/* Labels that CTC makes of predicted frames. */

/* Sets the results of a prediction of CTC from its values, in the arena, which may fail. Returns a
 * TfcStatus. */
int predicted_labels(const TfcSession *session, const TfcPrediction *prediction, Arena *arena,
                     TfcPredicted *out);

#endif
