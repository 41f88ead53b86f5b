/* Marks of what tfc wrote, and what stands in a folder without one. */
#define _GNU_SOURCE
#include "driver/run/ownership.h"

#include "base/file.h"
#include "base/unanswered.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mark: this text in the first bytes of this file of the folder, or of the file itself. */
static const struct {
    const char *file, *text, *command, *instead;
} marks[] = {
    [OWN_RUN] = {"run.json", "\"tfc\"", "train", "-o takes a new folder, or that of a run"},
    [OWN_PREPARED] = {"prepared.json", "\"prepared\"", "prepare",
                      "-o takes a new folder, or one of prepared data"},
    [OWN_PACKAGE] = {"package.json", "compiled by tfc", "compile",
                     "-o takes a new folder, or one that --emit js made"},
    [OWN_PUBLISHED] = {"model.safetensors", "\"writer\":\"tfc\"", "export",
                       "-o takes a new folder, or one that --format hf made"},
    [OWN_COMPILED] = {NULL, ", compiled by tfc", "compile",
                      "move it away, or write -o into another folder"},
};
enum { HEAD = 4096, LONGEST_LOCK = 31 };

/* How many of the file's first bytes these are; 0: it cannot be read. */
static size_t read_head(const char *path, char *head, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, head, size);
    if (n < 0)
        unanswered_note("read", path, errno);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

static bool has_mark(const char *path, const char *mark)
{
    char head[HEAD];
    return memmem(head, read_head(path, head, sizeof head), mark, strlen(mark)) != NULL;
}

/* The number of a process, and nothing else (lock.c). */
static bool is_lock(const char *path)
{
    char text[LONGEST_LOCK + 1];
    size_t n = read_head(path, text, sizeof text), digits = 0;
    while (digits < n && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    return n <= LONGEST_LOCK && (digits == n || (digits + 1 == n && text[digits] == '\n'));
}

/* FOLDER/NAME; false: longer than a path can be. */
static bool join_path(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* Whether the file is this process's output or messages: "tfc train … 2>run/messages". */
static bool is_output(const struct stat *file)
{
    struct stat output;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (!fstat(fd, &output) && output.st_ino == file->st_ino && output.st_dev == file->st_dev)
            return true;
    return false;
}

static bool is_something(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat info;
    if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, OWNERSHIP_LOCK))
        return false;
    if (!join_path(path, folder, name) || lstat(path, &info) || !S_ISREG(info.st_mode))
        return true;
    return info.st_size && !is_output(&info);
}

/* The first name, in the order of bytes, of what the folder holds; false: nothing, or no folder. A
 * folder that cannot be read may hold anything: true, without a name, and errno. */
static bool find_something(const char *folder, char name[NAME_MAX + 1])
{
    DIR *dir = opendir(folder);
    *name = 0;
    if (!dir)
        return errno != ENOENT && errno != ENOTDIR;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (is_something(folder, entry->d_name) && (!*name || strcmp(entry->d_name, name) < 0))
            snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
    closedir(dir);
    return *name;
}

bool ownership_is_marked(Ownership kind, const char *folder)
{
    char path[PATH_MAX];
    return join_path(path, folder, marks[kind].file) && has_mark(path, marks[kind].text);
}

bool ownership_is_bare(const char *folder)
{
    char name[NAME_MAX + 1];
    return !find_something(folder, name);
}

const char *ownership_run_of(Arena *arena, const char *path)
{
    static const char *const own[] = {
        "run.json", "log*.jsonl",  "*.tfg",   "last.safetensors*",    "best.safetensors*",
        "vocab*",   "tokenizer*",  "source*", "average.safetensors*", "step-*.safetensors*",
        "weights",  OWNERSHIP_LOCK};
    const char *folder = file_folder(arena, path);
    if (!strcmp(file_name(folder), "lib")) /* the model's libraries */
        folder = file_folder(arena, folder);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!fnmatch(own[i], file_name(path), 0))
            return ownership_is_marked(OWN_RUN, folder) ? folder : NULL;
    return NULL;
}

static bool refuse_owner(Job *job, Ownership kind, const char *path)
{
    return job_error(job, "%s was not written by tfc %s: %s", path, marks[kind].command,
                     marks[kind].instead);
}

bool ownership_check_folder(Job *job, Ownership kind, const char *folder)
{
    char name[NAME_MAX + 1], lock[PATH_MAX];
    bool locks = kind == OWN_RUN || kind == OWN_PREPARED;
    bool begun = locks && join_path(lock, folder, OWNERSHIP_LOCK) && file_exists(lock);
    if (begun && !is_lock(lock))
        return refuse_owner(job, kind, lock);
    if (begun || ownership_is_marked(kind, folder) || !find_something(folder, name))
        return true;
    if (*name)
        return refuse_owner(job, kind, file_in(job->arena, folder, name));
    diag_errno(&job->diags, "read", folder, errno);
    return false;
}

bool ownership_check_file(Job *job, Ownership kind, const char *path)
{
    struct stat info;
    bool holds = file_stat(path, &info) && S_ISREG(info.st_mode) && info.st_size;
    return !holds || has_mark(path, marks[kind].text) || refuse_owner(job, kind, path);
}
