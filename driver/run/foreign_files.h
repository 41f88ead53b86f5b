/* Files of other programs in the place of tensors: what they are, by their ending, and what to do with them. */
#ifndef DRIVER_RUN_FOREIGN_FILES_H
#define DRIVER_RUN_FOREIGN_FILES_H

#include "driver/session/job.h"

/* Whether the file may be read as safetensors: an error tells of one that is called as another program's and
 * does not begin as safetensors do. What is not there, or not called so, is left to its reader. */
bool foreign_file_check(Job *job, const char *path);

#endif
