/* Which build some code is of: a part of the keys of what it compiles. */
#ifndef CODEGEN_BUILD_ID_H
#define CODEGEN_BUILD_ID_H

#include "base/sha256.h"

#include <stdbool.h>

/* Adds what tells the program or library that holds `address` from every other build of
 * it: the id that the linker wrote (.note.gnu.build-id), or the file's bytes where there
 * is none. Copies, and files whose time was changed, are the same build. */
void build_id_add(Sha256 *sha, const void *address);
/* The same of a library's file, which need not be loaded. False: it cannot be read. */
bool build_id_add_file(Sha256 *sha, const char *path);

#endif
