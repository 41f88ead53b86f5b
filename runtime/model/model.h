/* Running a compiled model: what the functions of a generated header do. Each of
 * them, `NAME_forward` and so on, is one jump to a function here; interface.def declares both.
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

/* In one file with all others (tfc compile --emit c) every function is static. */
#ifndef TFC_CALL
#define TFC_CALL
#endif

#define API_HANDLE(type, ...) typedef struct type type;
#define API_WORDS(type, ...) typedef TfcWord type;
#define API_RECORD(when, type, ...) typedef struct type {
#define API_FIELD(type, name, ...) type name;
#define API_BYTES(name, ...) const char *name;
#define API_ARRAY(type, name, n, ...) type name[n];
#define API_END(type) \
    }                 \
    type;
#define API_CALL(when, result, name, arguments, ...) TFC_CALL result tfc_model_##name arguments;
/* clang-format off */
#include "runtime/model/interface.def"
/* clang-format on */

/* Whether CTC makes labels of any prediction, of a model that predicts. */
static inline bool model_finds_labels(const TfcModel *model)
{
    for (int64_t i = 0; i < model->predictions->n; i++)
        if (model->predictions->all[i].ctc)
            return true;
    return false;
}

/* For programs and scripts: tfc_model_translations_columns of records as lines of JSON, among many,
 * the first of which has this number. The detail of an error begins with the record, counted in
 * these lines from 0: "record 3: …". */
int tfc_model_json_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                                int64_t number, const char *utf8, int64_t length,
                                const TfcTranslation **list, int64_t *n);
/* For programs: as tfc_model_translations, for lines among many (see tfc_model_answer_lines). */
int tfc_model_line_translations(TfcSessionHandle *session, const TfcGeneration *settings,
                                int64_t number, const char *line, int64_t length,
                                const TfcTranslation **list, int64_t *n);
/* For programs: the answers to lines among many, each of them one line: its translation, or the
 * prompt with its continuation. `number`: the first line's number, from 0; a line's number is part
 * of the key of its random numbers. */
int tfc_model_answer_lines(TfcSessionHandle *session, const TfcGeneration *settings, int64_t number,
                           const char *lines, int64_t length, const char **text,
                           int64_t *text_length);

#endif
