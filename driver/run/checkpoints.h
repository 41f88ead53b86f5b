/* Which file of a run's folder has the params. Paths live in the job's arena. */
#ifndef DRIVER_RUN_CHECKPOINTS_H
#define DRIVER_RUN_CHECKPOINTS_H

#include "driver/job.h"

#define RUN_WEIGHTS "weights"

/* The checkpoint of a run: its average, unless a validation found its best to be as good; else its
 * best, else its last, else the folder RUN_WEIGHTS. NULL: the run has none yet. */
const char *run_params(Job *job, const char *folder);
/* Why that one, in the arena, as words behind its name: "the average's BLEU of …". */
const char *run_params_reason(Job *job, const char *folder);
/* Whether that is RUN_WEIGHTS: weights of another program, a folder or a file of any format. */
bool run_is_weights(const char *path);
/* Where the link RUN_WEIGHTS of an imported run leads, if nothing is there any more, as a message
 * with what to do; NULL: the link leads to something, or there is none. */
const char *run_lost_weights(Job *job, const char *folder);
/* The newest step-N.safetensors; NULL: there is none. */
const char *run_newest_step(Job *job, const char *folder);
/* Whether there is a checkpoint to resume: last.safetensors. If it is missing, the newest
 * step-N.safetensors is linked to this name, with a note. False: there is none, with a note that
 * the training begins anew; or, after an error, the link cannot be made, or the run has only an
 * average or a best checkpoint. */
bool run_can_resume(Job *job, const char *folder);
/* The path of the checkpoint `name`: `name` itself if that file exists, else FOLDER/name, with
 * ".safetensors" behind it where only that file exists. The path need not exist. name NULL: as
 * run_params, and NULL after an error if the run has none. A warning tells that a checkpoint is
 * of another training than the run.json beside it tells of. */
const char *run_checkpoint(Job *job, const char *folder, const char *name);

/* Whether the file is a checkpoint of a training, or cannot be read: other files have no step. */
bool run_is_checkpoint(Job *job, const char *path);
/* The step of a checkpoint in the run's folder; 0: it is not there, cannot be read, or has no
 * step. */
int64_t run_checkpoint_step(Job *job, const char *folder, const char *name);

#endif
