/* A folder that is there whole or not at all: it is made beside, as a temporary (base/temporary.h) that this process
 * has locked, and renamed at the end. Nothing of another process is touched: where the folder has come into being
 * meanwhile, it stays, and what was made goes.
 *
 *   NewFolder new;
 *   bool ok = new_folder_begin(job, "run", &new) && … write into new.made …;
 *   return new_folder_end(&new, ok); */
#ifndef DRIVER_RUN_NEW_FOLDER_H
#define DRIVER_RUN_NEW_FOLDER_H

#include "driver/session/job.h"

typedef struct NewFolder {
    Job *job;
    const char *folder; /* what it becomes */
    const char *made;   /* where it is until then; NULL: nowhere */
    int lock;
} NewFolder;

/* Whether nothing is there, or an empty folder. */
bool new_folder_is_free(const char *folder);
/* Makes the parents, too. Removes what processes that were killed left of the same folder, with a note. False after an
 * error. */
bool new_folder_begin(Job *job, const char *folder, NewFolder *new);
/* Puts it in place if `ok`, else removes it; what was never begun has nothing to end. False unless it is in place. */
bool new_folder_end(NewFolder *new, bool ok);

#endif
