/* A temporary: a file, a link or a folder that is made beside its target, so that one rename puts
 * it in place. Its name is TARGET.tmp-PID-LETTERS. Nobody can guess the name, a file that already
 * has it is not opened, and no link is followed. Its maker renames it or removes it; the PID shows
 * which ones a process that has ended left behind.
 *
 *   char *path;
 *   int fd = temporary_file(AT_FDCWD, "run/last.safetensors", 0666, &path);
 *   … write …, rename(path, "run/last.safetensors"), free(path) */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <stdbool.h>

/* Makes the file, link or folder of that path. Like open(): -1 and errno after a failure; EEXIST if
 * the name is taken. */
typedef int TemporaryMaker(const char *path, void *context);

/* Calls the maker with new names until one is free, and returns its result; -1 and errno after a
 * failure. *path: malloc'd, NULL after a failure. */
int temporary_make(const char *target, TemporaryMaker *maker, void *context, char **path);
/* Calls `watch` with each temporary that is made from now on. The program removes them when memory
 * runs out. */
typedef void TemporaryWatch(int folder, const char *path);
void temporary_watch(TemporaryWatch *watch);
/* Makes a file relative to `folder` (openat), with the mode less the process's umask, and returns
 * its descriptor, open for writing; -1 and *path as for temporary_make. */
int temporary_file(int folder, const char *target, unsigned mode, char **path);
/* false: errno says why; *path as for temporary_make. */
bool temporary_folder(const char *target, unsigned mode, char **path);
/* The PID in a temporary's name; 0: it is no temporary's name. */
long temporary_process(const char *name);

#endif
