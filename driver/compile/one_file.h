/* The runtime's C files as one text: each header once, where it is first asked for, and of the files
 * those that are needed, as a linker takes them from an archive.
 *
 * All that headers declare becomes static, so that several such texts can be linked into one program.
 * Names that a file has for itself alone are one namespace then: no two files of the runtime may have
 * the same (tests/cli/compile_c.sh). */
#ifndef DRIVER_COMPILE_ONE_FILE_H
#define DRIVER_COMPILE_ONE_FILE_H

#include "driver/session/job.h"

/* `folder` has the files, with paths below it as includes say them. `seed` is C that calls the runtime.
 * System headers that are included anyhow go to `system`, a line each, everything else to `out`. False
 * after an error. */
bool one_file(Job *job, const char *folder, const TextList *files, const char *seed, Text *system, Text *out);

#endif
