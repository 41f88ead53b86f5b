/* Identity of a build of tfc or of a library, for the keys of compiled code. */
#ifndef CODEGEN_BUILD_ID_H
#define CODEGEN_BUILD_ID_H

#include "base/sha256.h"

#include <stdbool.h>

/* Adds the identity of the program or library that contains `address`: the id that the linker wrote
 * (.note.gnu.build-id), or, if there is none, the file's bytes. A copy of the file is the same
 * build, whatever its time. */
void build_id_add(Sha256 *sha, const void *address);
/* The same for a library's file, loaded or not. False: the file cannot be read, and nothing is
 * added. */
bool build_id_add_file(Sha256 *sha, const char *path);

#endif
