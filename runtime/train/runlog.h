/* The files in the folder of a run: the lines of log.jsonl, and which step-N.safetensors there
 * are. What a checkpoint holds is checkpoint.h's. */
#ifndef RUNTIME_TRAIN_RUNLOG_H
#define RUNTIME_TRAIN_RUNLOG_H

#include "base/json_write.h"
#include "base/vec.h"
#include "runtime/train/train.h"

/* FOLDER/NAME, in the arena. */
const char *run_path(Arena *arena, const char *folder, const char *name);
const char *run_step_path(Arena *arena, const char *folder, int64_t step);

/* Drops the lines of log.jsonl that tell of steps after `step` (0: all of them); *seconds: what the
 * last one that stays tells, 0 without one. False after errors. */
bool runlog_cut(Diagnostics *diags, const char *folder, int64_t step, double *seconds);
/* Adds the report as a line; false after errors. */
bool runlog_add(Diagnostics *diags, const char *folder, const TrainReport *report);
/* RunLog: the lines of a log, in order. */
typedef VEC(TrainReport) RunLog;
/* Reads log.jsonl into the arena: empty where there is none; a last line without its end, which is
 * being written, is left out. A figure that is not there is NAN. False after errors, which name the
 * line. (runlog_read.c) */
bool runlog_read(Diagnostics *diags, Arena *arena, const char *folder, RunLog *log);
/* TrainHas: whether the checkpoint of a step is there. */
typedef bool TrainHas(void *user, int64_t step);
/* TrainJudged: how many validations were judged; of how many of these the log lacks the measure. */
typedef struct TrainJudged {
    int64_t validations, lacking;
} TrainJudged;
/* The best of the log's validations up to state->step that are behind state->judge_from: of all, or (has not
 * NULL) of those whose checkpoint is there. Fills what train_judge keeps in the state. (best.c) */
TrainJudged train_judge_log(const TrainBest *best, const RunLog *log, TrainHas *has, void *user,
                            TrainState *state);
/* The report as members of the object that is open. */
void runlog_put(const TrainReport *report, JsonWriter *json);

/* The numbers N of the step-N.safetensors in the folder, in order, that are at most
 * `newest`. Returns how many; *steps lives in the arena. */
int run_steps(Arena *arena, const char *folder, int64_t newest, int64_t **steps);
/* Removes step files: those after `newest`, and all but the last `keep` before. */
void run_prune(Arena *arena, const char *folder, int64_t newest, int64_t keep);
/* TO becomes the same file as FROM (a hard link, renamed over it); false if the
 * file system has no links. */
bool run_link(const char *from, const char *to);

#endif
