/* tfc launch: runs a training again where a machine or a process of it was lost. */
#define _GNU_SOURCE
#include "cli/commands/commands.h"

#include "base/file.h"
#include "base/temporary.h"
#include "runtime/ranks/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Launch {
    Common common;
    int64_t retries;
    const char *hosts, *shell;
} Launch;

enum { LOOKS_A_SECOND = 10, GRACE = 5 /* seconds */ };

static volatile sig_atomic_t child_group, signal_got;

static void on_signal(int signal)
{
    signal_got = signal;
    if (child_group)
        kill(-child_group, signal);
}

/* ---- what is run ---- */

/* The index of a word; n: it is not among the words. */
static int find_word(const char *const *words, int n, const char *word)
{
    int i = 0;
    while (i < n && strcmp(words[i], word))
        i++;
    return i;
}

/* The value of an option, given as "NAME VALUE" or "NAME=VALUE"; NULL: there is none. */
static const char *value_of(const char *const *words, int n, const char *name)
{
    const size_t length = strlen(name);
    for (int i = n - 1; i >= 0; i--) {
        if (!strcmp(words[i], name))
            return i + 1 < n ? words[i + 1] : NULL;
        if (!strncmp(words[i], name, length) && words[i][length] == '=')
            return words[i] + length + 1;
    }
    return NULL;
}

/* The run that the command makes: tfc train's -o, --output or --out, not one of the mpirun before;
 * of a script that calls tfc its --out. NULL: none. */
static const char *named_run(const char *const *words, int n)
{
    const int train = find_word(words, n, "train");
    const char *run = value_of(words, n, "--out");
    if (!run)
        run = value_of(words + train, n - train, "--output");
    return run ? run : value_of(words + train, n - train, "-o");
}

static bool has_checkpoint(Job *job, const char *const *words, int n)
{
    const char *run = named_run(words, n);
    return run && file_exists(arena_printf(job->arena, "%s/last.safetensors", run));
}

static int run_and_wait(char *const *words)
{
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (!pid) {
        execvp(words[0], words);
        fprintf(stderr, "error: cannot run %s: %s\n", words[0],
                errno == ENOENT ? "there is no such program" : strerror(errno));
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether a list holds nothing that a shell, or the option of a program that it is given to, would
 * take for anything else than the names of machines. */
static bool are_hosts(const char *list)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:@-";
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (*at == '-' || !strchr(",", at[strspn(at, letters)]))
            return false;
    return true;
}

/* The hosts of a list with commas that answer, in the same form; "" where none does. */
static const char *living_hosts(Job *job, const Launch *o)
{
    char *rest = NULL, *list = arena_strdup(job->arena, o->hosts);
    const char *living = "";
    for (char *host = strtok_r(list, ",", &rest); host; host = strtok_r(NULL, ",", &rest)) {
        const char *name = arena_strndup(job->arena, host, strcspn(host, ":"));
        const char *ask =
            arena_printf(job->arena, "%s %s true </dev/null >/dev/null 2>&1", o->shell, name);
        char *const words[] = {"sh", "-c", (char *)(uintptr_t)ask, NULL};
        if (!run_and_wait(words))
            living = arena_printf(job->arena, "%s%s%s", living, *living ? "," : "", host);
        else
            diag_warning(&job->diags, (Loc){0}, "%s does not answer and is left out", name);
    }
    return living;
}

/* The command's words, HOSTS replaced, and --resume behind them if there is something to go on
 * from. NULL: no host is left. */
static char **make_words(Job *job, const Launch *o, const Arguments *arguments)
{
    char **words = ARENA_ARRAY(job->arena, char *, arguments->count + 2);
    const char *hosts = o->hosts ? living_hosts(job, o) : NULL;
    if (hosts && !*hosts) {
        job_error(job, "none of the hosts %s answers", o->hosts);
        return NULL;
    }
    int n = arguments->count;
    bool resumes = has_checkpoint(job, arguments->words, n);
    for (int i = 0; i < n; i++) {
        const char *word = arguments->words[i];
        resumes = resumes && strcmp(word, "--resume");
        words[i] = (char *)(uintptr_t)(hosts && !strcmp(word, "HOSTS") ? hosts : word);
    }
    words[n] = resumes ? "--resume" : NULL;
    return words;
}

/* ---- watching it ---- */

static pid_t start(char *const *words, const char *note)
{
    unlink(note);
    pid_t pid = fork();
    if (!pid) {
        setpgid(0, 0);
        setenv(RANK_NOTE, note, 1);
        execvp(words[0], words);
        fprintf(stderr, "error: cannot run %s: %s\n", words[0],
                errno == ENOENT ? "there is no such program" : strerror(errno));
        _exit(127);
    }
    if (pid > 0)
        setpgid(pid, pid);
    child_group = pid;
    return pid;
}

/* The exit status, 128 + that of a signal. Ranks that have ended by themselves get some seconds,
 * then mpirun is ended, too. */
static int wait_for(pid_t pid, const char *note)
{
    const struct timespec pause = {0, 1000000000 / LOOKS_A_SECOND};
    int status, looks_left = GRACE * LOOKS_A_SECOND;
    while (!waitpid(pid, &status, WNOHANG)) {
        nanosleep(&pause, NULL);
        if (file_exists(note) && looks_left-- == 0)
            kill(-pid, SIGKILL);
    }
    child_group = 0;
    kill(-pid, SIGKILL); /* what it has left */
    unlink(note);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether another try may help. */
static bool may_retry(int status)
{
    return status != EXIT_DONE && status != EXIT_USAGE && status != EXIT_INTERRUPTED &&
           status != 127 && !signal_got;
}

static int try_all(Job *job, const Launch *o, const Arguments *arguments, const char *note)
{
    for (int64_t tries = 0;; tries++) {
        char **words = make_words(job, o, arguments);
        cli_flush(job);
        if (!words)
            return EXIT_INPUT;
        pid_t pid = start(words, note);
        if (pid < 0) {
            job_error(job, "cannot start a process: %s", strerror(errno));
            return EXIT_INPUT;
        }
        int status = wait_for(pid, note);
        if (!may_retry(status) || tries >= o->retries)
            return status > 3 ? EXIT_INPUT : status;
        diag_remark(&job->diags, (Loc){0}, "it ended with status %d: try %" PRId64 " of %" PRId64,
                    status, tries + 2, o->retries + 1);
    }
}

static int run_launch(Job *job, void *record, const Arguments *arguments)
{
    const Launch *o = record;
    if (o->retries && !named_run(arguments->words, arguments->count))
        return cli_usage_error(
            "the command names no run: its checkpoints are what a retry resumes from; add -o RUN behind train, "
            "or give --retries 0");
    if (o->hosts && find_word(arguments->words, arguments->count, "HOSTS") == arguments->count)
        return cli_usage_error(
            "--hosts puts names in place of the word HOSTS, which the command lacks: write it where they belong, as in mpirun -H HOSTS");
    if (o->hosts && !are_hosts(o->hosts))
        return cli_usage_error(
            "--hosts is '%s'; expected names with commas between them, of letters, digits and . _ : @ -",
            o->hosts);
    char *folder; /* of the note alone, so that nobody else can make it */
    if (!temporary_folder("/tmp/tfc-launch", 0700, &folder))
        return diag_errno(&job->diags, "write into", "/tmp", errno), cli_finish(job, false);
    struct sigaction forward = {.sa_handler = on_signal};
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGINT, &forward, NULL);
    int status = try_all(job, o, arguments, arena_printf(job->arena, "%s/note", folder));
    file_remove_tree(folder);
    free(folder);
    cli_flush(job);
    return status;
}

static const Option options[] = {
    {"retries", "K", FIELD(Launch, retries), 0, "3",
     "run the command again at most K times if it fails"},
    {"hosts", "LIST", FIELD(Launch, hosts), 0, NULL,
     "machines with commas between them; those that answer replace the word HOSTS of the command"},
    {"shell", "COMMAND", FIELD(Launch, shell), 0, "ssh -o BatchMode=yes -o ConnectTimeout=5",
     "how to ask whether a machine answers: COMMAND HOST true"},
};

const Command command_launch = {
    .name = "launch",
    .summary = "run a training again if a machine or process was lost",
    .arguments = "-- COMMAND …",
    .min_arguments = 1,
    .max_arguments = 4096,
    .text = "Runs a command such as mpirun … tfc train … -o RUN, with --resume once RUN has a "
            "checkpoint. If the command fails, because a machine or a process was lost, it is run "
            "again. It is not run again after success, wrong usage, a signal to stop, or if the "
            "program does not exist.",
    COMMAND_OPTIONS(Launch, options),
    .run = run_launch,
};
