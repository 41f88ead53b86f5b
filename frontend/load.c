/* Reading a model with everything it uses. */
#define _GNU_SOURCE
#include "frontend/load.h"

#include "base/file.h"
#include "frontend/place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_FILES = 64, MAX_USE_DEPTH = 16 };

/* ---- where the library is ---- */

static const char *beside_program(Arena *arena)
{
    static const char *const places[] = {"../models/lib", "../../models/lib", "../../../models/lib",
                                         "models/lib", "../share/tfc/models/lib"};
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return NULL;
    program[length] = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *folder = file_beside(arena, program, places[i]);
        char *plain = realpath(folder, NULL);
        bool found = plain && file_exists(arena_printf(arena, "%s/prelude.tfg", plain));
        folder = found ? arena_strdup(arena, plain) : NULL;
        free(plain);
        if (found)
            return folder;
    }
    return NULL;
}

const char *frontend_library(Arena *arena, const FrontendOptions *options)
{
    const char *folder = options && options->library ? options->library : getenv("TFC_LIBRARY");
    if (folder)
        return folder;
    folder = beside_program(arena);
    return folder ? folder : file_exists("models/lib/prelude.tfg") ? "models/lib" : NULL;
}

static bool is_under(const char *folder, const char *path)
{
    size_t length = folder ? strlen(folder) : 0;
    return length && !strncmp(path, folder, length) && path[length] == '/';
}

bool is_library_file(const Loaded *loaded, const Source *source)
{
    return is_under(loaded->library, source->path);
}

bool model_is_library_file(const Model *model, const Source *file)
{
    return is_under(model->library, file->path);
}

const char *model_file_place(const Model *model, const Source *file)
{
    for (size_t i = 0; i < model->files.count; i++)
        if (model->files.data[i] == file)
            return model->places.data[i];
    return PLACE_MODEL;
}

/* Of the names of all libraries. */
static const char *suggest_library(const Loaded *loaded, const char *name)
{
    DIR *folder = loaded->library ? opendir(loaded->library) : NULL;
    VEC(const char *) names = {0};
    if (!folder)
        return "";
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && !strcmp(entry->d_name + length - 4, ".tfg"))
            vec_push(loaded->arena, names, arena_strndup(loaded->arena, entry->d_name, length - 4));
    }
    closedir(folder);
    return text_suggest(loaded->arena, "`", name, names.data, names.count);
}

/* ---- which definition holds ---- */

/* What a declaration defines: "b name" a block, "v name" a value, "w name" the words of an input;
 * NULL: nothing. */
static const char *defined_name(Arena *arena, const Node *node)
{
    switch (node->kind) {
    case NODE_BLOCK: return arena_printf(arena, "b %s", node->name);
    case NODE_VOCAB: return arena_printf(arena, "w %s", node->name);
    case NODE_CONST:
    case NODE_DIM:
    case NODE_INPUT:
    case NODE_PARAM:
    case NODE_OUTPUT:
    case NODE_ASSIGN: return arena_printf(arena, "v %s", node->name);
    default: return NULL;
    }
}

static bool is_statement(const Node *node)
{
    return node->kind == NODE_ASSIGN || node->kind == NODE_OUTPUT;
}

static void report_twice(Loaded *loaded, const Node *node, const Node *first)
{
    bool words = node->kind == NODE_VOCAB;
    if (loaded->diags->errors >= MAX_MISTAKES)
        return;
    diag_error(loaded->diags, node->loc,
               words ? "`%s` has a vocabulary already: an input has one" : "`%s` is defined twice",
               node->name);
    diag_note(loaded->diags, first->loc, words ? "the first one" : "the first definition");
}

/* Whether a statement gives the name a value, also one within a repeat or an if. */
static bool assigns(const Node *node, const char *name)
{
    const NodeList *inner[] = {&node->body, &node->otherwise};
    if (node->kind == NODE_OUTPUT)
        return node->a && !strcmp(node->name, name);
    for (size_t i = 0; node->kind == NODE_ASSIGN && i < node->kids.count; i++)
        if (!strcmp(node->kids.data[i]->name, name))
            return true;
    for (int k = 0; k < 2 && (node->kind == NODE_REPEAT || node->kind == NODE_IF); k++)
        for (size_t i = 0; i < inner[k]->count; i++)
            if (assigns(inner[k]->data[i], name))
                return true;
    return false;
}

/* Those that run in order; declarations may stand anywhere. */
static bool is_ordered(const Node *node)
{
    switch (node->kind) {
    case NODE_ASSIGN:
    case NODE_RETURN:
    case NODE_OUTPUT:
    case NODE_EXPOSE:
    case NODE_UPDATE:
    case NODE_MERGE:
    case NODE_REPEAT:
    case NODE_IF:
    case NODE_EXPR: return true;
    default: return false;
    }
}

/* A file's own items without those that define a name again; "b f", "v x", "w x" → Node in
 * `mine`. */
static NodeList own_items(Loaded *loaded, const NodeList *all, Map *mine)
{
    NodeList own = {0};
    for (size_t i = 0; i < all->count; i++) {
        Node *node = all->data[i];
        const char *key = defined_name(loaded->arena, node);
        Node *first = key ? map_get(mine, key) : NULL;
        if (first && !(is_statement(first) && is_statement(node))) {
            report_twice(loaded, node, first);
            continue;
        }
        if (key)
            map_set(mine, key, node);
        vec_push(loaded->arena, own, node);
    }
    return own;
}

/* Moves the statements of own[0] … own[n - 1] that are still there to the end of `items`. */
static void move_statements(Arena *arena, NodeList *own, size_t n, NodeList *items)
{
    for (size_t i = 0; i < n; i++)
        if (own->data[i] && is_ordered(own->data[i])) {
            vec_push(arena, *items, own->data[i]);
            own->data[i] = NULL;
        }
}

/* Adds a file's own items. Those of the same name that came from used files no longer
 * hold, and a statement that replaces one runs where that one stood, after what its own
 * file says before it: what reads the name there finds the new value. */
static void merge(Loaded *loaded, const NodeList *all)
{
    Arena *arena = loaded->arena;
    NodeList items = {0};
    Map mine;
    map_init(&mine, arena);
    NodeList own = own_items(loaded, all, &mine);
    for (size_t i = 0; i < loaded->items.count; i++) {
        Node *node = loaded->items.data[i];
        const char *key = defined_name(arena, node);
        vec_push(arena, items, node);
        const Node *stronger = key ? map_get(&mine, key) : NULL;
        if (!stronger)
            continue;
        node->overridden = true;
        if (node->kind == NODE_BLOCK || node->kind == NODE_CONST)
            map_set(&loaded->replaced, key, node);
        if (node->kind == NODE_CONST && stronger->kind != NODE_CONST) {
            diag_error(loaded->diags, stronger->loc,
                       "`%s` is a constant of the library: `const %s = …` replaces it", node->name,
                       node->name);
            diag_note(loaded->diags, node->loc, "in the library, here");
            loaded->broken = true;
        }
        for (size_t k = own.count; is_statement(node) && k-- > 0;)
            if (own.data[k] && assigns(own.data[k], node->name)) {
                move_statements(arena, &own, k + 1, &items);
                break;
            }
    }
    for (size_t i = 0; i < own.count; i++)
        if (own.data[i])
            vec_push(arena, items, own.data[i]);
    loaded->items = items;
}

/* ---- reading ---- */

/* UsedFile: a file of the model, and how it was named.
 *   name    by place.h
 *   loc     of the `use`; {0}: the prelude, which is used by none */
typedef struct UsedFile {
    const char *path, *name;
    FileReach reach;
    Loc loc;
} UsedFile;

static void load_source(Loaded *loaded, const Source *source, const char *name, int depth);

static void load_file(Loaded *loaded, const UsedFile *file, int depth)
{
    Diagnostics *diags = loaded->diags;
    if (map_has(&loaded->seen, file->path))
        return;
    if (depth > MAX_USE_DEPTH || loaded->files.count >= MAX_FILES) {
        diag_error(diags, file->loc,
                   "the model has more than %d files, or this one is used through more than %d "
                   "others: join some of them",
                   MAX_FILES, MAX_USE_DEPTH);
        loaded->broken = true;
        return;
    }
    const int before = diags->errors;
    const Source *source =
        file_read_within(diags, loaded->arena, file->reach, file->path, MODEL_MAX_BYTES);
    if (source)
        load_source(loaded, source, file->name, depth);
    else
        loaded->broken = true;
    if (diags->errors != before && file->loc.source)
        diag_note(diags, file->loc, "used here");
}

static FileReach reach_of_model(const Loaded *loaded)
{
    return loaded->options ? loaded->options->reach : FILE_ANYWHERE;
}

/* Of the library and what it uses: anywhere, unless it lies in the folder of the model. */
static FileReach reach_of_library(const Loaded *loaded)
{
    const FileReach reach = reach_of_model(loaded);
    return is_under(reach.folder, loaded->library) ? reach : FILE_ANYWHERE;
}

static UsedFile library_file(const Loaded *loaded, const char *name, Loc loc)
{
    return (UsedFile){arena_printf(loaded->arena, "%s/%s.tfg", loaded->library, name),
                      arena_printf(loaded->arena, PLACE_LIBRARY "%s.tfg", name),
                      reach_of_library(loaded), loc};
}

/* use "FILE": where a run keeps such a file, if it does; else where the name leads. */
static UsedFile named_file(const Loaded *loaded, const Node *use)
{
    Arena *arena = loaded->arena;
    const Source *from = use->loc.source;
    const FileReach reach = reach_of_model(loaded);
    const char *name = place_name(arena, map_get(&loaded->seen, from->path), use->name);
    const char *kept = reach.folder ? file_in(arena, reach.folder, place_of(arena, name)) : NULL;
    const char *path = kept && file_exists(kept) ? kept
                       : *use->name == '/'       ? use->name
                                                 : file_beside(arena, from->path, use->name);
    return (UsedFile){path, name, is_library_file(loaded, from) ? reach_of_library(loaded) : reach,
                      use->loc};
}

/* Whether the library is a run's copy, which lies in it as the run's text does. */
static bool is_runs(const Loaded *loaded) { return loaded->options && loaded->options->is_trained; }

static void missing_of_run(Loaded *loaded, Loc loc, const char *path)
{
    diag_error(loaded->diags, loc, "%s, %s, is missing: put back what tfc train wrote", path,
               strcmp(path, loaded->library) ? "of the run's copy of the library"
                                             : "the run's copy of the library");
}

static void load_use(Loaded *loaded, const Node *use, int depth)
{
    if (loaded->diags->errors >= MAX_MISTAKES)
        return;
    if (use->same) { /* "file" */
        size_t length = strlen(use->name);
        if (length < 5 || strcmp(use->name + length - 4, ".tfg")) {
            diag_error(loaded->diags, use->loc,
                       "a model uses files whose names end in .tfg, and no others");
            loaded->broken = true;
            return;
        }
        const UsedFile named = named_file(loaded, use);
        load_file(loaded, &named, depth);
        return;
    }
    const UsedFile file =
        loaded->library ? library_file(loaded, use->name, use->loc) : (UsedFile){0};
    if (file.path && file_exists(file.path)) {
        load_file(loaded, &file, depth);
        return;
    }
    loaded->broken = true;
    if (file.path && is_runs(loaded)) {
        missing_of_run(loaded, use->loc, file.path);
        return;
    }
    diag_error(loaded->diags, use->loc, "there is no library `%.60s`%s", use->name,
               suggest_library(loaded, use->name));
    if (!loaded->library)
        diag_note(loaded->diags, (Loc){0},
                  "the folder of the libraries (models/lib) was not found; "
                  "TFC_LIBRARY can name it");
}

/* False after a message, which does not show what is in the file. */
static bool is_text(Loaded *loaded, const Source *source)
{
    const char *text = source->text;
    bool wide =
        source->length >= 2 && (!memcmp(text, "\xFF\xFE", 2) || !memcmp(text, "\xFE\xFF", 2));
    const char *nul = memchr(text, 0, source->length);
    if (wide)
        diag_error(loaded->diags, (Loc){.source = source},
                   "this is UTF-16: a model is text in UTF-8, save it as that");
    else if (nul)
        diag_error(loaded->diags, (Loc){.source = source},
                   "not a model: a model is text, and byte %zu of this file is 0",
                   (size_t)(nul - text));
    return !wide && !nul;
}

/* A text of another kind is a mistake in each line, told once: its name is no model's, and no line
 * is a statement. */
static bool is_model(Loaded *loaded, const Source *source, const Syntax *syntax, size_t messages,
                     int errors)
{
    Diagnostics *diags = loaded->diags;
    bool none = diags->errors != errors && !text_ends(source->path, ".tfg");
    for (size_t i = 0; none && i < syntax->items.count; i++)
        none = syntax->items.data[i]->kind == NODE_EXPR;
    if (!none)
        return true;
    diags->list.count = messages;
    diags->errors = errors;
    diag_error(diags, (Loc){.source = source},
               "not a model (.tfg): no line of it is a statement of one");
    return false;
}

static void load_source(Loaded *loaded, const Source *source, const char *name, int depth)
{
    const char *place = source == loaded->main            ? PLACE_MODEL
                        : is_library_file(loaded, source) ? name
                                                          : place_of(loaded->arena, name);
    map_set(&loaded->seen, source->path, (void *)name);
    vec_push(loaded->arena, loaded->files, source);
    vec_push(loaded->arena, loaded->places, place);
    if (!is_text(loaded, source)) {
        loaded->broken = true;
        return;
    }
    int before = loaded->diags->errors;
    size_t messages = loaded->diags->list.count;
    Syntax *syntax = parse_tfg(loaded->arena, loaded->diags, source);
    loaded->broken |= loaded->diags->errors != before;
    if (!is_model(loaded, source, syntax, messages, before))
        return;
    if (!syntax->items.count && source == loaded->main && !loaded->broken) {
        diag_error(loaded->diags, (Loc){.source = source},
                   source->length ? "the file holds no statement" : "the file is empty");
        loaded->broken = true;
    }
    for (size_t i = 0; i < syntax->items.count; i++)
        if (syntax->items.data[i]->kind == NODE_USE)
            load_use(loaded, syntax->items.data[i], depth + 1);
    merge(loaded, &syntax->items);
}

/* False after a message: there is none, so neither are the other files. */
static bool load_prelude(Loaded *loaded)
{
    const UsedFile prelude = library_file(loaded, "prelude", (Loc){0});
    if (file_exists(prelude.path)) {
        load_file(loaded, &prelude, 0);
        return true;
    }
    if (is_runs(loaded))
        missing_of_run(loaded, (Loc){0},
                       file_exists(loaded->library) ? prelude.path : loaded->library);
    else
        diag_error(loaded->diags, (Loc){0},
                   "%s is not the folder of the libraries (models/lib): it has no prelude.tfg",
                   loaded->library);
    return false;
}

bool load_model(Loaded *loaded, Arena *arena, Diagnostics *diags, const Source *source,
                const FrontendOptions *options)
{
    *loaded = (Loaded){.arena = arena,
                       .diags = diags,
                       .options = options,
                       .main = source,
                       .library = frontend_library(arena, options)};
    map_init(&loaded->seen, arena);
    map_init(&loaded->replaced, arena);
    if (loaded->library && !load_prelude(loaded))
        return false;
    load_source(loaded, source, "", 0);
    apply_settings(loaded);
    return !loaded->broken;
}

/* ---- the tree, for people and as a copy that stands alone ---- */

bool frontend_dump_ast(Arena *arena, const Source *source, const FrontendOptions *options,
                       Text *out, Diagnostics *diags)
{
    Loaded loaded;
    bool ok = load_model(&loaded, arena, diags, source, options);
    const Source *last = NULL;
    const char *prelude =
        loaded.library ? arena_printf(arena, "%s/prelude.tfg", loaded.library) : "";
    for (size_t i = 0; i < loaded.items.count; i++) {
        const Node *node = loaded.items.data[i];
        if (node->overridden || !strcmp(node->loc.source->path, prelude) ||
            (node->kind == NODE_MODEL && node->loc.source != source))
            continue;
        if (node->loc.source != last) {
            last = node->loc.source;
            text_add(out, "# from %s\n", file_name(last->path));
        }
        if (node->kind == NODE_USE)
            text_add(out, "# ");
        print_item(node, 0, out);
    }
    return ok;
}
