/* The runtime as one C file, with only the parts that a model needs: system headers, headers and C
 * files, each once.
 *
 * All that headers declare is static, so that several such files can be linked into one program.
 * Names local to the runtime's C files then share one namespace: no two files may use the same
 * (tests/cli/compile_c.sh). */
#ifndef DRIVER_COMPILE_ONE_FILE_H
#define DRIVER_COMPILE_ONE_FILE_H

#include "driver/job.h"

/* Appends to `out` those parts of the file `path` (made by cmake/one_file.awk) that `seed` names,
 * and the parts that these need. `seed`: C code that calls the runtime. False after an error. */
bool one_file(Job *job, const char *path, const char *seed, Text *out);

#endif
