/* From a model file to programs that run: the one place where the frontend, the
 * passes, codegen and the executor are wired together. */
#ifndef DRIVER_SESSION_SESSION_H
#define DRIVER_SESSION_SESSION_H

#include "codegen/codegen.h"
#include "driver/job.h"
#include "frontend/frontend.h"
#include "passes/pass.h"
#include "runtime/exec/device.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/program.h"

/* ---- memory.c ---- */

/* Fitting a function into a limit of memory (--memory). */

/* MemoryLimit: how much memory a function may take while it runs for the largest batch. */
typedef struct MemoryLimit {
    int64_t bytes;       /* of values and the store's tensors, such as params; 0: no limit */
    const DimSize *dims; /* of the largest batch */
    int n_dims;
    /* a program in memory at the same time, over the same params; or NULL */
    const TfcProgram *beside;
} MemoryLimit;

/* After the passes: makes the function recompute as much as it must to stay within the limit, and
 * adds that to the report. False after an error; if the function does not fit even so, the error
 * names the least limit that it fits into. */
bool memory_fit(Job *job, const MemoryLimit *limit, Report *report, Function *function);
/* The limit as a text for the key of a cached program, with all that memory_fit depends on. ""
 * without a limit. In the arena. */
const char *memory_text(Arena *arena, const MemoryLimit *limit);

/* ---- session.c ---- */

typedef struct SessionOptions {
    const char *path;    /* MODEL.tfg */
    const char *library; /* NULL: the standard one */
    const char *run;     /* the folder of the run whose params are used; or NULL */
    FileReach reach;     /* of the files that the model names (FrontendOptions) */

    /* set if `run` is: checks that the run's params fit the model; false after an error */
    bool (*fits)(Job *job, const char *run, const Model *model);
    TextList settings; /* "NAME=VALUE" */
    int n_sizes;       /* the last n_sizes settings are vocabulary sizes, not from --set */
    DType float_type;
    ProductPrecision precision;
    int opt_level; /* 0 or 2 */
    bool scalar;   /* the reference kernels */
    bool merges;   /* the outputs are the model's merges (frontend.h) */
    MemoryLimit memory;
    TextList freeze; /* patterns (patterns.h) of params that do not train */
    TextList only;   /* patterns of the only params that train; empty: all but the frozen ones */
    TextList keep;   /* patterns of params with their own type (patterns_keep) */
} SessionOptions;

typedef struct Session {
    Job *job;
    SessionOptions options;
    Model *model;
    Jit *jit;      /* made at the first compilation */
    Report report; /* what the passes reported */
    double compile_seconds;
} Session;

SessionOptions session_defaults(const char *path);
/* Sets float_type and precision as --dtype says: "f32", "bf16", "f64" or a word of
 * base/quants.def. */
void session_set_dtype(SessionOptions *options, const char *dtype);
const char *session_dtype(const SessionOptions *options); /* such a name */
/* Adds a setting: the model's const `name` is the size of a vocabulary. */
void session_set_size(Job *job, SessionOptions *options, const char *name, int64_t size);
/* Loads the model; false after errors. */
bool session_open(Session *session, Job *job, const SessionOptions *options);
void session_close(Session *session);
/* Tokens of the longest text that the model takes: the lesser of its max_length and the rows of its
 * tables of positions, whichever are given; 0: any length. */
int64_t session_max_length(const Session *session);

/* Runs the passes of the session's level, or of --passes, over a function: up to the pass `after`,
 * or all if it is NULL. If all run and memory is limited, also fits the function into the limit
 * (memory_fit). False after errors. */
bool session_lower(Session *session, Function *function, const char *after);
/* Lowers and compiles a function, or takes its program from the cache. The program lives until
 * session_close. NULL after errors, and for function NULL. */
const TfcProgram *session_compile(Session *session, Function *function);
/* Whether no input of the model has the name of one that an update has of its own; false after an
 * error. */
bool session_can_train(Session *session);
/* The function with a name of base/functions.def, or "model"; NULL after an error: there is no such
 * name, or the model has no such function. */
Function *session_function(Session *session, const char *name);
OptimizerSpec session_optimizer(const Session *session);
/* derive_alignment with the model's own names; NULL: the model has no attention of its target over
 * a source. */
Function *session_alignment(Session *session);
/* derive_incremental with the model's own names for target and logits, which are returned, too.
 * False after errors, such as a model that predicts no next tokens. */
bool session_incremental(Session *session, Incremental *out, const char **target,
                         const char **logits);
/* Whether it succeeds, and what `check` asks of its functions (NULL: nothing), which are dropped
 * again. If not, *why has the messages, in the job's arena, and the job has none. */
typedef bool IncrementalCheck(const void *context, const Incremental *incremental);
bool session_decodes(Session *session, IncrementalCheck *check, const void *context,
                     Diagnostics *why);

/* The choice of --gemm; of a job without one, which it sets, that for the job's processor. */
GemmChoice session_gemm(Job *job);
/* Which shapes OpenBLAS multiplies in the training programs of the job under --gemm auto; else no
 * shape is set. False after errors. */
bool session_choice(Job *job, TfcChoice *choice);

/* The VALUE of the first "NAME=VALUE" of that name, or NULL. */
const char *setting_value(const TextList *list, const char *name);
/* Splits "NAME=VALUE" into settings; false after an error: a text has no "=", or no name. */
bool session_settings(Job *job, const TextList *list, Setting **settings, int *n);

/* Before a function is lowered for an OpenCL device: leaves out the passes that make regions for
 * which a device has no kernels, unless the job lists passes. */
void device_passes(Job *job);
/* Lowers the function for a device; the code lives in the job's arena. False after errors. */
bool device_program(Session *session, Function *function, TfcDeviceCode *out);

#endif
