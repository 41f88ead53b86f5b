/* One writer at a time in the folder of a run or of prepared data: the file FOLDER/lock, locked as
 * long as the writer's process lives, however it ends. It stays where a folder is left unfinished. */
#ifndef DRIVER_RUN_LOCK_H
#define DRIVER_RUN_LOCK_H

#include "driver/run/ownership.h"

typedef struct RunLock {
    const char *folder, *path; /* in the job's arena */
    Ownership kind;
    int fd; /* -1: not taken */
} RunLock;

/* Makes the folder if it is not there, takes its lock, and removes what killed processes
 * left of files they were writing (base/temporary.h). False, with an error, where the folder holds
 * what is somebody else's (ownership.h), or another process, which it names, has the lock. Freed by
 * run_lock_free in any case. */
bool run_lock_take(Job *job, Ownership kind, const char *folder, RunLock *lock);
/* Whether a training has it now. */
bool run_lock_is_taken(const char *folder);
/* Also removes the folder if it is empty: nothing was begun. What was begun and is not whole keeps
 * the file, so that the next call may go on there. */
void run_lock_free(RunLock *lock);

#endif
