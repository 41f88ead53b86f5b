/* Files: read whole, or written as a temporary file beside the target that is then renamed into
 * its place, so that a reader sees the old content or the new, never half of one. A device, a pipe
 * or a file that this process has open (/dev/stdout) is written to directly. A link stays a link:
 * the file that it leads to is replaced (but see file_create_own). */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/diag.h"
#include "base/terminal.h"

#include <stdint.h>

/* FileReach: where a file lies that is opened under a name which somebody else may have chosen.
 *   folder    a folder that this program may not have made: of a run, of a published model, of
 *             prepared data. The file lies in it, after all links and `..` of its name, or, if the
 *             folder is a snapshot in the cache of a hub (MODEL/snapshots/COMMIT), in MODEL/blobs,
 *             where its links lead. NULL: the user names the file, which lies anywhere
 *   outside   the user permits that it lies elsewhere, too (--allow-outside)
 *   root      file_root of the folder; NULL: it is looked up for each file
 * What is checked is the file that was opened, so that no link can be changed in between. */
typedef struct FileReach {
    const char *folder;
    bool outside;
    const char *root;
} FileReach;
#define FILE_ANYWHERE ((FileReach){0})
/* The path of a folder as the system knows it: absolute, without links. In the arena; NULL:
 * there is no such folder, or /proc does not show it. */
const char *file_root(Arena *arena, const char *folder);
#define FILE_ANY_SIZE UINT64_MAX

/* Opens a regular file for reading and gives its size. -1 after an error: it is a folder, a device,
 * a socket or a pipe, it has more than max_bytes, or it is not within reach. Never waits for a
 * pipe's writer. (A text of lines that the user names may be a pipe: line_reader.h opens those.) */
int file_open_within(Diagnostics *diags, FileReach reach, const char *path, uint64_t max_bytes,
                     uint64_t *size);
/* file_open_within of a file that the user names, of any size. */
int file_open_regular(Diagnostics *diags, const char *path, uint64_t *size);
/* Maps a regular file for reading; file_unmap undoes it, and NULL is allowed there. NULL after an
 * error of file_open_within. An empty file has a mapping of no bytes. */
const void *file_map_within(Diagnostics *diags, FileReach reach, const char *path, uint64_t *size);
const void *file_map(Diagnostics *diags, const char *path, uint64_t *size); /* from anywhere */
void file_unmap(const void *map, uint64_t size);
/* Opens a regular file in a folder of tfc's own that is read or written in place, with open()'s
 * flags. -1: errno says why; ELOOP: the name is a symbolic link, which may lead to another user's
 * file; ENXIO: not a regular file. */
int file_open_own(const char *path, int flags);
/* The message for an errno of file_open_own. */
const char *file_own_error(int error);
/* Reads a file that file_open_within opens; NULL after an error. The text is NUL-terminated, in the
 * arena, which is of arena_new. */
const Source *file_read_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path,
                               size_t max_bytes);
/* The same of a file that the user names. */
const Source *file_read(Diagnostics *diags, Arena *arena, const char *path, size_t max_bytes);

/* Writes all bytes to an open file. False: errno says why. */
bool file_put(int fd, const void *data, size_t size);
/* file_put of a piece of text as a terminal is shown it. */
bool file_show(int fd, TerminalText *shown, const char *data, size_t size);

/* A file being written beside TARGET (base/temporary.h), TARGET being PATH or what its links lead
 * to; or PATH itself where that is a device, a pipe or an open file (/dev/stdout, /dev/fd/3).
 * Writes are buffered; file_commit reports the first failure. Opening a named
 * pipe waits for its reader. A terminal gets text as TerminalText shows it (base/terminal.h). */
typedef struct FileWriter FileWriter;
FileWriter *file_create(Diagnostics *diags, const char *path); /* NULL after an error */
/* file_create for a file in a folder of tfc's own. TARGET is PATH: a link, a device or a pipe of
 * that name is replaced, since a link may lead to another user's file. */
FileWriter *file_create_own(Diagnostics *diags, const char *path);
void file_write(FileWriter *file, const void *data, size_t size);
void file_skip(FileWriter *file, uint64_t size); /* leaves `size` bytes to another process */
/* Replaces bytes that were written before, from offset `at` on. Only of a writer with a temporary
 * file (file_temporary). */
void file_rewrite(FileWriter *file, uint64_t at, const void *data, size_t size);
/* Writes out what is buffered, for readers of a pipe; false after a failure, which file_commit then
 * reports. */
bool file_flush(FileWriter *file);
/* Flushes the temporary file to the disk, renames it over TARGET and flushes the folder; frees the
 * writer. On failure, or if a question about a file was not answered (base/unanswered.h),
 * removes the temporary file, leaves TARGET as it was, returns false. A writer
 * of file_join renames and removes nothing; one without a temporary file only writes. */
bool file_commit(FileWriter *file, Diagnostics *diags);
/* Flushes the temporary file, if there is one, to the disk. False after a failure, which
 * file_commit then reports. */
bool file_sync(FileWriter *file);
/* Frees the writer and removes the temporary file: TARGET stays as it was. A device, pipe or open
 * file keeps what was written out. */
void file_discard(FileWriter *file);
/* Several processes can write one file, each its own bytes. One process creates the file; the
 * others join it by the name of its temporary file. The process that created the file commits it
 * after all others have committed.
 *
 * file_temporary: the last part of the temporary file's name, in the writer; NULL: there is none,
 * because PATH is a device, a pipe or an open file. */
const char *file_temporary(const FileWriter *file);
/* Opens the temporary file that another process created for PATH (file_create_own), before anything
 * is written to it. NULL: errno says why; EEXIST: it has content or is not a regular file, so it is
 * not the file of that process. */
FileWriter *file_join(const char *path, const char *temporary);
/* Whether file_create would open PATH now; false after an error. PATH is not changed, and the call
 * does not wait for a pipe's reader. */
bool file_can_write(Diagnostics *diags, const char *path);
/* PATH, or where its links lead, which need not exist; PATH if that cannot be known. In the
 * arena. */
const char *file_target(Arena *arena, const char *path);

bool file_write_all(Diagnostics *diags, const char *path, const void *data, size_t size);
/* file_write_all by file_create_own. */
bool file_write_own(Diagnostics *diags, const char *path, const void *data, size_t size);
/* What has a name. If the system does not answer, the question is kept (base/unanswered.h), and
 * file_exists and file_is_named are true, the others false. */
bool file_exists(const char *path);
bool file_is_named(const char *path); /* file_exists, or a link that leads nowhere */
bool file_is_regular(const char *path);
bool file_is_folder(const char *path);
struct stat;
bool file_stat(const char *path, struct stat *info);
bool file_stat_open(int fd, const char *path, struct stat *info); /* of an open file */
/* Removes a file, or a folder with all that is in it. Links are removed, not the files that they
 * lead to. Failures are ignored. */
void file_remove_tree(const char *path);
bool file_make_folder(Diagnostics *diags, const char *path); /* and its parents; may exist */
/* The same in FOLDER, a folder of tfc's own that PATH begins with. A link below it is an error, as
 * in file_open_own. */
bool file_make_own_folder(Diagnostics *diags, const char *folder, const char *path);
/* The same, but folders that are made are closed to all other users, whatever the umask. */
bool file_make_private_folder(Diagnostics *diags, const char *path);
/* The last part of a path, after the last slash; in `path`. */
const char *file_name(const char *path);
/* The folder that `path` names a file of: "." where it has no slash. In the arena. */
const char *file_folder(Arena *arena, const char *path);
/* The file `name` in the folder of `path`, in the arena. */
const char *file_beside(Arena *arena, const char *path, const char *name);
/* The path of a file from the root, without links, in the arena. Where nothing has the name (a
 * pipe, "-", a file that is to be made) `path` itself. NULL after an error: it cannot be known. */
const char *file_absolute(Diagnostics *diags, Arena *arena, const char *path);
/* FOLDER/NAME, in the arena. */
const char *file_in(Arena *arena, const char *folder, const char *name);

#endif
