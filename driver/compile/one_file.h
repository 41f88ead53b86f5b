/* The runtime as one C file, of the parts that a model needs: system headers, headers, files, each
 * once.
 *
 * All that headers declare is static, so that several such texts can be linked into one program.
 * Names that a file has for itself alone are one namespace then: no two files of the runtime may
 * have the same (tests/cli/compile_c.sh). */
#ifndef DRIVER_COMPILE_ONE_FILE_H
#define DRIVER_COMPILE_ONE_FILE_H

#include "driver/session/job.h"

/* Of the parts in the file `path` (cmake/one_file.awk makes it) those whose names are in `seed`, C
 * that calls the runtime, and those that these need. Returns false after an error. */
bool one_file(Job *job, const char *path, const char *seed, Text *out);

#endif
