/* Reading modules.json; see modules.h. */
#include "driver/formats/modules.h"

#include "base/json_read.h"

#include <string.h>

enum { MAX_MODULES = 1 << 20 };

static bool refuse_modules(Diagnostics *diags, const Source *source, const char *what)
{
    diag_error(diags, (Loc){.source = source}, "%s", what ? what : "out of memory");
    return false;
}

static bool add_module(Diagnostics *diags, Arena *arena, const Source *source,
                       const JsonValue *from, size_t i, FolderModules *modules)
{
    const char *path = json_member_text(from, "path"), *type = json_member_text(from, "type");
    const char *dot = type ? strrchr(type, '.') : NULL;
    if (!path || !type)
        return refuse_modules(diags, source,
                              arena_printf(arena, "module %zu has no \"path\" or no \"type\"", i));
    if (strchr(path, '/') || strchr(path, '\\') || *path == '.')
        return refuse_modules(diags, source,
                              arena_printf(arena,
                                           "the path of module %zu is %s: expected the name of a "
                                           "folder within this one",
                                           i, text_visible_name(arena, path)));
    vec_push(arena, *modules, ((FolderModule){path, dot ? dot + 1 : type}));
    return true;
}

bool modules_read(Diagnostics *diags, Arena *arena, FileReach reach, const char *folder,
                  FolderModules *modules)
{
    const char *path = file_in(arena, folder, MODULES_FILE), *problem = NULL;
    *modules = (FolderModules){0};
    if (!file_is_named(path))
        return true;
    const Source *source = file_read_within(diags, arena, reach, path, MAX_MODULES);
    const JsonValue *json =
        source ? json_read(arena, source->text, source->length, &problem) : NULL;
    if (!json || json->kind != JV_LIST)
        return source && refuse_modules(diags, source, json ? "expected [value, …]" : problem);
    bool ok = true;
    for (size_t i = 0; ok && i < json->n; i++)
        ok = add_module(diags, arena, source, &json->items[i], i, modules);
    return ok;
}

bool module_has_weights(const FolderModule *module)
{
    return *module->path && !strcmp(module->kind, "Dense");
}
