/* One training at a time in the folder of a run: the file RUN/lock, locked as long as the
 * training's process lives, however it ends. */
#ifndef DRIVER_RUN_LOCK_H
#define DRIVER_RUN_LOCK_H

#include "driver/job.h"

typedef struct RunLock {
    const char *folder, *path; /* in the job's arena */
    int fd;                    /* -1: not taken */
} RunLock;

/* Makes the folder if it is not there, takes its lock, and removes what killed processes
 * left of files they were writing (NAME.tmp-PID). False, with an error, where another
 * process has the lock, which it names. Freed by run_lock_free in any case. */
bool run_lock_take(Job *job, const char *folder, RunLock *lock);
/* Whether a training has it now. */
bool run_lock_is_taken(const char *folder);
/* Also removes the folder if it is empty: nothing was begun. */
void run_lock_free(RunLock *lock);

#endif
