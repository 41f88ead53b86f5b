/* Files of other programs, given where safetensors are expected: what they are, by their ending or
 * their first bytes, and what to do. */
#ifndef DRIVER_RUN_FOREIGN_FILES_H
#define DRIVER_RUN_FOREIGN_FILES_H

#include "driver/session/job.h"

/* False after an error: the file does not begin as safetensors do, and its ending or its beginning
 * (text, ELF, empty) says what it is. True for any other file, for an index of shards (.json), and
 * for a file that cannot be read, which its reader reports. */
bool foreign_file_check(Job *job, const char *path);

#endif
