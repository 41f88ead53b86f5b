/* The lock of a folder that is being written. */
#define _GNU_SOURCE
#include "driver/run/lock.h"

#include "base/file.h"
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what was left behind ---- */

static bool is_alive(long process)
{
    return process != (long)getpid() && (!kill((pid_t)process, 0) || errno != ESRCH);
}

/* A temporary of a process that is no more (this one has begun nothing yet). */
static bool is_left_over(const char *name)
{
    long process = temporary_process(name);
    return process && !is_alive(process);
}

/* Folders of a run that have files of its own. */
static bool is_own_folder(const char *name)
{
    static const char *const own[] = {"lib", "used", "published"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(name, own[i]))
            return true;
    return false;
}

/* Removes what is left over in an open folder, which is closed, and in its folders; of the folder
 * of the run itself in its own ones alone. No link is followed. */
static void sweep(int folder, bool is_run)
{
    DIR *dir = folder < 0 ? NULL : fdopendir(folder);
    if (!dir && folder >= 0)
        close(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (is_left_over(entry->d_name))
            unlinkat(folder, entry->d_name, 0);
        else if (is_run ? is_own_folder(entry->d_name) : entry->d_name[0] != '.')
            sweep(openat(folder, entry->d_name,
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
                  false);
    if (dir)
        closedir(dir);
}

/* ---- the lock ---- */

/* Whether the file that was locked is the one of this name still: the process that ends removes it.
 * True where the system cannot say. */
static bool is_current(const RunLock *lock)
{
    struct stat ours, named;
    if (fstat(lock->fd, &ours) || stat(lock->path, &named))
        return errno != ENOENT;
    return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

static bool refuse_locked(Job *job, RunLock *lock)
{
    char process[32] = "";
    ssize_t n = pread(lock->fd, process, sizeof process - 1, 0);
    process[n > 0 ? n : 0] = 0;
    process[strcspn(process, "\n")] = 0;
    close(lock->fd);
    lock->fd = -1;
    return job_error(job,
                     "%s is being written by another process%s%s; take another folder, or wait",
                     lock->folder, *process ? ", " : "", process);
}

/* Where the system has no locks (ENOLCK, some file systems) the training goes on without. */
static bool take_lock(Job *job, RunLock *lock)
{
    for (;;) {
        lock->fd = file_open_own(lock->path, O_RDWR | O_CREAT);
        if (lock->fd < 0)
            return job_error(job, "cannot write %s: %s", lock->path, file_own_error(errno));
        int failed;
        while ((failed = flock(lock->fd, LOCK_EX | LOCK_NB)) && errno == EINTR)
            ;
        if (failed && errno == EWOULDBLOCK)
            return refuse_locked(job, lock);
        if (failed || is_current(lock))
            return true;
        close(lock->fd);
    }
}

bool run_lock_take(Job *job, Ownership kind, const char *folder, RunLock *lock)
{
    *lock = (RunLock){folder, arena_printf(job->arena, "%s/" OWNERSHIP_LOCK, folder), kind, -1};
    if (!ownership_check_folder(job, kind, folder) || !file_make_folder(&job->diags, folder) ||
        !take_lock(job, lock))
        return false;
    if (ftruncate(lock->fd, 0) || dprintf(lock->fd, "%ld\n", (long)getpid()) < 0)
        diag_remark(&job->diags, (Loc){0}, "cannot write %s: %s", lock->path, strerror(errno));
    sweep(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), true);
    return true;
}

void run_lock_free(RunLock *lock)
{
    if (lock->fd < 0)
        return;
    if (ownership_is_marked(lock->kind, lock->folder) || ownership_is_bare(lock->folder))
        unlink(lock->path);
    close(lock->fd);
    rmdir(lock->folder);
    lock->fd = -1;
}

bool run_lock_is_taken(const char *folder)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, OWNERSHIP_LOCK);
    int fd = length < (int)sizeof path ? file_open_own(path, O_RDONLY) : -1;
    if (fd < 0)
        return false;
    bool taken = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
    return taken;
}
