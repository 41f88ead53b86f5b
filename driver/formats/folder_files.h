/* The files of a folder by the ends of their names. */
#ifndef DRIVER_FORMATS_FOLDER_FILES_H
#define DRIVER_FORMATS_FOLDER_FILES_H

#include "base/arena.h"
#include "base/vec.h"

typedef VEC(const char *) FolderFiles;
/* Their names, sorted; none where the folder cannot be read. In the arena. */
FolderFiles folder_files(Arena *arena, const char *folder, const char *ending);

#endif
