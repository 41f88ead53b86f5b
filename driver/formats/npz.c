/* Archives of arrays: read by zip.h, written by libzip, which belongs to this file alone. */
#include "driver/formats/npz.h"

#include "base/file.h"
#include "base/library.h"
#include "driver/formats/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

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
    const void *bytes = (is_checked ? zip_checked : zip_bytes)(zip, entry);
    if (!bytes)
        return false;
    if (!npy_parse(bytes, (size_t)entry->size, array, &problem))
        return npz_refuse(zip->diags, npz, text_visible_name(zip->arena, array->name), problem);
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

#define FUNCTION(f) LIBRARY_FUNCTION(f)
#include "driver/formats/zip_functions.def"
#undef FUNCTION

/* libzip, before any of its functions. */
static bool load_zip(Diagnostics *diags)
{
    static const LibraryFunction functions[] = {
#define FUNCTION(f) LIBRARY_ENTRY(f)
#include "driver/formats/zip_functions.def"
#undef FUNCTION
    };
    static Library library = {.path = TFC_LIBZIP,
                              .name = TFC_LIBZIP_NAME,
                              .package = TFC_LIBZIP_PACKAGE,
                              LIBRARY_TABLE(functions)};
    return library_load(&library, diags);
}

/* Header and elements, which the archive frees; NULL after an error of libzip. */
static zip_source_t *array_source(zip_t *zip, const NpyArray *array)
{
    Text header = {0};
    npy_put_header(array, 0, &header);
    size_t size = element_info(array->type)->bytes;
    for (int i = 0; i < array->rank; i++)
        size *= (size_t)array->dims[i];
    char *bytes = memory_resized(NULL, header.length + size);
    memcpy(bytes, header.data, header.length);
    memcpy(bytes + header.length, array->data, size);
    zip_source_t *source = zip_source_buffer(zip, bytes, header.length + size, 1);
    if (!source)
        free(bytes);
    text_free(&header);
    return source;
}

static bool add_array(zip_t *zip, const NpyArray *array)
{
    enum { FIRST_DAY = 1 << 5 | 1 }; /* of 1980: a file tells nothing of its day */
    Text name = {0};
    text_add(&name, "%s.npy", array->name);
    zip_source_t *source = array_source(zip, array);
    zip_int64_t i = source ? zip_file_add(zip, name.data, source, ZIP_FL_ENC_UTF_8) : -1;
    text_free(&name);
    if (source && i < 0)
        zip_source_free(source);
    return i >= 0 && !zip_set_file_compression(zip, (zip_uint64_t)i, ZIP_CM_STORE, 0) &&
           !zip_file_set_dostime(zip, (zip_uint64_t)i, 0, FIRST_DAY, 0);
}

bool npz_write(Diagnostics *diags, const char *path, const NpyArray *arrays, int64_t n)
{
    if (!load_zip(diags) || !file_can_write(diags, path))
        return false;
    int code = 0;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!zip) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        diag_file(diags, "write", path, "%s", zip_error_strerror(&error));
        zip_error_fini(&error);
        return false;
    }
    bool ok = true;
    for (int64_t i = 0; ok && i < n; i++)
        ok = add_array(zip, &arrays[i]);
    if (ok && !zip_close(zip))
        return true;
    diag_file(diags, "write", path, "%s", zip_strerror(zip));
    zip_discard(zip);
    return false;
}
