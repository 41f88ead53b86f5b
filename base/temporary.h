/* A temporary: a file, a link or a folder that is being made beside what it is to become, so that one rename puts
 * it in place. Its name is TARGET.tmp-PID-LETTERS: nobody can know it before it is there, nothing that has the name
 * already is opened, and no link is followed. Who made it renames it or removes it; what a process that is no more
 * left behind is known by the PID.
 *
 *   char *path;
 *   int fd = temporary_file(AT_FDCWD, "run/last.safetensors", 0666, &path);
 *   … write …, rename(path, "run/last.safetensors"), free(path) */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

/* Makes what is named: like open(), -1 and errno, EEXIST where something has the name. */
typedef int TemporaryMaker(const char *path, void *context);

/* What the maker returns, -1 and errno after a failure. *path: malloc'd, NULL after a failure. */
int temporary_make(const char *target, TemporaryMaker *maker, void *context, char **path);
/* Calls `watch` with each temporary that is made from now on. The program removes them when memory runs out. */
typedef void TemporaryWatch(int folder, const char *path);
void temporary_watch(TemporaryWatch *watch);
/* A file, open for writing, relative to `folder` (openat); the process's umask is taken off the mode. */
int temporary_file(int folder, const char *target, unsigned mode, char **path);
bool temporary_folder(const char *target, unsigned mode, char **path);
/* The process that made what has this name; 0: it is no temporary's name. */
long temporary_process(const char *name);

#endif
