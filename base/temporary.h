/* A temporary: a file, a link or a folder that is made beside its target, so that one rename puts
 * it in place. Its path is TARGET.tmp-PID-LETTERS; the last part of TARGET is cut to 215 bytes.
 * Nobody can guess the letters, and what already has the name, even a link, is not opened. Who
 * makes a temporary renames or removes it; the PID shows which ones a process that has ended left
 * behind.
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

/* Calls the maker with new names until one is free (at most 101 times), and returns its result; -1
 * and errno after a failure. *path: the temporary's path, malloc'd; NULL after a failure. */
int temporary_make(const char *target, TemporaryMaker *maker, void *context, char **path);
/* Sets the function that is called with each temporary made from now on. (tfc remembers the last
 * ones, to remove them when memory runs out.) */
typedef void TemporaryWatch(int folder, const char *path);
void temporary_watch(TemporaryWatch *watch);
/* Makes a file, its path relative to `folder` (openat), with the mode less the process's umask.
 * Returns its descriptor, open for writing; -1 and *path as for temporary_make. */
int temporary_file(int folder, const char *target, unsigned mode, char **path);
/* Makes a folder. false: errno says why; mode and *path as for temporary_file. */
bool temporary_folder(const char *target, unsigned mode, char **path);
/* The PID in a temporary's name; 0: `name` is not such a name. */
long temporary_process(const char *name);

#endif
