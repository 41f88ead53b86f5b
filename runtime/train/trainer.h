/* Inside the training loop: shared by train.c (the loop), step.c (a step), pieces.c (its batches),
 * pace.c (the rate if time ends the training) and after_step.c (reports, validations,
 * checkpoints). */
#ifndef RUNTIME_TRAIN_TRAINER_H
#define RUNTIME_TRAIN_TRAINER_H

#include "runtime/train/parallel/overlap.h"
#include "runtime/train/train.h"

typedef struct Trainer {
    Diagnostics *diags;
    const TrainPrograms *programs;
    const TrainSettings *settings;
    const TrainHooks *hooks;
    Corpus *corpus;
    Corpus *window; /* of state->window, where the corpus is prepared data */
    Store *store;
    TrainState *state;
    Exec *compute, *update; /* update: only when accumulating */
    Exec *counts, *states;  /* of programs->totals and programs->states, or NULL */
    Totals *early, *late;   /* only when accumulating: sums of outputs of `counts`, of `compute` */
    GradientSum *sum;       /* only with a split */
    Overlap *overlap;   /* NULL: nothing is sent while this rank computes, or there is no split */
    SumStep *sums;      /* room for an update's steps; only with a split */
    double *losses;     /* of the batches of an update */
    StepHashes *hashes; /* NULL: not wanted */
    Batches *batches;   /* of state->epoch, of its window */
    Batch batch;
    double start, earlier; /* when this session began; seconds of those before */
    bool own_horizon;      /* state->horizon was estimated in this session */
    TrainPace pace;
    /* since the last report */
    double loss_sum, norm;
    int64_t loss_tokens;
    double report_start;
    double waited_ranks, waited_network; /* seconds */
    int64_t saved_step, validated_step;
    bool rounded; /* the store has other ranks' parts of some params rounded to bf16 (split.h) */
} Trainer;

/* ---- pace.c ---- */
/* Seconds of training, earlier sessions included. */
double trainer_spent(const Trainer *t);
/* The learning rate of a step; steps count from 1. */
double trainer_rate(const Trainer *t, int64_t step);
/* Called after a step: in a training with a limit of time, fits the warm-up and the last step of
 * the rate to the speed. The state has both, so that a resumed run has the same curve. */
void trainer_pace(Trainer *t);

/* ---- step.c ---- */
/* Adds an error; returns false. */
bool trainer_out_of_memory(Trainer *t);
/* Whether this process is rank 0, which reports and validates, or the only one. */
bool trainer_is_first(const Trainer *t);
/* The program that computes a batch: train_step or accumulate. */
const TfcProgram *trainer_program(const Trainer *t);
/* How many batches an update has; with shards, how many pieces. */
int64_t trainer_batches(const Trainer *t);
/* Opens the batches of the state's epoch, or of its window; the next one if this one is over. False
 * after errors. */
bool trainer_open_epoch(Trainer *t);
/* Waits until the store has the params of the last update, other ranks' parts included. */
void trainer_settle(Trainer *t);
/* On rank 0: as trainer_settle, and fetches the other ranks' parts unrounded, for all readers but
 * the program that computes a batch. The other ranks are in split_serve meanwhile. */
void trainer_fetch_params(Trainer *t);
/* Does the next step and counts it in the state. False after errors; one that all ranks meet is
 * reported by rank 0 alone. */
bool trainer_step(Trainer *t);

/* ---- after_step.c ---- */
/* When a training is interrupted: adds a line about the steps since the last report to log.jsonl.
 * False after errors. */
bool trainer_log_rest(Trainer *t);
/* Validates (with a hook for that), saves and reports after a step, each if it is due; after the
 * last step all three are. False after errors. */
bool trainer_after_step(Trainer *t, bool last);
/* Saves a checkpoint as step-N and last, and with `best` as best; removes older checkpoints. False
 * after errors; the previous checkpoint is then still there. */
bool trainer_save(Trainer *t, bool best);
/* Writes average.safetensors, the mean of the last checkpoints; false after errors. */
bool trainer_average(Trainer *t);

#endif
