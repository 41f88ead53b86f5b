/* Making a folder beside, and what killed processes left of one. */
#define _GNU_SOURCE
#include "driver/run/new_folder.h"

#include "base/file.h"
#include "base/temporary.h"
#include "base/unanswered.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool new_folder_is_free(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return !unanswered_note("read", folder, errno) && !file_exists(folder);
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(dir));)
        empty = empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
    closedir(dir);
    return empty;
}

/* Locked; -1: another process has it. Where the system has no locks, -1 too. */
static int lock_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    close(fd);
    return -1;
}

/* Of the folder `name`, by nobody who lives: the lock goes with its process, on other machines
 * too. */
static void remove_left(NewFolder *new, const char *parent, const char *name)
{
    const char *path = file_in(new->job->arena, parent, name);
    int lock = lock_folder(path);
    if (lock < 0)
        return;
    diag_remark(&new->job->diags, (Loc){0},
                "removed %s: an earlier process ended while it wrote it", path);
    file_remove_tree(path);
    close(lock);
}

static void sweep_parent(NewFolder *new, const char *parent)
{
    const char *name = file_name(new->folder);
    size_t length = strlen(name);
    DIR *dir = opendir(parent);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (!strncmp(entry->d_name, name, length) && !strncmp(entry->d_name + length, ".tmp-", 5) &&
            temporary_process(entry->d_name))
            remove_left(new, parent, entry->d_name);
    if (dir)
        closedir(dir);
}

/* Without slashes at its end, and where links lead to if it is there. NULL after an error. */
static const char *plain_path(Job *job, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return file_absolute(&job->diags, job->arena, arena_strndup(job->arena, folder, length));
}

static bool cannot_make(const NewFolder *new, int error)
{
    bool taken = error == EEXIST || error == ENOTEMPTY;
    return job_error(new->job, "cannot make the folder %s: %s", new->folder,
                     taken              ? "another process has written into it meanwhile"
                     : error == ENOTDIR ? "a file has that name"
                                        : strerror(error));
}

bool new_folder_begin(Job *job, const char *folder, NewFolder *new)
{
    *new = (NewFolder){job, plain_path(job, folder), NULL, -1};
    if (!new->folder)
        return false;
    const char *parent = file_folder(job->arena, new->folder);
    if (!file_make_folder(&job->diags, parent))
        return false;
    sweep_parent(new, parent);
    char *made;
    if (!temporary_folder(new->folder, 0777, &made))
        return cannot_make(new, errno);
    new->made = arena_strdup(job->arena, made);
    free(made);
    new->lock = lock_folder(new->made);
    return true;
}

bool new_folder_end(NewFolder *new, bool ok)
{
    if (!new->made)
        return false;
    ok = ok && unanswered_check(&new->job->diags);
    if (ok && rename(new->made, new->folder))
        ok = cannot_make(new, errno);
    if (!ok)
        file_remove_tree(new->made);
    if (new->lock >= 0)
        close(new->lock);
    new->made = NULL;
    return ok;
}
