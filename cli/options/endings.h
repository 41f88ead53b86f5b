/* Endings of the files of -o: an ending decides what is written, or is refused. */
#ifndef CLI_OPTIONS_ENDINGS_H
#define CLI_OPTIONS_ENDINGS_H

#include "cli/cli.h"

/* What a command writes into `path`: `chosen`, the value of `option` ("--emit"), if it was given,
 * else what the ending says (endings.c). NULL after a usage error: the command does not write files
 * of that ending, or the path is NULL. `option` may be NULL: the command has no such option. */
const char *ending_kind(Job *job, const char *command, const char *path, const char *option,
                        const char *chosen);

#endif
