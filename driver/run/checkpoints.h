/* Which file of a run's folder has the params. Paths live in the job's arena. */
#ifndef DRIVER_RUN_CHECKPOINTS_H
#define DRIVER_RUN_CHECKPOINTS_H

#include "driver/session/job.h"

#define RUN_WEIGHTS "weights"

/* The checkpoint of a run: its average, else its best, else its last, else the folder RUN_WEIGHTS.
 * NULL: the run has none yet. */
const char *run_params(Job *job, const char *folder);
/* The newest step-N.safetensors; NULL: there is none. */
const char *run_newest_step(Job *job, const char *folder);
/* Whether there is a checkpoint to resume, last.safetensors; where it is missing and a step's is
 * there, the newest becomes it, and a note tells. False also after an error: only checkpoints are
 * there that were made for other ends. */
bool run_can_resume(Job *job, const char *folder);
/* The checkpoint `name`: a file, or one in the run's folder. name NULL: run_params. NULL after an
 * error. */
const char *run_checkpoint(Job *job, const char *folder, const char *name);

/* The step of a checkpoint in the run's folder; 0: it is not there or cannot be read. */
int64_t run_checkpoint_step(Job *job, const char *folder, const char *name);

#endif
