/* The files in the folder of a run: the lines of log.jsonl, and which step-N.safetensors there
 * are. What a checkpoint holds is checkpoint.h's. */
#ifndef RUNTIME_TRAIN_RUNLOG_H
#define RUNTIME_TRAIN_RUNLOG_H

#include "base/json_write.h"
#include "base/vec.h"
#include "runtime/train/best.h"

/* TrainValid: one validation text's.
 *   name   NULL: the run's own, which has none */
typedef struct TrainValid {
    const char *name;
    TrainFigures figures;
} TrainValid;

/* TrainSample: a line of a validation text, from 0, and what the model made of it.
 *   prompt   the beginning that a language model went on with; NULL: the text is a translation */
typedef struct TrainSample {
    int64_t line;
    const char *prompt, *text;
} TrainSample;

/* What a line of log.jsonl says. Figures are means since the last report; NAN: none. */
typedef struct TrainReport {
    int64_t step, epoch;
    double loss, rate, gradient_norm, tokens_per_second;
    double waited_for_ranks, waited_for_network; /* rank 0's share of the time; NAN: it is alone */
    int64_t memory;      /* bytes that are resident; 0: unknown */
    double seconds;      /* of training, earlier sessions included */
    double seconds_left; /* NAN: unknown */
    TrainFigures figures;       /* of the text that decides which is the best */
    const TrainValid *valid;    /* every text's; the hook's until the next validation */
    int n_valid;
    const TrainSample *samples; /* of the first text, always the same lines */
    int n_samples;
    const char *best_by; /* TrainBest.by of the validation; NULL: there is none, or an older version's */
    bool validated, best;
} TrainReport;

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
 * NULL) of those whose checkpoint is there. Fills what train_judge keeps in the state. */
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
