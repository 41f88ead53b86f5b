/* Archives of arrays: read by zip.h, written by zip_write.h. */
#include "driver/formats/npz.h"

#include "base/file.h"
#include "driver/formats/zip.h"
#include "driver/formats/zip_write.h"

#include <string.h>

/* ---- reading ---- */

static bool npz_refuse(Diagnostics *diags, const Npz *npz, const char *name, const char *problem)
{
    diag_error(diags, (Loc){0}, "%s: the array '%s': %s", npz->path, name, problem);
    return false;
}

static bool read_entry(Npz *npz, ZipArchive *zip, const ZipEntry *entry, bool is_checked)
{
    static const char ending[] = ".npy";
    const size_t length = strlen(entry->name), less = sizeof ending - 1;
    const char *problem;
    if (length <= less || !text_ends(entry->name, ending))
        return npz_refuse(zip->diags, npz, text_visible_name(zip->arena, entry->name),
                          "it is no .npy");
    NpyArray *array = ARENA_NEW(zip->arena, NpyArray);
    const char *name = arena_strndup(zip->arena, entry->name, length - less);
    if (!array || !name)
        return false;
    array->name = name;
    StSeal *seal = NULL;
    const void *bytes = is_checked ? zip_checked(zip, entry) : zip_sealed(zip, entry, &seal);
    if (!bytes)
        return false;
    const bool is = npy_parse(bytes, (size_t)entry->size, array, &problem);
    if (!is && array->type == ST_COUNT) {
        if (!zip_checked(zip, entry)) /* the type itself may be damaged */
            return false;
        vec_push(zip->arena, npz->passed, ((StPassed){name, array->other}));
        return true;
    }
    if (!is)
        return npz_refuse(zip->diags, npz, text_visible_name(zip->arena, array->name), problem);
    array->seal = seal; /* npy_parse sets all but the name */
    map_set(&npz->index, array->name, array);
    vec_push(zip->arena, npz->arrays, array);
    return true;
}

static Npz *read_arrays(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                        uint64_t size, bool is_checked)
{
    ZipArchive *zip = zip_parse(diags, arena, path, bytes, size);
    Npz *npz = ARENA_NEW(arena, Npz);
    if (!zip || !npz)
        return NULL;
    npz->path = path;
    map_init(&npz->index, arena);
    for (size_t i = 0; i < zip->entries.count; i++)
        if (!read_entry(npz, zip, zip->entries.data[i], is_checked))
            return NULL;
    return arena_failed(arena) ? NULL : npz;
}

Npz *npz_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes, size_t size)
{
    return read_arrays(diags, arena, path, bytes, size, false);
}

/* MappedFile: a mapping that an arena owns. */
typedef struct MappedFile {
    const void *map;
    uint64_t size;
} MappedFile;

static void unmap(void *object)
{
    const MappedFile *file = object;
    file_unmap(file->map, file->size);
}

Npz *npz_read(Diagnostics *diags, Arena *arena, const char *path)
{
    MappedFile *file = ARENA_NEW(arena, MappedFile);
    file->map = file_map(diags, path, &file->size);
    if (!file->map)
        return NULL;
    arena_own(arena, file, unmap);
    BudgetScope scope;
    Arena *own = budget_begin(&scope, BUDGET_BINARY, diags, arena, path, file->size);
    Npz *npz = own ? read_arrays(diags, own, path, file->map, file->size, true) : NULL;
    return budget_end(&scope) ? npz : NULL;
}

const NpyArray *npz_find(const Npz *npz, const char *name) { return map_get(&npz->index, name); }

/* ---- writing ---- */

static ZipStored stored_array(Arena *arena, const NpyArray *array)
{
    Text header = {0};
    npy_put_header(array, 0, &header);
    ZipStored entry = {.name = arena_printf(arena, "%s.npy", array->name),
                       .head = arena_copy(arena, header.data, header.length),
                       .head_size = header.length,
                       .data = array->data,
                       .data_size = element_info(array->type)->bytes};
    for (int i = 0; i < array->rank; i++)
        entry.data_size *= (uint64_t)array->dims[i];
    text_free(&header);
    return entry;
}

bool npz_write(Diagnostics *diags, const char *path, const NpyArray *arrays, int64_t n)
{
    Arena *arena = arena_new();
    ZipStored *entries = ARENA_ARRAY(arena, ZipStored, n);
    for (int64_t i = 0; i < n; i++)
        entries[i] = stored_array(arena, &arrays[i]);
    const bool ok = zip_write(diags, path, entries, (size_t)n);
    arena_free(arena);
    return ok;
}
