/* The training loop: batches, steps, reports, validations, checkpoints, stopping
 * and resuming. It prints nothing: reports go to the hooks.
 *
 * In the folder of a run it keeps
 *   step-N.safetensors    the last `keep` checkpoints
 *   last.safetensors      the newest of them
 *   best.safetensors      the checkpoint of the best validation
 *   average.safetensors   the mean of the last `average`, if above 1, written at the end
 *   log.jsonl             a line a report
 * Everything follows from (settings, corpus, TrainState): a run that was killed and
 * resumed has the same parameters, bit for bit, as one that never stopped; but not with
 * rounded_gradients, nor where a limit of time shapes the rate. */
#ifndef RUNTIME_TRAIN_TRAIN_H
#define RUNTIME_TRAIN_TRAIN_H

#include "runtime/data/prepared.h"
#include "runtime/decode/feed.h"
#include "runtime/decode/totals.h"
#include "runtime/ranks/ranks.h"
#include "runtime/train/parallel/split.h"
#include "runtime/train/runlog.h"
#include "runtime/train/schedule.h"
#include "runtime/train/step_hashes.h"

#include <signal.h>

typedef struct TrainPrograms {
    /* train_step, with its gradients for TrainSettings.hashes; NULL: accumulate and update */
    const TfcProgram *step;
    const TfcProgram *accumulate, *update; /* the gradients of several batches, then one update */
    const TfcProgram *totals; /* of these batches, before their gradients; NULL: none are needed */

    /* with a split: assigns the model's states; NULL: it has none, or the update does it */
    const TfcProgram *states;
    Feed feed;
    /* NULL without shards. With a split, `update` updates this rank's part, in split->own, and
     * reads the norm of the gradient as an input; `update` is NULL if the rank's part is empty */
    const Split *split;
} TrainPrograms;

/* A warm-up that would not end within `seconds` is shortened to 1/TRAIN_WARMUP_SHARE of the steps
 * that fit, or to the steps done if these are more. */
enum { TRAIN_WARMUP_SHARE = 10 };

/* TrainPace: the speed of a training, measured without the process's first step, which is slower.
 * Begins as zeros. */
enum { TRAIN_PACE_STEPS = 3 };
typedef struct TrainPace {
    double from; /* clock_seconds() */
    int64_t step;
} TrainPace;
/* Called after each step: the seconds that a step takes; 0 before TRAIN_PACE_STEPS steps and
 * `seconds` are over. (pace.c) */
double train_pace(TrainPace *pace, int64_t step, double now, double seconds);

typedef struct TrainSettings {
    RateSettings rate;
    /* batch.seed gives the order of the data. With batch.shards above 1, the gradients of an
     * update's pieces are summed in the order of gradient_sum.h */
    BatchOptions batch;
#define LOOP(name, ...) \
    int64_t name; /* steps 0: no limit; average above 1: at least so many checkpoints stay */
#include "base/training_settings.def"
    double seconds;         /* limit of the training, all sessions together; 0: no limit */
    TrainBest best;         /* the figure by which validations are compared */
    bool rounded_gradients; /* between ranks as bf16 (gradient_sum.h) */
    bool check_numerics;    /* an error names the first op that makes a NaN */
    bool hashes;            /* of every step, for the hook `hashed`; rank 0's holds for all */
    const char *folder;
    const volatile sig_atomic_t *stop; /* not 0: finish the step, save, end */

    /* the processes that train together, all with the same settings; NULL: one process. They share
     * the pieces of each update, and write checkpoints together; only rank 0 reports and validates.
     * If train fails on a rank with an error, its caller has to end all ranks */
    const Ranks *ranks;
} TrainSettings;

typedef struct TrainHooks {
    void *user;
    /* Before the first step: what the programs' values and the store take, in bytes. */
    void (*planned)(void *user, int64_t slab_bytes, int64_t store_bytes);
    /* After every step. `due`: the report is also written to log.jsonl; else it is only for a
     * progress line that is redrawn. */
    void (*report)(void *user, const TrainReport *report, bool due);
    /* Measures the params: fills the report's figures, valid and samples; NULL: no validation.
     * false: an error is in the diagnostics. */
    bool (*validate)(void *user, TrainReport *report);
    /* After a step whose gradient is not finite, which has updated nothing: the name of a param
     * whose gradient of this batch is not finite, and in *value its first such element. Returns
     * NULL if there is none. The hook may be NULL. */
    const char *(*find_bad_gradient)(void *user, const Batch *batch, uint64_t stream,
                                     double *value);
    /* After a step of a program that made a NaN (check_numerics): where the model's text says what
     * it computes, and in *why what makes a NaN there, or "". {0}: not known. The hook may be
     * NULL. */
    Loc (*place_of_step)(void *user, const TfcProgram *program, int step, const char **why);
    /* With `hashes`, after every step, before it is reported and saved. False after an error. */
    bool (*hashed)(void *user, const StepHashes *hashes);
} TrainHooks;

typedef enum TrainEnd {
    TRAIN_DONE,        /* the limit of steps, time or patience is reached */
    TRAIN_INTERRUPTED, /* stop was set; last.safetensors is of this step */
    TRAIN_FAILED       /* an error is in the diagnostics; checkpoints are the last good ones */
} TrainEnd;

/* Trains, beginning with *state (a new training's: {.seed, .config}) and the store's tensors. The
 * corpus has its rows in memory, or in prepared data, which is loaded a window at a time. */
TrainEnd train(Diagnostics *diags, const TrainPrograms *programs, const TrainSettings *settings,
               const TrainHooks *hooks, Corpus *corpus, Store *store, TrainState *state);

/* A hash of what must not change between a run and its resumption (TrainState.config). */
uint64_t train_config(const TrainSettings *settings, const Corpus *corpus);

#endif
