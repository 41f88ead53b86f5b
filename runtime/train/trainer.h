/* Inside the training loop: shared by train.c (the loop), step.c (a step), pace.c (the rate where time
 * ends the training) and after_step.c (reports, validations, checkpoints). */
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
    Totals *early, *late;   /* only when accumulating: what counts gives, and what compute gives */
    GradientSum *sum;       /* only with a split, as are the next two */
    Overlap *overlap;       /* NULL: nothing is sent while this rank computes */
    SumStep *sums;          /* room for an update's */
    double *losses;         /* of the batches of an update */
    Batches *batches;       /* of state->epoch, of its window */
    Batch batch;
    double start, earlier; /* when this session began; seconds of those before */
    bool own_horizon;      /* the state's was estimated in this session */
    TrainPace pace;
    /* since the last report */
    double loss_sum, norm;
    int64_t loss_tokens;
    double report_start;
    double waited_ranks, waited_network; /* seconds */
    int64_t saved_step, validated_step;
    bool rounded; /* some of others' parts of params are here as bf16 holds them (split.h) */
} Trainer;

/* Seconds of training, earlier sessions included. (pace.c, as are the next two) */
double trainer_spent(const Trainer *t);
/* The rate of a step, from 1. */
double trainer_rate(const Trainer *t, int64_t step);
/* After a step: in a training that time ends, fits warm-up and end of the rate to the speed. The state keeps
 * both, so that a resumed run has the same curve. */
void trainer_pace(Trainer *t);

/* An error; gives false. (step.c, as are the next seven) */
bool trainer_out_of_memory(Trainer *t);
bool trainer_is_first(const Trainer *t); /* whether this process tells and writes */
/* What computes a batch: train_step or accumulate. */
const TfcProgram *trainer_program(const Trainer *t);
/* Batches of an update, pieces of them where they are cut into shards. */
int64_t trainer_batches(const Trainer *t);
/* Batches of the epoch, or of its window, at the place where the state says; a new one when over.
 * False after errors. */
bool trainer_open_epoch(Trainer *t);
/* All params of the store are the last update's, others' parts too. */
void trainer_settle(Trainer *t);
/* The same on rank 0, and they are as the others have them, to the last bit: what is read otherwise than by
 * the program that computes a batch. Other ranks serve. */
void trainer_fetch_params(Trainer *t);
/* The next step; the state is behind it then. False after errors, of which where ranks fail
 * together rank 0 alone tells. */
bool trainer_step(Trainer *t);

/* Adds what came after the last report to log.jsonl, where a training is interrupted; false after errors.
 * (after_step.c) */
bool trainer_log_rest(Trainer *t);
/* Validation, checkpoint and report of the step just done, as they are due; all of them after
 * the last. False after errors. (after_step.c) */
bool trainer_after_step(Trainer *t, bool last);
/* Saves the state as step-N and last, and as best if it is; removes older checkpoints. False
 * after errors; the checkpoint before is then still there. (after_step.c) */
bool trainer_save(Trainer *t, bool best);
/* Writes average.safetensors, the mean of the last checkpoints; false after errors.
 * (after_step.c) */
bool trainer_average(Trainer *t);

#endif
