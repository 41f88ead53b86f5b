/* Ownership: whether a folder or file at the place of a command's output was made by tfc, so that
 * it may be replaced. tfc writes a mark into what it makes (ownership.c has the table).
 *
 *   ownership_check_folder(job, OWN_RUN, "run")      // before anything is written there
 *
 * A command may also write where nothing exists, into an empty folder, and into one with nothing
 * but its lock, empty files and this process's own output (which a shell has opened there). */
#ifndef DRIVER_RUN_OWNERSHIP_H
#define DRIVER_RUN_OWNERSHIP_H

#include "driver/job.h"

typedef enum Ownership {
    OWN_RUN,       /* of tfc train */
    OWN_PREPARED,  /* of tfc prepare */
    OWN_PACKAGE,   /* of tfc compile --emit js */
    OWN_PUBLISHED, /* of tfc export --format hf */
    OWN_COMPILED   /* NAME.h and NAME.py of tfc compile */
} Ownership;

/* The lock's file (lock.h). It marks a folder as tfc's that has no mark yet, because it is being
 * written or was not finished. */
#define OWNERSHIP_LOCK "lock"

/* Checks that a command may write into the folder. False after an error: the folder cannot be read,
 * or has a file that is not tfc's, which the error names with what to do. */
bool ownership_check_folder(Job *job, Ownership kind, const char *folder);
/* Checks that a command may replace the file: it has the mark in its first bytes, is empty, or is
 * not there. True also for a device, pipe or folder, which the writer checks. False after an
 * error. */
bool ownership_check_file(Job *job, Ownership kind, const char *path);
/* The folder of the run to which the file belongs by its name and place, such as a checkpoint, the
 * log or the vocabulary; NULL: the file belongs to no run. In the arena. */
const char *ownership_run_of(Arena *arena, const char *path);
/* Whether the folder has the mark. */
bool ownership_is_marked(Ownership kind, const char *folder);
/* Whether the folder has nothing in it besides its lock, empty files and this process's output, or
 * does not exist. */
bool ownership_is_bare(const char *folder);

#endif
