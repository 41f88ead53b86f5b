/* Ownership: whether what stands where a command is to write is tfc's own, so that it may be
 * replaced. A folder or file says so by a mark that tfc writes into it (ownership.c has the table).
 *
 *   ownership_check_folder(job, OWN_RUN, "run")      // before anything is written there
 *
 * What is not there, an empty folder, and one with nothing but empty files and this process's own output
 * (that a shell has opened there) is anybody's. */
#ifndef DRIVER_RUN_OWNERSHIP_H
#define DRIVER_RUN_OWNERSHIP_H

#include "driver/session/job.h"

typedef enum Ownership {
    OWN_RUN,       /* of tfc train */
    OWN_PREPARED,  /* of tfc prepare */
    OWN_PACKAGE,   /* of tfc compile --emit js */
    OWN_PUBLISHED, /* of tfc export --format hf */
    OWN_COMPILED   /* NAME.h and NAME.py of tfc compile */
} Ownership;

/* A file in a folder that is being written, and in one whose writing did not come to its end: with
 * it the folder is the writer's before the mark is there (lock.h). */
#define OWNERSHIP_LOCK "lock"

/* False, with an error that names a file of somebody else's and what to do. */
bool ownership_check_folder(Job *job, Ownership kind, const char *folder);
/* The same of a file, whose first line is the mark; what is no regular file is left to who writes it. */
bool ownership_check_file(Job *job, Ownership kind, const char *path);
/* Whether the mark is there. */
bool ownership_is_marked(Ownership kind, const char *folder);
/* Whether the folder has nothing in it besides its lock, empty files and this process's output. */
bool ownership_is_bare(const char *folder);

#endif
