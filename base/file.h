/* Files: read whole, or written beside and renamed so that a reader sees the
 * old content or the new, never half of one. Errors go to diagnostics. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/diag.h"

/* Reads a regular file of at most max_bytes; NULL after an error.
 * The text is NUL-terminated. */
const Source *file_read(Diagnostics *diags, Arena *arena, const char *path, size_t max_bytes);

/* A file being written as PATH.tmp-PID. Writes are buffered; the first failure
 * is kept and told by file_commit. */
typedef struct FileWriter FileWriter;
FileWriter *file_create(Diagnostics *diags, const char *path); /* NULL after an error */
void file_write(FileWriter *file, const void *data, size_t size);
/* Flushes to the disk, renames over PATH, flushes the folder; frees the writer.
 * On failure removes the temporary file, leaves PATH as it was, returns false. */
bool file_commit(FileWriter *file, Diagnostics *diags);
void file_discard(FileWriter *file); /* gives up: PATH stays as it was */

bool file_write_all(Diagnostics *diags, const char *path, const void *data, size_t size);
bool file_exists(const char *path);
bool file_make_folder(Diagnostics *diags, const char *path); /* with parents; fine if there */
/* dir(path) + "/" + name, in the arena. */
const char *file_beside(Arena *arena, const char *path, const char *name);

#endif
