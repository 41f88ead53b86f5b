/* From a model file to programs that run: the one place where the frontend, the
 * passes, codegen and the executor are wired together. */
#ifndef DRIVER_SESSION_SESSION_H
#define DRIVER_SESSION_SESSION_H

#include "codegen/codegen.h"
#include "driver/session/memory.h"
#include "frontend/frontend.h"
#include "runtime/exec/device.h"
#include "runtime/exec/exec.h"

typedef struct SessionOptions {
    const char *path;    /* MODEL.tfg */
    const char *library; /* NULL: the standard one */
    const char *run;     /* the folder of the run whose params it has; or NULL */
    bool (*fits)(Job *job, const char *run, const Model *model); /* with run: whether these params are the model's */
    TextList settings;   /* "NAME=VALUE" */
    DType float_type;
    DType compute;   /* of products: DT_F32 (as float_type) or DT_BF16 */
    int opt_level;   /* 0 or 2 */
    bool scalar;     /* the reference kernels */
    bool merges;     /* the outputs are the model's merges (frontend.h) */
    MemoryLimit memory;
    TextList freeze; /* patterns of params (patterns.h) that do not train */
    TextList only;   /* of those that alone may; empty: all */
} SessionOptions;

typedef struct Session {
    Job *job;
    SessionOptions options;
    Model *model;
    Jit *jit;      /* made at the first compilation */
    Report report; /* what the passes told */
    double compile_seconds;
} Session;

SessionOptions session_defaults(const char *path);
/* Floats and products as --dtype says: "f32", "bf16" or "f64". */
void session_set_dtype(SessionOptions *options, const char *dtype);
/* Loads the model; false after errors. */
bool session_open(Session *session, Job *job, const SessionOptions *options);
void session_close(Session *session);
/* Tokens of the longest text that the model takes: its max_length, or where that is more, or nobody says
 * it, the rows of its tables of positions; 0: any. */
int64_t session_max_length(const Session *session);

/* Runs the passes of the session's level, or of --passes, over a function (up to `after`
 * a pass; NULL: all). All of them, and there is a limit of memory: within it, or false
 * with an error that names the least there must be. */
bool session_lower(Session *session, Function *function, const char *after);
/* Lowers and compiles; NULL after errors. */
const TfcProgram *session_compile(Session *session, Function *function);
/* The function of a name of base/functions.def, or "model"; NULL (with an error) if the
 * model has none such. */
Function *session_function(Session *session, const char *name);
OptimizerSpec session_optimizer(const Session *session);
/* derive_alignment with the model's own names; NULL: the model has no attention of its target over a source. */
Function *session_alignment(Session *session);
/* derive_incremental with the model's own names for target and logits. */
bool session_incremental(Session *session, Incremental *out, const char **target,
                         const char **logits);

/* What --gemm says. */
GemmChoice session_gemm(const Job *job);
/* Which shapes OpenBLAS multiplies in the training programs of the job; false after errors. */
bool session_choice(Job *job, TfcChoice *choice);

/* The VALUE of the first "NAME=VALUE" of that name, or NULL. */
const char *setting_value(const TextList *list, const char *name);
/* "NAME=VALUE" split into settings; false (with an error) where there is no "=". */
bool session_settings(Job *job, const TextList *list, Setting **settings, int *n);

/* Of a program for an OpenCL device: passes that make regions for which a device has no kernels are left out, unless the
 * job says which run. */
void device_passes(Job *job);
/* Lowers the function for a device; the code lives in the job's arena. False after errors. */
bool device_program(Session *session, Function *function, TfcDeviceCode *out);

#endif
