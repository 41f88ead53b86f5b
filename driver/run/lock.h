/* RunLock: one writer at a time in the folder of a run or of prepared data. The writer's process
 * holds a lock on the file FOLDER/lock until run_lock_free, or until the process ends in whatever
 * way. The file remains if the folder is unfinished. */
#ifndef DRIVER_RUN_LOCK_H
#define DRIVER_RUN_LOCK_H

#include "driver/run/ownership.h"

typedef struct RunLock {
    const char *folder, *path; /* in the job's arena */
    Ownership kind;
    int fd; /* -1: not taken */
} RunLock;

/* Makes the folder if it does not exist, takes its lock, and removes temporaries that killed
 * processes left (base/temporary.h). False after an error, such as a folder that has files that are
 * not tfc's (ownership.h), or another process, which the error names, that has the lock. Where the
 * file system has no locks, the result is true and nothing is locked. Call run_lock_free in any
 * case. */
bool run_lock_take(Job *job, Ownership kind, const char *folder, RunLock *lock);
/* Whether a process holds the folder's lock now. */
bool run_lock_is_taken(const char *folder);
/* Gives the lock back. Removes the lock's file, and then the folder if that is empty. A folder that
 * has files but not yet its mark (ownership.h) keeps the lock's file, so that the next call may
 * continue there. */
void run_lock_free(RunLock *lock);

#endif
