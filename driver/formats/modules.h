/* modules.json of sentence-transformers: what makes a vector of a text, in order, and the folders
 * in which its modules lie. */
#ifndef DRIVER_FORMATS_MODULES_H
#define DRIVER_FORMATS_MODULES_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/vec.h"

#define MODULES_FILE "modules.json"

/* FolderModule: a module.
 *   path   the folder in which it lies, within that of modules.json; "": that one
 *   kind   the last word of its type: "Pooling" */
typedef struct FolderModule {
    const char *path, *kind;
} FolderModule;
typedef VEC(FolderModule) FolderModules;
/* Reads a folder's modules.json; none where there is no such file. False after an error: it cannot
 * be read, or a path leads out of the folder or deeper than one folder. */
bool modules_read(Diagnostics *diags, Arena *arena, FileReach reach, const char *folder,
                  FolderModules *modules);
/* Whether the module is a layer with weights of its own, which lie in its folder. */
bool module_has_weights(const FolderModule *module);

#endif
