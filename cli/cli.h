/* What every subcommand shares: how it is called, how its messages are printed, and
 * the exit statuses of docs/: 0 done, 1 the input was wrong, 2 the usage was
 * wrong, 3 interrupted but saved. Results go to stdout, messages to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "driver/job.h"

enum { EXIT_DONE = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 3 };

typedef struct Command {
    const char *name, *summary;
    int (*run)(Job *job, int argc, char **argv); /* argv[0] is the command's name */
} Command;

extern const Command commands[];
extern const int command_count;

/* Prints the diagnostics gathered since the last call to stderr. */
void cli_flush(Job *job);
/* Prints the diagnostics and gives EXIT_DONE, or EXIT_INPUT if ok is false. */
int cli_finish(Job *job, bool ok);
/* "tfc: MESSAGE" on stderr; gives EXIT_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

int command_train(Job *job, int argc, char **argv);
int command_translate(Job *job, int argc, char **argv);
int command_generate(Job *job, int argc, char **argv);
int command_score(Job *job, int argc, char **argv);
int command_eval(Job *job, int argc, char **argv);
int command_run(Job *job, int argc, char **argv);
int command_compile(Job *job, int argc, char **argv);
int command_dump(Job *job, int argc, char **argv);
int command_opt(Job *job, int argc, char **argv);
int command_check(Job *job, int argc, char **argv);
int command_bench(Job *job, int argc, char **argv);
int command_info(Job *job, int argc, char **argv);

#endif
