/* Listing a folder. */
#define _GNU_SOURCE
#include "driver/formats/folder_files.h"

#include "base/text.h"
#include "base/unanswered.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

FolderFiles folder_files(Arena *arena, const char *folder, const char *ending)
{
    FolderFiles names = {0};
    struct dirent **entries;
    const int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0)
        unanswered_note("read", folder, errno);
    for (int i = 0; i < n; i++) {
        if (text_ends(entries[i]->d_name, ending))
            vec_push(arena, names, arena_strdup(arena, entries[i]->d_name));
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return names;
}
