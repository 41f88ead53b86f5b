/* What every subcommand shares: the arena and diagnostics of this process, and
 * the exit statuses of docs/: 0 done, 1 the input was wrong, 2 the usage was
 * wrong, 3 interrupted but saved. Results go to stdout, messages to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/diag.h"

enum { EXIT_DONE = 0, EXIT_INPUT = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 3 };

struct Usage;
struct Option;

typedef struct Cli {
    Arena *arena;
    Diagnostics diags;
    const char *gemm; /* --gemm, or NULL */
    const char *cpu;  /* --cpu, or NULL: this machine */
    const char *passes; /* --passes, or NULL: by level */
    /* Where commands tell their options and do nothing else; usually NULL. */
    void (*describe)(const struct Usage *usage, const struct Option *options, int n);
} Cli;

typedef struct Command {
    const char *name, *summary;
    int (*run)(Cli *cli, int argc, char **argv); /* argv[0] is the command's name */
} Command;

extern const Command commands[];
extern const int command_count;

/* Prints the diagnostics gathered since the last call to stderr. */
void cli_flush(Cli *cli);
/* Prints the diagnostics and gives EXIT_DONE, or EXIT_INPUT if ok is false. */
int cli_finish(Cli *cli, bool ok);
/* "tfc: MESSAGE" on stderr; gives EXIT_USAGE. */
int cli_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds an error without a place; gives false. */
bool cli_error(Cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

int command_train(Cli *cli, int argc, char **argv);
int command_translate(Cli *cli, int argc, char **argv);
int command_generate(Cli *cli, int argc, char **argv);
int command_score(Cli *cli, int argc, char **argv);
int command_eval(Cli *cli, int argc, char **argv);
int command_run(Cli *cli, int argc, char **argv);
int command_compile(Cli *cli, int argc, char **argv);
int command_dump(Cli *cli, int argc, char **argv);
int command_opt(Cli *cli, int argc, char **argv);
int command_check(Cli *cli, int argc, char **argv);
int command_bench(Cli *cli, int argc, char **argv);
int command_info(Cli *cli, int argc, char **argv);

#endif
