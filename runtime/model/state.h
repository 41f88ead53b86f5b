/* Inside a loaded model and its sessions: shared by model.c (params), session.c
 * (functions on tensors) and generate.c (decoding). */
#ifndef RUNTIME_MODEL_STATE_H
#define RUNTIME_MODEL_STATE_H

#include "runtime/decode/decode.h"
#include "runtime/exec/exec.h"
#include "runtime/model/model.h"
#include "runtime/train/checkpoint.h"

#include <pthread.h>

struct TfcLoaded {
    const TfcModel *model;
    const TfcVariant *variant; /* for this machine */
    Store *store;              /* params, shared by the sessions */
    pthread_mutex_t mutex;     /* of what follows, and of adding to the store */
    bool trains;               /* the params are its own, the optimizer's state is there */
    int64_t generation;        /* changes when params move */
    TrainState training;       /* steps done, seed of the last; what else a checkpoint said
                                * is kept for tfc train, which may go on from the next */
};

struct TfcSession {
    TfcLoaded *loaded;
    Store *store; /* params borrowed from the model's, caches of its own */
    int64_t generation;
    Exec *execs[TFC_N_FUNCTIONS];
    int32_t *next; /* target tokens moved by one */
    int64_t next_room;
    Stepper stepper;
    bool has_stepper;
    int32_t n_sentences, n_slots; /* decoding; -1: not begun */
    Arena *results;               /* of the last generation */
};

/* Keeps the text for tfc_model_error_detail and gives the status. */
int tfc_model_fail(TfcStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Before the first update: params that may be written, and the optimizer's state. */
bool tfc_model_start_training(TfcLoaded *loaded, const TfcProgram *program);
/* The function's program, or NULL after tfc_model_fail. */
const TfcProgram *session_program(TfcSession *session, TfcFunction function);
/* Executors of params that have moved are dropped. */
bool session_refresh(TfcSession *session);
/* Adds the program's tensors: params are the model's. */
bool session_add(TfcSession *session, const TfcProgram *program);

#endif
