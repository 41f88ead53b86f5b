/* Running a compiled model: what the functions of a generated header do. Each of
 * them, `NAME_forward` and so on, is one jump to a function here, so this header
 * and driver/compile/header.c describe the same calls.
 *
 * Callers hold handles (handles.h). A model is shared by sessions; a session serves one call
 * at a time. tfc_model_train_step writes the params: no other call may use them meanwhile.
 * A call that breaks these rules, or has an argument that is not allowed, returns an
 * error; the generated header lists the errors of each function. Functions that return int return a
 * TfcStatus; those that return int64_t return -1 after an error. tfc_model_error_detail has the
 * details of the calling thread's last error. A call that fails changes neither params nor the
 * count of steps; the generated header says what else changes. */
#ifndef RUNTIME_MODEL_MODEL_H
#define RUNTIME_MODEL_MODEL_H

#include "runtime/decode/settings.h"
#include "runtime/model/abi.h"

typedef struct TfcModelHandle TfcModelHandle;
typedef struct TfcSessionHandle TfcSessionHandle;

typedef struct TfcParameter {
    const char *name;
    int64_t type; /* TfcType */
    int64_t rank, dims[TFC_MAX_AXES], count;
    const void *data;
} TfcParameter;

typedef struct TfcResult {
    const int32_t *ids;
    int64_t n;
    double log_probability, score;
    const double *each;
    int64_t n_each;
} TfcResult;

/* One result of a line of text; list and texts are the session's. */
typedef struct TfcTranslation {
    int64_t line;
    const char *text;
    int64_t length;
    TfcResult result;
    const int32_t *source; /* the line's ids, with begin and end */
    int64_t n_source;
} TfcTranslation;

/* Labels that CTC makes of a prediction's frames, and the logarithm of their probability: of the
 * best path alone, or of a beam the sum (runtime/decode/ctc.h). */
typedef struct TfcLabels {
    const int32_t *classes;
    int64_t n;
    double log_probability;
} TfcLabels;

/* What one prediction gives of a text; values, ids and results are the session's. note: a sentence
 * if the results are no words of the lexicon; else NULL. */
typedef struct TfcPredicted {
    const float *values;
    int64_t positions;
    const int32_t *ids;
    const TfcLabels *results; /* of CTC, the most probable first; else NULL */
    int64_t n_results;
    const char *note;
} TfcPredicted;

/* How labels of CTC are searched: as tfc predict does with --beam, --top, --lexicon and
 * --separator. beam and nbest 0 are 1; separator NULL: a result is one word. */
typedef struct TfcLabelSearch {
    int64_t beam, nbest;
    const char *lexicon; /* lines of labels with blanks between; NULL: none */
    int64_t lexicon_length;
    const char *separator;
} TfcLabelSearch;

/* A word of a function's arguments or results: all fields of the generated structs
 * are eight bytes. Arguments, in this order: the seed (train_step alone); each dimension of the
 * program, its extent or, if ragged, a pointer to its lengths; each input but train_step's `step`,
 * a pointer or, of a scalar, its value. Results: each output, a pointer or a scalar's value. */
typedef union TfcWord {
    int64_t extent;
    uint64_t seed;
    double value;
    const void *data;
} TfcWord;

const char *tfc_model_error_text(int status);
const char *tfc_model_error_detail(void);
int tfc_model_open(const TfcModel *model, int64_t header, const char *weights,
                   TfcModelHandle **out);
int tfc_model_open_new(const TfcModel *model, int64_t header, uint64_t seed, TfcModelHandle **out);
/* Opens a model with the params, the optimizer's state and the count of steps of a checkpoint that
 * a training has written, or tfc_model_save after a train_step. Only for a model that has
 * train_step. */
int tfc_model_open_checkpoint(const TfcModel *model, int64_t header, const char *path,
                              TfcModelHandle **out);
void tfc_model_close(TfcModelHandle *loaded);
int tfc_model_save(TfcModelHandle *loaded, const char *path);
int64_t tfc_model_steps(TfcModelHandle *loaded);
int64_t tfc_model_parameter_count(TfcModelHandle *loaded);
int tfc_model_parameter(TfcModelHandle *loaded, int64_t index, TfcParameter *out);
int tfc_model_parameter_named(TfcModelHandle *loaded, const char *name, TfcParameter *out);
int tfc_model_set_threads(int n);

int tfc_model_session_new(TfcModelHandle *loaded, TfcSessionHandle **out);
void tfc_model_session_free(TfcSessionHandle *session);
/* The model's pool of sessions (pool.c). A take waits until a session is free, in the order of
 * asking; _alone until none is taken, and excludes other takes until the session is given back.
 * TFC_ERROR_BUSY: the thread would wait for a session that it has taken itself. */
int tfc_model_session_take(TfcModelHandle *loaded, TfcSessionHandle **out);
int tfc_model_session_take_alone(TfcModelHandle *loaded, TfcSessionHandle **out);
int tfc_model_session_give(TfcSessionHandle *session);
/* The most sessions that the pool has, 1 … LIMIT_threads. */
int tfc_model_set_sessions(TfcModelHandle *loaded, int n);
int tfc_model_forward(TfcSessionHandle *session, const TfcWord *in, TfcWord *out);
int tfc_model_loss(TfcSessionHandle *session, const TfcWord *in, TfcWord *out);
int tfc_model_train_step(TfcSessionHandle *session, const TfcWord *in, TfcWord *out);

int tfc_model_predict(TfcSessionHandle *session, const TfcWord *in, TfcWord *out);
int64_t tfc_model_prediction_count(TfcModelHandle *loaded);
int tfc_model_prediction(TfcModelHandle *loaded, int64_t index, TfcPrediction *out);
/* Only for a model whose predictions read one text, with its vocabulary inside. *n is 0 for a text
 * without tokens. */
int tfc_model_predict_text(TfcSessionHandle *session, const char *utf8, int64_t length,
                           const TfcPredicted **list, int64_t *n, int64_t *cut);
/* n_texts of them; lengths NULL: each ends with a NUL. Those of text i begin at list[i × n], with
 * positions 0 if the text has no tokens. cut: n_texts numbers, or NULL. */
int tfc_model_predict_texts(TfcSessionHandle *session, int64_t n_texts, const char *const *texts,
                            const int64_t *lengths, const TfcPredicted **list, int64_t *n,
                            int64_t *cut);
/* For the session's later calls with text; NULL: the best path again. After an error the search is
 * as it was. (predicted_labels.c) */
int tfc_model_set_label_search(TfcSessionHandle *session, const TfcLabelSearch *search);

int tfc_model_encode(TfcSessionHandle *session, int32_t n, const int32_t *lengths,
                     const int32_t *ids, int32_t slots);
/* For a model with columns (TfcModel.columns): in are the words of encode. */
int tfc_model_encode_columns(TfcSessionHandle *session, const TfcWord *in, int32_t slots);
int tfc_model_decode_begin(TfcSessionHandle *session, int32_t slots);
int tfc_model_decode_step(TfcSessionHandle *session, int32_t n, const int32_t *sentence,
                          const int32_t *slot, const int32_t *token, const float **logits);
int tfc_model_decode_copy(TfcSessionHandle *session, int32_t from, int32_t to);
int tfc_model_generation_defaults(TfcModelHandle *loaded, TfcGeneration *out);
int tfc_model_generate(TfcSessionHandle *session, const TfcGeneration *settings, int32_t n,
                       const int32_t *lengths, const int32_t *ids, TfcResult *out);
int tfc_model_generate_columns(TfcSessionHandle *session, const TfcGeneration *settings,
                               const TfcWord *in, TfcResult *out);

int tfc_model_alignment(TfcSessionHandle *session, int32_t n_source, const int32_t *source,
                        int32_t n_target, const int32_t *target, const float **weights);

/* Calls with text; only for a model with a vocabulary inside. */
int tfc_model_translate_text(TfcSessionHandle *session, const TfcGeneration *settings,
                             const char *utf8, int64_t length, const char **text,
                             int64_t *text_length);
int tfc_model_generate_text(TfcSessionHandle *session, const TfcGeneration *settings,
                            const char *utf8, int64_t length, const char **text,
                            int64_t *text_length);
/* Gives the number of tokens, and of unknown tokens, in the texts that the last call with text
 * encoded. *note: a sentence about the share of unknown tokens if it is above UNKNOWN_TOLD
 * (base/unknown.h), owned by the session; else NULL. Each of the last three may be NULL. */
int tfc_model_unknown(TfcSessionHandle *session, int64_t *tokens, int64_t *unknown,
                      const char **note);
int tfc_model_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                           const char *utf8, int64_t length, const TfcTranslation **list,
                           int64_t *n);
/* The same of records, for a model with columns: their words are those of encode, but lists of
 * texts ended by a NUL in place of the ids of texts and labels, and no lengths of a dimension along
 * which only these lie (records_say_lengths). `line` of a result is the number of its record. */
int tfc_model_translations_columns(TfcSessionHandle *session, const TfcGeneration *settings,
                                   const TfcWord *records, const TfcTranslation **list, int64_t *n);
/* For main.c: the same for records among many, the first of which has this number. */
int tfc_model_record_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                                  int64_t number, const TfcWord *records,
                                  const TfcTranslation **list, int64_t *n);
/* For main.c: as tfc_model_translations, for lines among many (see tfc_model_answer_lines). */
int tfc_model_line_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                                int64_t number, const char *line, int64_t length,
                                const TfcTranslation **list, int64_t *n);
/* For main.c: the answers to lines among many, each of them one line: its translation, or the
 * prompt with its continuation. `number`: the first line's number, from 0; a line's number is part
 * of the key of its random numbers. */
int tfc_model_answer_lines(TfcSessionHandle *session, const TfcGeneration *settings, int64_t number,
                           const char *lines, int64_t length, const char **text,
                           int64_t *text_length);

#endif
