/* Files: read whole, or written beside and renamed so that a reader sees the
 * old content or the new, never half of one. What is no regular file (a device,
 * a pipe) is written through as it is, and a link stays a link: what it leads to
 * is replaced. Errors go to diagnostics. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/diag.h"

#include <stdint.h>

/* A regular file, for reading, and its size; -1 after an error, as where it is a pipe, which is not waited for, a
 * folder, a device or a socket. What may be a pipe (texts of lines) is opened by who reads it. */
int file_open_regular(Diagnostics *diags, const char *path, uint64_t *size);
/* A regular file that this program keeps in a folder and writes in place: open()'s flags. -1 and errno; ELOOP where
 * the name is a symbolic link, whose target may be anybody's. */
int file_open_own(const char *path, int flags);
/* What to tell of an errno of the latter. */
const char *file_own_error(int error);
/* Reads a regular file of at most max_bytes; NULL after an error.
 * The text is NUL-terminated. */
const Source *file_read(Diagnostics *diags, Arena *arena, const char *path, size_t max_bytes);

/* A file being written beside TARGET (base/temporary.h), TARGET being PATH or what its links lead to; or
 * PATH itself where that is a device, a pipe or an open file (/dev/stdout, /dev/fd/3).
 * Writes are buffered; the first failure is kept and told by file_commit. Opening a named
 * pipe waits for its reader. */
typedef struct FileWriter FileWriter;
FileWriter *file_create(Diagnostics *diags, const char *path); /* NULL after an error */
/* The same for a file of a folder that is this program's: TARGET is PATH, so that a link there, which may lead to
 * anybody's file, is replaced, as a device and a pipe are. */
FileWriter *file_create_own(Diagnostics *diags, const char *path);
void file_write(FileWriter *file, const void *data, size_t size);
void file_skip(FileWriter *file, uint64_t size); /* bytes that another process writes */
/* Writes out what is buffered, for readers of a pipe; false after a failure. */
bool file_flush(FileWriter *file);
/* Flushes to the disk, renames over the target, flushes the folder; frees the writer.
 * On failure removes the temporary file, leaves the target as it was, returns false. */
bool file_commit(FileWriter *file, Diagnostics *diags);
/* Flushes to the disk, as file_commit, which tells a failure, does first. */
bool file_sync(FileWriter *file);
void file_discard(FileWriter *file); /* gives up: a regular file stays as it was */
/* A process creates the file beside, and others that know its name write to it, too, each its own bytes. The
 * one that created it commits it once the others have committed theirs: what they write is on the disk then.
 *
 * The last part of its name; NULL where the target is written through. */
const char *file_temporary(const FileWriter *file);
/* Opens what another process created for PATH (file_create_own) by that name, before anything is written. NULL: errno
 * tells why; EEXIST: it has been written, so it is another file. */
FileWriter *file_join(const char *path, const char *temporary);
/* Whether file_create would open PATH now. Nothing is changed and no reader waited for. */
bool file_can_write(Diagnostics *diags, const char *path);
/* PATH, or where its links lead, which need not exist; in the arena. */
const char *file_target(Arena *arena, const char *path);

bool file_write_all(Diagnostics *diags, const char *path, const void *data, size_t size);
bool file_write_own(Diagnostics *diags, const char *path, const void *data, size_t size); /* as file_create_own */
bool file_exists(const char *path);
bool file_is_folder(const char *path);
/* A folder with all that is in it, or a file; links go, what they lead to stays. */
void file_remove_tree(const char *path);
bool file_make_folder(Diagnostics *diags, const char *path); /* with parents; fine if there */
/* The last part of a path: what its folder calls it. */
const char *file_name(const char *path);
/* dir(path) + "/" + name, in the arena. */
const char *file_beside(Arena *arena, const char *path, const char *name);
/* FOLDER/NAME, in the arena. */
const char *file_in(Arena *arena, const char *folder, const char *name);

#endif
