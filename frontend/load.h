/* Reading a model with everything it uses, and deciding which of several
 * definitions of a name counts: a file's own definition overrides those of the
 * files it uses; of two used files the later overrides the earlier. */
#ifndef FRONTEND_LOAD_H
#define FRONTEND_LOAD_H

#include "frontend/ast.h"
#include "frontend/frontend.h"

typedef struct Loaded {
    Arena *arena;
    Diagnostics *diags;
    const FrontendOptions *options;
    const char *library; /* folder, or NULL: none found */

    /* all declarations and statements, those of used files first, but a statement that overrides
     * another one is in its place; skip what is `overridden` */
    NodeList items;
    VEC(const Source *) files; /* in order of reading; the first is the prelude if there is one */
    VEC(const char *) places;  /* of each file (place.h) */
    const Source *main;
    Map seen; /* paths of files that were read → their names (place.h) */

    /* "b f" of a block f, "v x" of a constant x → the Node of a used file that was replaced */
    Map replaced;
    bool broken; /* load_model will return false */
} Loaded;

/* False: a file cannot be read, its text is wrong, or something that is not a constant
 * replaces a constant. Other errors (names defined twice, settings) are reported too, but
 * the function returns true: the rest can be elaborated. */
bool load_model(Loaded *loaded, Arena *arena, Diagnostics *diags, const Source *source,
                const FrontendOptions *options);
bool is_library_file(const Loaded *loaded, const Source *source);
/* Gives constants the values of the settings in loaded->options. */
void apply_settings(Loaded *loaded);

#endif
