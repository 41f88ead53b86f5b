/* Opening a checkpoint of one file or of several; see shards.h. */
#define _GNU_SOURCE
#include "driver/formats/shards.h"

#include "base/file.h"
#include "base/json_read.h"
#include "driver/formats/folder_files.h"
#include "driver/formats/formats.h"
#include "driver/formats/modules.h"

#include <string.h>

enum { MAX_INDEX = 64 << 20 };

static bool refuse_shards(Diagnostics *diags, Arena *arena, const char *path, const char *what)
{
    Loc loc = {.source = diag_source(arena, path, "", 0)};
    diag_error(diags, loc, "%s", what ? what : "out of memory");
    return false;
}

/* `front`: what stands before the names of its tensors. */
static bool add_file(Shards *shards, Diagnostics *diags, Arena *arena, FileReach reach,
                     const char *path, const char *front)
{
    StFile *file = format_open_within(diags, arena, reach, path);
    if (!file)
        return false;
    vec_push(arena, shards->files, file);
    for (int64_t i = 0; i < file->n; i++) {
        const StTensor *tensor = &file->tensors[i];
        if (tensor->is_scale)
            continue;
        if (*front) {
            StTensor *named = ARENA_NEW(arena, StTensor);
            *named = *tensor;
            named->name = arena_printf(arena, "%s%s", front, tensor->name);
            tensor = named;
        }
        Shard *shard = ARENA_NEW(arena, Shard);
        *shard = (Shard){file, tensor, shards->n_items};
        const Shard *before = shards_find(shards, tensor->name);
        if (before && before->item == shard->item)
            return refuse_shards(diags, arena, path,
                                 arena_printf(arena,
                                              "the tensor '%s' is in another file of %s, too",
                                              tensor->name, shards->path));
        map_set(&shards->index, tensor->name, shard);
        if (!before)
            vec_push(arena, shards->names, tensor->name);
    }
    return true;
}

/* The files that an index names, each once; they lie in its folder. */
static bool add_shards(Shards *shards, Diagnostics *diags, Arena *arena, FileReach reach,
                       const char *path)
{
    const FileReach beside = {.folder = file_folder(arena, path), .outside = reach.outside};
    const char *problem = NULL;
    const Source *source = file_read_within(diags, arena, reach, path, MAX_INDEX);
    if (!source)
        return false;
    JsonValue *json = json_read(arena, source->text, source->length, &problem);
    const JsonValue *map = json ? json_member(json, "weight_map") : NULL;
    if (!json)
        return refuse_shards(diags, arena, path, problem);
    if (!map || map->kind != JV_OBJECT)
        return refuse_shards(diags, arena, path,
                             "it is no index of shards: it has no \"weight_map\"");
    Map seen;
    map_init(&seen, arena);
    for (size_t i = 0; i < map->n; i++) {
        const char *name = map->items[i].kind == JV_STRING ? map->items[i].text : "";
        if (!*name || (strchr(name, '/') && !reach.outside))
            return refuse_shards(
                diags, arena, path,
                *name ? arena_printf(arena,
                                     "the file of \"%s\" is %s, which does not lie beside the "
                                     "index: put it there, or permit it by --allow-outside",
                                     map->keys[i], text_visible_name(arena, name))
                      : arena_printf(arena, "no file is named for \"%s\"", map->keys[i]));
        if (map_has(&seen, name))
            continue;
        const char *file =
            *name == '/' ? arena_strdup(arena, name) : file_beside(arena, path, name);
        map_set(&seen, name, (void *)file);
        if (!add_file(shards, diags, arena, beside, file, ""))
            return false;
    }
    for (size_t i = 0; i < map->n; i++) {
        const Shard *shard = shards_find(shards, map->keys[i]);
        const char *file = map_get(&seen, map->items[i].text);
        if (shard ? strcmp(shard->file->path, file) : !shards_passed(shards, map->keys[i]))
            return refuse_shards(diags, arena, path,
                                 arena_printf(arena, "the tensor '%s' is not in %s, as it says",
                                              map->keys[i], map->items[i].text));
    }
    return true;
}

/* In the order in which they are looked for. */
static const char *const published[] = {"model.safetensors", "model.safetensors.index.json",
                                        "pytorch_model.bin", "pytorch_model.bin.index.json"};
enum { N_PUBLISHED = sizeof published / sizeof *published };

const char *shards_in(Arena *arena, const char *folder)
{
    for (int i = 0; i < N_PUBLISHED; i++) {
        const char *path = file_in(arena, folder, published[i]);
        if (file_is_named(path))
            return path;
    }
    return NULL;
}

/* A part of a checkpoint, "NAME-00001-of-00003.ENDING". */
static bool is_part(const char *name)
{
    const char *of = strstr(name, "-of-");
    return of && of > name && strchr("0123456789", of[-1]);
}

#define ITSELF "if ", "has them, name that file in place of the folder"
/* What to do with the files of a folder that could be its weights, by the first that there is. */
static const char *shards_advice(Arena *arena, const char *folder)
{
    static const struct {
        const char *ending, *front, *behind;
    } kinds[] = {
        {"adapter_model.safetensors", "",
         "changes another model: merge it into that one first (peft's merge_and_unload)"},
        {".incomplete", "", "was not downloaded to its end: go on with that"},
        {".safetensors", ITSELF},
        {".bin", ITSELF},
        {".pt", ITSELF},
        {".pth", ITSELF},
        {".gguf", ITSELF},
        {".npz", ITSELF},
        {".onnx", ITSELF},
        {".h5", ITSELF},
        {".msgpack", ITSELF},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const FolderFiles files = folder_files(arena, folder, kinds[i].ending);
        const char *name = files.count ? text_visible_name(arena, files.data[0]) : NULL;
        if (name && is_part(name))
            return arena_printf(
                arena, "; it has %s, but no index of such parts: download that, too", name);
        if (name)
            return arena_printf(arena, "; %s%s %s", kinds[i].front, name, kinds[i].behind);
    }
    return "";
}
#undef ITSELF

static const char *shards_missing(Arena *arena, const char *folder)
{
    const char *list = "";
    for (int i = 0; i < N_PUBLISHED; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", published[i]);
    return arena_printf(arena, "the folder has no weights: none of %s%s", list,
                        shards_advice(arena, folder));
}

/* The weights of the modules of a folder. */
static bool add_modules(Shards *shards, Diagnostics *diags, Arena *arena, bool outside,
                        const char *folder)
{
    const FileReach within = {.folder = folder, .outside = outside};
    FolderModules modules;
    bool ok = modules_read(diags, arena, within, folder, &modules);
    for (size_t i = 0; ok && i < modules.count; i++) {
        const FolderModule *module = &modules.data[i];
        const char *own = file_in(arena, folder, module->path);
        const char *path = module_has_weights(module) ? shards_in(arena, own) : NULL;
        if (!module_has_weights(module))
            continue;
        ok = path && !text_ends(path, ".json")
                 ? add_file(shards, diags, arena, within, path,
                            arena_printf(arena, "%s/", module->path))
                 : refuse_shards(diags, arena, own,
                                 "the module has no model.safetensors and no "
                                 "pytorch_model.bin");
    }
    return ok;
}

static bool open_file(Shards *shards, Diagnostics *diags, Arena *arena, FileReach reach,
                      const char *path)
{
    return text_ends(path, ".json") ? add_shards(shards, diags, arena, reach, path)
                                    : add_file(shards, diags, arena, reach, path, "");
}

static bool open_path(Shards *shards, Diagnostics *diags, Arena *arena, FileReach reach,
                      const char *path)
{
    if (file_is_folder(path)) {
        const char *weights = shards_in(arena, path);
        if (!weights)
            return refuse_shards(diags, arena, path, shards_missing(arena, path));
        return open_file(shards, diags, arena, reach, weights) &&
               add_modules(shards, diags, arena, reach.outside, path);
    }
    return open_file(shards, diags, arena, reach, path);
}

static bool open_paths(Shards *shards, Diagnostics *diags, Arena *arena, FileReach reach,
                       const char *paths)
{
    size_t n = strcspn(paths, ",");
    const bool last = !paths[n] || file_exists(paths);
    if (!open_path(shards, diags, arena, reach, last ? paths : arena_strndup(arena, paths, n)))
        return false;
    shards->n_items++;
    return last || open_paths(shards, diags, arena, reach, paths + n + 1);
}

Shards *shards_open_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path)
{
    Shards *shards = ARENA_NEW(arena, Shards);
    *shards = (Shards){.path = arena_strdup(arena, path)};
    map_init(&shards->index, arena);
    if (open_paths(shards, diags, arena, reach, path))
        return shards;
    shards_close(shards);
    return NULL;
}

Shards *shards_open(Diagnostics *diags, Arena *arena, const char *path)
{
    return shards_open_within(diags, arena, FILE_ANYWHERE, path);
}

void shards_close(Shards *shards)
{
    for (size_t i = 0; shards && i < shards->files.count; i++)
        st_close(shards->files.data[i]);
    if (shards)
        shards->files.count = 0;
}

const char *shards_passed(const Shards *shards, const char *name)
{
    const char *type = NULL;
    for (size_t i = 0; !type && i < shards->files.count; i++)
        type = st_passed(shards->files.data[i], name);
    return type;
}

const Shard *shards_find(const Shards *shards, const char *name)
{
    return map_get(&shards->index, name);
}
