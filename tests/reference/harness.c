/* Running the program, comparing tensors, counting. */
#define _GNU_SOURCE
#include "tests/reference/harness.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

extern char **environ;

void harness_init(Harness *h, int argc, char **argv, const char *needs)
{
    *h = (Harness){.arena = arena_new()};
    diag_init(&h->diags, h->arena);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2) {
        fprintf(stderr, "usage: %s TFC   (from the project's root)\n", argv[0]);
        exit(2);
    }
    if (needs && access(needs, R_OK)) {
        printf("skipped: there is no %s\n", needs);
        exit(HARNESS_SKIPPED);
    }
    h->tfc = argv[1];
    char folder[] = "/tmp/tfc-reference-XXXXXX";
    char *library = realpath("models/lib", NULL);
    if (!library || !mkdtemp(folder)) {
        perror(library ? folder : "models/lib");
        exit(2);
    }
    setenv("TFC_LIBRARY", library, 1);
    free(library);
    h->folder = arena_strdup(h->arena, folder);
}

int harness_finish(Harness *h)
{
    bool failed = h->failures || !h->checks;
    printf("%d of %d checks passed\n", h->checks - h->failures, h->checks);
    file_remove_tree(h->folder);
    arena_free(h->arena);
    return failed;
}

const char *harness_path(Harness *h, const char *name)
{
    return arena_printf(h->arena, "%s/%s", h->folder, name);
}

void harness_tell(const Diagnostics *diags)
{
    Text text = {0};
    diag_render(diags, &text);
    if (text.length)
        fputs(text.data, stderr);
    text_free(&text);
}

StFile *harness_open(Harness *h, const char *path)
{
    StFile *file = st_open(&h->diags, h->arena, path);
    if (file)
        return file;
    harness_tell(&h->diags);
    file_remove_tree(h->folder);
    exit(1);
}

int harness_run(Harness *h, const Words *words)
{
    char **argv = ARENA_ARRAY(h->arena, char *, words->count + 2);
    argv[0] = (char *)h->tfc;
    for (size_t i = 0; i < words->count; i++)
        argv[i + 1] = (char *)words->data[i];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, harness_path(h, "said"),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int status = posix_spawn(&child, h->tfc, &actions, NULL, argv, environ) ? 0x7f00 : -1;
    posix_spawn_file_actions_destroy(&actions);
    if (status < 0)
        waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *harness_said(Harness *h)
{
    const Source *said = file_read(&h->diags, h->arena, harness_path(h, "said"), 1 << 20);
    return said ? said->text : "";
}

Difference tensor_difference(const StTensor *ours, const StTensor *theirs)
{
    Difference d = {.same_count = ours->count == theirs->count};
    for (int64_t i = 0; d.same_count && i < ours->count; i++) {
        double a = st_value(ours, i), b = st_value(theirs, i);
        double off = a == b ? 0 : fabs(a - b);
        d.largest = isnan(off) ? INFINITY : fmax(d.largest, off);
        d.norm += off * off;
        d.theirs += b * b;
    }
    d.norm = sqrt(d.norm);
    d.theirs = sqrt(d.theirs);
    return d;
}

bool harness_check(Harness *h, bool holds, const char *format, ...)
{
    h->checks++;
    h->failures += !holds;
    if (!holds) {
        va_list args;
        va_start(args, format);
        printf("FAILED: %s\n", arena_vprintf(h->arena, format, args));
        va_end(args);
    }
    return holds;
}
