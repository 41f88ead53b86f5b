/* Shared by all subcommands: printing messages, and the exit statuses.
 * Results go to stdout, messages to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/text.h"
#include "driver/job.h"

enum {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,      /* an error: wrong input, a failed write, memory that ran out */
    EXIT_USAGE = 2,      /* the usage was wrong */
    EXIT_INTERRUPTED = 3 /* stopped by a signal, with all work saved */
};

/* Prints the diagnostics gathered since the last call to stderr, but no warning twice. */
void cli_flush(Job *job);
/* For one of several processes: from now on only errors are printed, each after this name. */
void cli_speak_as(const char *name);
int cli_errors_told(void); /* how many errors, of the usage too, were printed so far */
/* Prints the diagnostics and returns EXIT_DONE; if ok is false, EXIT_USAGE after a usage error,
 * else EXIT_INPUT. */
int cli_finish(Job *job, bool ok);
/* Writes the text to a file, or prints it (path NULL or "-"); false after an error of a file. A
 * failure to print is reported at the end of the program (main.c). */
bool cli_write(Job *job, const char *path, const Text *text);
/* A stranger's name for a line that is printed: text_visible_name, and where standard output is a
 * terminal no more of it than text_visible_cut leaves. In the arena. */
const char *cli_name(Arena *arena, const char *name);
/* Columns of the terminal that a file descriptor is; 80 if it is none, or does not say. */
size_t cli_columns(int fd);
/* From now on memory_end (base/arena.h) removes the newest temporaries and exits with EXIT_INPUT,
 * and so does reading what a mapped file (file_map) no longer has, after an error that names it. */
void cli_end_early(void);
/* Sets the name of the command, with which usage errors begin from now on. */
void cli_begin(const char *command);
/* CliFileNote: what a diagnostic about a file says behind the file's name, such as " (--input)";
 * "": nothing. `with` is what cli_note_files was given. */
typedef const char *CliFileNote(const void *with, Arena *arena, const char *path);
void cli_note_files(CliFileNote *note, const void *with);
/* Prints "tfc: COMMAND: MESSAGE" on stderr, after the name of cli_speak_as; returns EXIT_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the diagnostics so far, then a usage error: options that do not fit the model. Returns
 * false. */
bool cli_refuse(Job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
