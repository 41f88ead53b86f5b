/* Reading a model with everything it uses, and deciding which of several
 * definitions of a name holds: a file's own are stronger than those of the
 * files it uses; of two used files the later is stronger. */
#ifndef FRONTEND_LOAD_H
#define FRONTEND_LOAD_H

#include "frontend/ast.h"
#include "frontend/frontend.h"

typedef struct Loaded {
    Arena *arena;
    Diagnostics *diags;
    const FrontendOptions *options;
    const char *library; /* folder, or NULL: none found */

    /* all declarations and statements, used ones first; look at `overridden` */
    NodeList items;
    VEC(const Source *) files; /* in order of reading; the first is the prelude if there is one */
    const Source *main;
    Map seen; /* paths */

    /* "b f", "v x": of a block, of a constant → the Node of a used file that it replaces */
    Map replaced;
    bool broken; /* a file is missing or its text is wrong */
} Loaded;

/* False where the text could not be read as meant; other mistakes (names defined
 * twice, settings) are reported too but leave something to elaborate. */
bool load_model(Loaded *loaded, Arena *arena, Diagnostics *diags, const Source *source,
                const FrontendOptions *options);
bool is_library_file(const Loaded *loaded, const Source *source);
/* Names defined by --set take their values. */
void apply_settings(Loaded *loaded);

#endif
