/* Shared by all subcommands: printing messages, and the exit statuses.
 * Results go to stdout, messages to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/text.h"
#include "driver/session/job.h"

enum {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,      /* the input was wrong */
    EXIT_USAGE = 2,      /* the usage was wrong */
    EXIT_INTERRUPTED = 3 /* stopped by a signal, with all work saved */
};

/* Prints the diagnostics gathered since the last call to stderr. */
void cli_flush(Job *job);
/* For one of several processes: from now on only errors are printed, each after this name. */
void cli_speak_as(const char *name);
int cli_errors_told(void); /* by cli_flush so far */
/* Prints the diagnostics and gives EXIT_DONE, or if ok is false EXIT_INPUT; EXIT_USAGE after a
 * usage error. */
int cli_finish(Job *job, bool ok);
/* Writes the text to a file, or prints it (path NULL or "-"); false after an error. */
bool cli_write(Job *job, const char *path, const Text *text);
/* From now on, if memory runs out, temporaries are removed and the process exits with
 * EXIT_INPUT. */
void cli_end_without_memory(void);
/* The command that runs, which usage errors begin with from now on. */
void cli_begin(const char *command);
/* What an error of diag_errno says behind the file that it is about, such as " (--input)"; "":
 * nothing. */
typedef const char *CliFileNote(const void *with, Arena *arena, const char *path);
void cli_note_files(CliFileNote *note, const void *with);
/* "tfc: COMMAND: MESSAGE" on stderr; gives EXIT_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same behind the diagnostics so far, of options that do not fit the model; gives false. */
bool cli_refuse(Job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
