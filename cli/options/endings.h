/* Endings of the files of -o: an ending decides what is written, or is refused. */
#ifndef CLI_OPTIONS_ENDINGS_H
#define CLI_OPTIONS_ENDINGS_H

#include "cli/cli.h"

/* What a command writes into `path`: `chosen`, the value of `option` ("--emit"), if it was given, else the kind of the
 * ending (endings.c). NULL after a usage error: the command does not write such files. option NULL: the command writes
 * one kind. */
const char *ending_kind(Job *job, const char *command, const char *path, const char *option, const char *chosen);

#endif
