/* Places: where the folder of a run keeps each file of its model, so that the run needs no other
 * files. Paths within the run:
 *
 *   model.tfg               the model's own file
 *   lib/NAME.tfg            a file of the library
 *   FOLDER/NAME.tfg         a file that is named by its path from the model's folder
 *   used/from/up/NAME.tfg   the same with `..` in its path: each is `up`
 *   used/root/NAME.tfg      a file that is named by its absolute path
 *   used/here/…             a file whose path one of the above has: model.tfg, lib/…, used/…
 *
 * The names in `use "FILE"` stay as they are: read in a run, they lead to these places. */
#ifndef FRONTEND_PLACE_H
#define FRONTEND_PLACE_H

#include "base/arena.h"

#define PLACE_MODEL "model.tfg"
#define PLACE_LIBRARY "lib/"

/* The name of a file that the model has from the file `from` by `use "NAME"`: absolute, or its path
 * from the model's folder. `from` is such a name; "": the model's own file. In the arena. */
const char *place_name(Arena *arena, const char *from, const char *used);
/* The place of the file with that name. In the arena. */
const char *place_of(Arena *arena, const char *name);

#endif
