/* Inside a loaded model and its sessions. access.c decides which calls may run at the same time,
 * pool.c who has a session of the model's pool; model.c has the params, session.c sessions and
 * their functions, words.c the arguments and results of these functions, settings.c the settings
 * of a generation, generate.c decoding, alignment.c alignments, predictions.c predictions,
 * columns.c and records.c what texts are generated from where that is no text alone, texts.c and
 * translations.c calls with text. */
#ifndef RUNTIME_MODEL_STATE_H
#define RUNTIME_MODEL_STATE_H

#include "base/unknown.h"
#include "runtime/decode/ctc.h"
#include "runtime/decode/decode.h"
#include "runtime/exec/exec.h"
#include "runtime/model/model.h"
#include "runtime/train/checkpoint.h"

#include <pthread.h>

typedef struct TfcSession TfcSession;

/* The sessions of a model that its callers take in turns; the lock of handles.h protects it.
 *   sessions       all of them, linked by next_pooled, in the order in which they were made
 *   n, most        how many there are, and at most
 *   taken, alone   how many are taken; one of them is, and excludes others
 *   asked, served  takes that had to wait so far, and how many of these wait no longer
 *   changed        signalled where a take that waits may have its turn */
typedef struct Pool {
    TfcSession *sessions;
    int64_t n, most, taken;
    bool alone;
    uint64_t asked, served;
    pthread_cond_t changed;
} Pool;

typedef struct TfcLoaded {
    const TfcModel *model;
    const TfcVariant *variant; /* for this machine */
    Store *store;              /* params of the first member, shared by the sessions */
    Store **others;            /* the same of an ensemble's other members, n_others of them */
    int64_t n_others;
    StoreSource *sources;  /* of the stores, where weights are inside */
    pthread_mutex_t mutex; /* protects the fields from trains to target, and adding to the store */
    bool trains;           /* the params are writable, the optimizer's state is there */
    int64_t generation;    /* changes when the params get other addresses */

    /* of predictions, and what their thresholds are in, where weights are not those inside; else
     * NULL (label_sets.c) */
    TfcLabelSet *sets;
    float *thresholds;

    /* steps done and the seed of the last step; the other fields are as the opened checkpoint had
     * them, and are saved as they are, so that tfc train can resume from the file */
    TrainState training;
    Tokenizer *source, *target;   /* made for the first text; may be the same one */
    Tokenizer *own[MOST_COLUMNS]; /* of columns that have a vocabulary of their own, likewise */

    /* access.c: */
    int64_t users;   /* the handle, sessions and calls that use the model; the last one frees it */
    int64_t reading; /* calls that read params */
    bool writing;    /* a call writes them */
    bool closed;
    Pool pool;
} TfcLoaded;

enum { MOST_DIMS = 64, MOST_INPUTS = 64 }; /* of a program that session_run takes */

/* WordScalar: a scalar input as a program reads it. */
typedef union WordScalar {
    float f32;
    double f64;
    int32_t i32;
    bool boolean;
} WordScalar;

struct TfcSession {
    TfcLoaded *loaded;
    Store *store;         /* of the first member: its tensors are borrowed from the model's store */
    Store **others;       /* the same of an ensemble's other members */
    StoreSource *sources; /* of these stores: the model's stores */
    int64_t generation;
    int64_t step; /* TrainState.step of the params that its executors have seen */
    Exec *execs[TFC_N_FUNCTIONS];
    WordScalar scalars[MOST_INPUTS]; /* of the last run, which may be run again (exec_find_nan) */
    int32_t *next;                   /* for each target token the one after it */
    int64_t next_room;
    Feed feed; /* of encode */
    Stepper stepper;
    bool has_stepper;
    int32_t n_sentences, n_slots; /* decoding; n_slots -1: not begun */
    uint8_t *is_fed;              /* of each slot: it is among the rows checked so far */
    Arena *results;               /* of the last generation or list of translations */
    Arena *predicted;             /* of the last predictions of texts */
    Arena *searching;             /* what `labels` points to; NULL: the best path is taken */
    CtcBeam labels;
    TokenText text;       /* of the last call with text */
    UnknownCount unknown; /* tokens of the last call's texts */
    char unknown_note[UNKNOWN_NOTE_BYTES];
    /* access.c: */
    bool busy, freed;
    /* pool.c: */
    TfcSession *next_pooled;
    bool pooled, taken; /* it is one of the pool's; and has a handle */
    pthread_t taker;
};

/* ---- access.c ---- */

/* What a call does with the model's params. */
typedef enum ModelUse { USE_NONE, USE_READ, USE_WRITE } ModelUse;

/* The object of an open handle; it is not freed before model_leave or session_leave. NULL, after
 * tfc_model_fail, with *status: the handle is not open, the session's model is closed, or another
 * call uses the object in a way that excludes this one. */
TfcLoaded *model_enter(const TfcModelHandle *handle, ModelUse use, int *status);
void model_leave(TfcLoaded *loaded, ModelUse use);
TfcSession *session_enter(const TfcSessionHandle *handle, ModelUse use, int *status);
/* Returns `status`, as what the call returns. */
int session_leave(TfcSession *session, ModelUse use, int status);
/* Handles for new objects; NULL: memory ran out. A model is not freed before its sessions. */
TfcModelHandle *model_handle(TfcLoaded *loaded);
TfcSessionHandle *session_handle(TfcSession *session, TfcLoaded *loaded);
/* TFC_ERROR_ARGUMENT of a handle that is not open; `what`: "model" or "session". */
int access_explain_closed(const void *handle, const char *what);
/* Frees a session without a handle, and the model, if the session was its last user. */
void access_end_session(TfcSession *session);
/* Called by access.c when nothing uses the object any more. (model.c, session.c) */
void model_free(TfcLoaded *loaded);
/* TFC_ERROR_VERSION if the program is linked with another library of the model's name, whose calls
 * would reach this one. (namesake.c) */
int model_refuse_namesake(const TfcModel *model);
void session_free(TfcSession *session);

/* ---- label_sets.c ---- */

/* Of each prediction. The model predicts. */
const TfcLabelSet *model_label_sets(const TfcLoaded *loaded);
/* Gives a model of weights that are not inside thresholds of its own, SETS_THRESHOLD. False: memory
 * ran out. */
bool model_own_label_sets(TfcLoaded *loaded);
/* Then takes those of the file `path`, where it has some. False after an error. */
bool model_read_label_sets(TfcLoaded *loaded, const char *path, Diagnostics *diags);
/* All of them for the metadata of a file; NULL: the model predicts no sets, or memory ran out (of
 * the arena). */
const char *model_thresholds_text(const TfcLoaded *loaded, Arena *arena);

/* ---- pool.c ---- */

/* The first two are called with the lock. */

/* Takes a session that is about to be freed out of the model's pool, if it is there. */
void pool_remove(TfcSession *session);
/* Takes free sessions out of the pool until it has `keep` sessions or no free one; gives them,
 * linked by next_pooled, for pool_free. */
TfcSession *pool_detach(Pool *pool, int64_t keep);
void pool_free(TfcSession *sessions);

/* ---- errors ---- */

/* Stores the text for tfc_model_error_detail in this thread, cut to 1,023 bytes, and returns the
 * status. If there is no memory for texts of this thread, the text is lost. */
int tfc_model_fail(TfcStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int tfc_model_no_memory(void); /* the same for TFC_ERROR_MEMORY */
/* TFC_ERROR_ARGUMENT if the argument is NULL, with its name in the details; else TFC_OK. */
int tfc_model_need(const void *argument, const char *name);
/* The range that one of an input's *n ids breaks, and in *n the number of that id, the first such.
 * NULL, with *n as it was: none does. */
const IdRange *tfc_model_find_wrong_id(const TfcModel *model, const char *input, const int32_t *ids,
                                       int64_t *n);
/* TFC_ERROR_ARGUMENT with what was found, behind it `place`: " (row 2, position 1)", or "". */
int tfc_model_fail_id(const IdRange *broken, const char *input, int64_t at, int32_t id,
                      const char *place);
/* Both together: checks an input's ids, or labels, against its ranges in the model. */
int tfc_model_check_ids(const TfcModel *model, const char *input, const int32_t *ids, int64_t n);

/* ---- shared by calls ---- */

/* Before the first update: makes the params writable and adds the optimizer's state. false: memory
 * ran out. */
bool tfc_model_start_training(TfcLoaded *loaded, const TfcProgram *program);
/* A session without a model and a handle; NULL: memory ran out. (session.c) */
TfcSession *session_make(void);
/* Forgets what a session keeps from call to call, so that it is as a new one. (session.c) */
void session_forget(TfcSession *session);
/* The function's program, or NULL after tfc_model_fail. */
const TfcProgram *session_program(TfcSession *session, TfcFunction function);
/* At a session's first call, and if the model's params have got other addresses since the session's
 * executors were made: frees these executors and makes new stores. false: memory ran out. */
bool session_refresh(TfcSession *session);
/* Adds the program's tensors to the store `to`; its params are borrowed from `params`, a model's
 * store. false: memory ran out. */
bool session_add(TfcSession *session, Store *to, const TfcProgram *program, Store *params);
/* Checks that the program has no more of these. Returns a TfcStatus. (words.c) */
int words_check_number(const TfcProgram *program);
/* Runs a program on the words of a call and gives its results; all words are checked before the
 * program runs. Returns a TfcStatus. (words.c) */
int session_run(TfcSession *session, const TfcProgram *program, Exec *exec, const TfcWord *in,
                TfcWord *out);

/* The same for a function of the model, whose Exec is made at the first call. (session.c) */
int session_run_function(TfcSession *session, TfcFunction function, const TfcWord *in,
                         TfcWord *out);

/* Checks the words of a program's dimensions and inputs, none of which is a scalar, without running
 * it. Returns a TfcStatus. (words.c) */
int words_check(const TfcModel *model, const TfcProgram *program, const TfcWord *in);
/* The lengths of a ragged dimension in the first `rows` rows of the batch: the caller's or, if the
 * dimension is made of others, in the arena. The words have passed words_check. NULL: memory ran
 * out, or there are no rows. (words.c) */
const int32_t *words_lengths(const TfcProgram *program, const TfcWord *in, int32_t dim,
                             int64_t rows, Arena *arena);

/* ---- generate.c ---- */

/* Makes the session's stepper, unless it is there. Returns a TfcStatus. */
int session_prepare_decode(TfcSession *session);
/* The most results that a sentence can have. */
int32_t session_places(const DecodeSettings *settings);
TfcResult session_result(const Hypothesis *hypothesis);

/* Whether decoding has sources: a program `encode` that reads some, and not only what stands before
 * every text. */
static inline bool loaded_encodes(const TfcLoaded *loaded)
{
    const TfcProgram *encode = loaded->variant->programs[TFC_ENCODE];
    return encode && encode->n_inputs > 0;
}

/* Whether these sources are columns: of a call's words, or records. */
static inline bool loaded_reads_columns(const TfcLoaded *loaded)
{
    return loaded->model->n_columns > 0;
}

/* ---- settings.c ---- */

/* Checks the settings and converts them, all but the prefixes; NULL: the defaults. Returns a
 * TfcStatus. */
int session_settings(const TfcSession *session, const TfcGeneration *settings, DecodeSettings *out);
/* Tokens of the longest sequence that the model takes; DECODE_LONGEST if no limit is known. */
int64_t tfc_model_longest(const TfcModel *model);

#endif
