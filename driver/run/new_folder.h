/* NewFolder: a folder that appears complete or not at all. It is made as a temporary beside its
 * place (base/temporary.h), locked by this process, and renamed at the end. If another process has
 * made the folder meanwhile, that one stays, and the temporary is removed.
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

/* Whether the path does not exist or is an empty folder. */
bool new_folder_is_free(const char *folder);
/* Makes the temporary folder, and the parents of its place. Removes, with a note, temporaries of
 * the same folder that killed processes left. False after an error. */
bool new_folder_begin(Job *job, const char *folder, NewFolder *new);
/* Renames the folder into its place if `ok`, else removes it; does nothing if none was begun. True:
 * it is in place. */
bool new_folder_end(NewFolder *new, bool ok);

#endif
