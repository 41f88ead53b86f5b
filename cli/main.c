/* The program tfc: finds the subcommand and runs it. */
#define _GNU_SOURCE
#include "base/float_state.h"
#include "base/printing.h"
#include "base/team.h"
#include "base/unanswered.h"
#include "cli/commands/commands.h"
#include "cli/commit.h"
#include "cli/describe.h"
#include "cli/ranks.h"
#include "driver/session/about.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const Command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands/commands.def"
};
const int command_count = sizeof commands / sizeof commands[0];

static void print_commands(FILE *out)
{
#define TITLE(text) fprintf(out, " %s\n", text);
#define COMMAND(command) help_print_row(out, command_##command.name, 14, command_##command.summary);
#include "cli/commands/commands.def"
}

static void print_help(FILE *out)
{
    fprintf(out,
            "tfc %s: a compiler and runtime for Transformers\n\n"
            "Usage: tfc COMMAND [ARGUMENTS]\n\nCommands:\n",
            TFC_VERSION);
    print_commands(out);
    fprintf(out,
            "\n  tfc COMMAND --help lists a command's options, tfc help --settings the settings\n"
            "  of decoding and training. tfc help --man, --bash and --zsh print the manual\n"
            "  page and completions, tfc --version versions and machine.\n\n"
            "Exit status: 0 done, 1 the input was wrong, 2 the usage was wrong,\n"
            "3 interrupted but saved.\n");
}

/* The exit status of what has written to standard output. */
static int end_output(int status)
{
    int error = fflush(stdout) ? errno : 0;
    if (!error && !ferror(stdout))
        return status;
    if (!error && fputc('\n', stdout) != EOF && fflush(stdout)) /* an earlier write failed: why */
        error = errno;
    fprintf(stderr, "error: cannot write the results%s%s\n", error ? ": " : "",
            error ? strerror(error) : "");
    return EXIT_INPUT;
}

/* Whether each --column is of another input; else a usage error. */
static bool columns_differ(const Arguments *arguments, int *status)
{
    const char *seen = NULL;
    for (size_t i = 0; i < arguments->given.count && !seen; i++)
        for (size_t k = 0; k < i && !seen; k++) {
            const GivenOption *is = &arguments->given.data[i], *was = &arguments->given.data[k];
            if (!strcmp(is->option->name, "column") && is->option == was->option &&
                strcspn(is->value, "=") == strcspn(was->value, "=") &&
                !strncmp(is->value, was->value, strcspn(is->value, "=")))
                seen = is->value;
        }
    if (seen)
        *status = cli_usage_error("--column %.*s is given twice, the second time as '%s': an input "
                                  "has one",
                                  (int)strcspn(seen, "="), seen, seen);
    return !seen;
}

static int run_command(const Command *command, int argc, char **argv)
{
    Job job = {.arena = arena_new(), .show = cli_flush};
    diag_init(&job.diags, job.arena);
    job.records = run_records_new(job.arena);
    Arguments arguments;
    void *record = arena_alloc(job.arena, command->record);
    int status;
    cli_begin(command->name);
    bool ok = common_parse(&job, command, argc, argv, record, &arguments, &status);
    cli_note_files(option_of_file, &arguments);
    if (ok && columns_differ(&arguments, &status))
        status = command->run(&job, record, &arguments);
    if (status == EXIT_DONE && !unanswered_check(&job.diags))
        status = EXIT_INPUT;
    cli_flush(&job);
    cli_ranks_leave(&job, command, status);
    arena_free(job.arena);
    return end_output(status);
}

/* The version in the first line, then what it was built with and what it found here. */
static int print_version(void)
{
    Job job = {.arena = arena_new(), .show = cli_flush};
    About about;
    diag_init(&job.diags, job.arena);
    Text text = {0};
    bool ok = about_read(&job, &about);
    if (ok)
        about_put(&about, tfc_commit, &text);
    else
        text_add(&text, "tfc %s\ncommit      %s\n", TFC_VERSION, tfc_commit);
    fputs(text.data, stdout);
    text_free(&text);
    int status = cli_finish(&job, ok);
    arena_free(job.arena);
    return status;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof commands / sizeof commands[0]];
    Arena *arena = arena_new();
    for (int i = 0; i < command_count; i++)
        names[i] = commands[i]->name;
    const char *hint = option_hint(arena, NULL, name);
    if (!hint)
        hint = text_suggest(arena, "'", name, names, (size_t)command_count);
    cli_usage_error("there is no command '%s'%s", name, *hint ? hint : "; see tfc --help");
    arena_free(arena);
    return EXIT_USAGE;
}

/* Descriptors of closed streams get files that can only be used the other way, so that reading or
 * writing fails: else the next file that is opened would take their numbers, and their data. */
static void hold_closed_streams(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) != fd)
            _exit(EXIT_INPUT);
}

typedef struct CommandLine {
    int argc;
    char **argv;
} CommandLine;

static int run_command_line(void *context)
{
    const CommandLine *words = context;
    const int argc = words->argc;
    char **argv = words->argv;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || (!strcmp(name, "help") && argc == 2)) {
        print_help(stdout);
        return end_output(EXIT_DONE);
    }
    if (!strcmp(name, "--version")) {
        return end_output(print_version());
    }
    char *help_argv[] = {argv[1], "--help", NULL};
    bool help = !strcmp(name, "help");
    if (help) {
        const Describer *form = strncmp(argv[2], "--", 2) ? NULL : find_describer(argv[2] + 2);
        if (form)
            return end_output(describe_program(form));
        help_argv[0] = argv[2];
    }
    for (int i = 0; i < command_count; i++)
        if (!strcmp(help ? argv[2] : name, commands[i]->name))
            return help ? run_command(commands[i], 2, help_argv)
                        : run_command(commands[i], argc - 1, argv + 1);
    return unknown_command(help ? argv[2] : name);
}

int main(int argc, char **argv)
{
    hold_closed_streams();
    float_state_set(); /* a preloaded library may have changed it */
    cli_end_early();
    memory_need(printing_guard());
    unanswered_keep();
    signal(SIGXFSZ, SIG_IGN); /* a file over its limit is a failed write like any other */
    return team_main(run_command_line, &(CommandLine){argc, argv});
}
