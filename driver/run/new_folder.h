/* NewFolder: a folder that appears complete or not at all. It is made as a temporary beside its
 * place (base/temporary.h), locked by this process, and renamed at the end. If another process has
 * meanwhile written into that place, its folder stays, the temporary is removed, and that is an
 * error.
 *
 *   NewFolder new;
 *   bool ok = new_folder_begin(job, "run", &new) && … write into new.made …;
 *   return new_folder_end(&new, ok); */
#ifndef DRIVER_RUN_NEW_FOLDER_H
#define DRIVER_RUN_NEW_FOLDER_H

#include "driver/job.h"

typedef struct NewFolder {
    Job *job;
    const char *folder; /* what it becomes */
    const char *made;   /* where it is until then; NULL: nowhere */
    int lock;           /* -1: not locked */
} NewFolder;

/* Whether the path does not exist or is an empty folder. */
bool new_folder_is_free(const char *folder);
/* Makes the temporary folder, and the parents of its place. Removes, with a note, temporaries of
 * the same folder that killed processes left. False after an error. */
bool new_folder_begin(Job *job, const char *folder, NewFolder *new);
/* Renames the temporary folder into its place if `ok`, else removes it. True: the folder is in its
 * place. False: not `ok`, nothing was begun, or, after an error, it cannot be renamed. */
bool new_folder_end(NewFolder *new, bool ok);

#endif
