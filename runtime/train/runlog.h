/* The files in the folder of a run: the lines of log.jsonl, and the step-N.safetensors.
 * checkpoint.h reads and writes a checkpoint's content. */
#ifndef RUNTIME_TRAIN_RUNLOG_H
#define RUNTIME_TRAIN_RUNLOG_H

#include "base/file.h"
#include "base/json_write.h"
#include "base/vec.h"
#include "runtime/train/best.h"

/* TrainValid: the figures of one validation text.
 *   name   NULL: the text has no name */
typedef struct TrainValid {
    const char *name;
    TrainFigures figures;
} TrainValid;

/* TrainSample: a line of a validation text, from 0, and what the model made of it.
 *   prompt   the beginning that a language model continued; NULL: the text is a translation */
typedef struct TrainSample {
    int64_t line;
    const char *prompt, *text;
} TrainSample;

/* TrainReport: a line of log.jsonl. loss and tokens_per_second are means since the last line, rate
 * and gradient_norm are of this step. NAN: there is none. */
typedef struct TrainReport {
    int64_t step, epoch;
    double loss, rate, gradient_norm, tokens_per_second;
    /* shares of rank 0's time; NAN: there are no other ranks */
    double waited_for_ranks, waited_for_network;
    int64_t memory;          /* bytes that are resident; 0: unknown */
    double seconds;          /* of training, earlier sessions included */
    double seconds_left;     /* NAN: unknown */
    TrainFigures figures;    /* of the text by which the best is chosen */
    const TrainValid *valid; /* of every text; the hook's, valid until the next validation */
    int n_valid;
    const TrainSample *samples; /* of the first text, always the same lines; as `valid` */
    int n_samples;
    /* TrainBest.by of the validation; NULL: no validation, or a line of an older version */
    const char *best_by;
    bool validated, best;

    /* of how many checkpoints the validated params are the mean, and the step of the oldest; 0:
     * they are those of the step. `best`: the mean is better than the best checkpoint */
    int64_t averaged, averaged_first;
} TrainReport;

/* A report of the state's place in the training, without a figure. */
TrainReport train_no_report(const TrainState *state);
/* The member that makes a line one of a mean (TrainReport.averaged). */
#define RUNLOG_AVERAGED "averaged"

/* FOLDER/step-STEP.safetensors, in the arena. */
const char *run_step_path(Arena *arena, const char *folder, int64_t step);

/* Removes the lines of log.jsonl about steps after `step`, and a last line without a line break;
 * with step 0 the whole log becomes log-before.jsonl. *seconds: those of the last line that is
 * left, 0 without one. False after errors. */
bool runlog_cut(Diagnostics *diags, const char *folder, int64_t step, double *seconds);
/* Adds the report as a line; false after errors. */
bool runlog_add(Diagnostics *diags, const char *folder, const TrainReport *report);
/* RunLog: the lines of a log, in order. */
typedef VEC(TrainReport) RunLog;
/* Reads log.jsonl of the folder of a run into the arena; empty if there is no such file. The lines
 * of means are no reports of a step, and left out; so is a last line without a line break, which is
 * still being written. A figure that a line lacks is
 * NAN. False after errors, which name the line. (runlog_read.c) */
bool runlog_read(Diagnostics *diags, Arena *arena, FileReach run, RunLog *log);
/* TrainHas: whether the checkpoint of a step is there. */
typedef bool TrainHas(void *user, int64_t step);
/* TrainJudged: how many validations were compared, and for how many of them the log has no such
 * figure. */
typedef struct TrainJudged {
    int64_t validations, lacking;
} TrainJudged;
/* Finds the best of the log's validations after state->judge_from, up to state->step; with `has`,
 * among those whose checkpoint exists. Fills the fields of the state that train_judge updates. */
TrainJudged train_judge_log(const TrainBest *best, const RunLog *log, TrainHas *has, void *user,
                            TrainState *state);
/* Writes the report as members of the open object. */
void runlog_put(const TrainReport *report, JsonWriter *json);

/* The numbers N of the step-N.safetensors in the folder, in order, that are at most
 * `newest`. Returns how many; *steps lives in the arena. */
int run_steps(Arena *arena, const char *folder, int64_t newest, int64_t **steps);
/* Removes step files: those after `newest`, and all but the last `keep` of the others. */
void run_prune(Arena *arena, const char *folder, int64_t newest, int64_t keep);
/* Makes TO a hard link to the file FROM, in place of a file of this name. False, and errno: it
 * cannot, such as on a file system without links. */
bool run_link(const char *from, const char *to);

#endif
