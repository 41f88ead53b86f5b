/* Which file of a run's folder its params are in. Paths live in the job's arena. */
#ifndef DRIVER_RUN_CHECKPOINTS_H
#define DRIVER_RUN_CHECKPOINTS_H

#include "driver/session/job.h"

#define RUN_WEIGHTS "weights"

/* Where the params of a run are: its average, else the best, else the last, else the folder
 * RUN_WEIGHTS. NULL: it has none yet. */
const char *run_params(Job *job, const char *folder);
/* The checkpoint of that name, a file or one in the run's folder; of none (NULL) run_params.
 * NULL after an error. */
const char *run_checkpoint(Job *job, const char *folder, const char *name);

/* The step of a checkpoint in the run's folder; 0 where there is none that can be read. */
int64_t run_checkpoint_step(Job *job, const char *folder, const char *name);

#endif
