/* What the program does when memory runs out, or when a file that it has mapped becomes shorter: it
 * removes the temporaries that it was making, and exits with EXIT_INPUT. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/temporary.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last temporaries that were made. Most have become something else since: nothing has their
 * names. */
enum { KEPT = 256 };
static struct {
    int folder;
    char *path;
} made[KEPT];
static unsigned n_made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(int folder, const char *path)
{
    pthread_mutex_lock(&lock);
    unsigned i = n_made++ % KEPT;
    free(made[i].path);
    made[i].path = strdup(path);
    made[i].folder = folder;
    pthread_mutex_unlock(&lock);
}

static void end(void)
{
    for (unsigned i = 0; i < KEPT && i < n_made; i++)
        if (made[i].path && made[i].folder != AT_FDCWD)
            unlinkat(made[i].folder, made[i].path, 0);
        else if (made[i].path)
            file_remove_tree(made[i].path);
    _exit(EXIT_INPUT);
}

/* ---- files that become shorter ---- */

/* The file that is mapped at an address, of a line "BEGIN-END … /PATH"; false: none. */
static bool mapped_file(const void *address, char *path, size_t size)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;
    while (maps && !found && getline(&line, &capacity, maps) > 0) {
        char *rest, *name = strchr(line, '/');
        const uintptr_t first = strtoull(line, &rest, 16), last = strtoull(rest + 1, NULL, 16);
        found = name && (uintptr_t)address >= first && (uintptr_t)address < last;
        if (found)
            snprintf(path, size, "%.*s", (int)strcspn(name, "\n"), name);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* Where a mapped file has no page any more the system sends SIGBUS. It comes from reading a file's
 * bytes, not from a function that keeps a lock, so the handler may do what other code does. */
static void on_lost_page(int number, siginfo_t *info, void *context)
{
    (void)context;
    char path[4096];
    if (info->si_code != BUS_ADRERR || !mapped_file(info->si_addr, path, sizeof path)) {
        signal(number, SIG_DFL); /* and it comes again */
        return;
    }
    fprintf(stderr,
            "error: cannot read %s: it became shorter, or its disk failed, while it was read\n",
            path);
    fflush(stderr);
    end();
}

void cli_end_early(void)
{
    temporary_watch(keep);
    memory_at_end(end);
    struct sigaction lost = {.sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &lost, NULL);
}
