/* What the program does when memory runs out: it removes the temporaries that it was making, and
 * exits with EXIT_INPUT. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/temporary.h"

#include <fcntl.h>
#include <pthread.h>
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

void cli_end_without_memory(void)
{
    temporary_watch(keep);
    memory_at_end(end);
}
