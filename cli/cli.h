/* What every subcommand shares: how its messages are printed, and the exit statuses.
 * Results go to stdout, messages to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/text.h"
#include "driver/session/job.h"

enum {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,      /* the input was wrong */
    EXIT_USAGE = 2,      /* the usage was wrong */
    EXIT_INTERRUPTED = 3 /* but saved */
};

/* Prints the diagnostics gathered since the last call to stderr. */
void cli_flush(Job *job);
/* From now on errors alone are printed, behind this name: of one of several processes. */
void cli_speak_as(const char *name);
int cli_errors_told(void); /* by cli_flush so far */
/* Prints the diagnostics and gives EXIT_DONE, or EXIT_INPUT if ok is false. */
int cli_finish(Job *job, bool ok);
/* The text as the file of that path, or printed (NULL or "-"); false after an error. */
bool cli_write(Job *job, const char *path, const Text *text);
/* From now on memory that runs out is an input that was too much: temporaries are removed, EXIT_INPUT. */
void cli_end_without_memory(void);
/* "tfc: MESSAGE" on stderr; gives EXIT_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
