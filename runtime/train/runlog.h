/* The files in the folder of a run: the lines of log.jsonl, and the step-N.safetensors.
 * checkpoint.h reads and writes a checkpoint's content. */
#ifndef RUNTIME_TRAIN_RUNLOG_H
#define RUNTIME_TRAIN_RUNLOG_H

#include "base/file.h"
#include "base/vec.h"
#include "runtime/train/runlog_line.h"

/* A report of the state's place in the training, without a figure. */
TrainReport train_no_report(const TrainState *state);

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
