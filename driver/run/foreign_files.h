/* Files of other programs, given where safetensors are expected: what they are, by their ending, and what to do. */
#ifndef DRIVER_RUN_FOREIGN_FILES_H
#define DRIVER_RUN_FOREIGN_FILES_H

#include "driver/session/job.h"

/* False after an error: the file's ending is another program's, and it does not begin as safetensors do. True for any
 * other file, also for one that does not exist: its reader reports that. */
bool foreign_file_check(Job *job, const char *path);

#endif
