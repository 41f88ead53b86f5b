/* Archives of arrays, by libzip, which belongs to this file alone. */
#include "driver/formats/npz.h"

#include "base/file.h"
#include "base/library.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* Weights are no shorter packed: what grows by more than this is no file of such. */
enum { MOST_GROWTH = 64, FREE_GROWTH = 64 << 20 };

typedef struct Reading {
    Diagnostics *diags;
    Arena *arena;
    zip_t *zip;
    Npz *npz;
    uint64_t left; /* bytes that may still be unpacked */
} Reading;

static bool refuse(Reading *r, const char *name, const char *problem)
{
    diag_error(r->diags, (Loc){0}, "%s: the array '%s': %s", r->npz->path, name, problem);
    return false;
}

/* ---- reading ---- */

/* The bytes of an entry, all of them and no more; NULL after an error. */
static const void *unpack(Reading *r, const char *name, const zip_stat_t *stat)
{
    char *bytes = arena_alloc(r->arena, (size_t)stat->size + 1);
    zip_file_t *file = zip_fopen_index(r->zip, stat->index, 0);
    if (!file) {
        refuse(r, name, zip_strerror(r->zip));
        return NULL;
    }
    char more;
    zip_int64_t n = zip_fread(file, bytes, stat->size);
    bool ok = n == (zip_int64_t)stat->size && zip_fread(file, &more, 1) == 0;
    const char *problem = zip_error_code_zip(zip_file_get_error(file)) == ZIP_ER_OK
                              ? "it is cut off, or longer than the archive says"
                              : arena_strdup(r->arena, zip_file_strerror(file));
    zip_fclose(file);
    if (!ok)
        refuse(r, name, problem);
    return ok ? bytes : NULL;
}

static bool read_entry(Reading *r, zip_uint64_t i)
{
    zip_stat_t stat;
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_INDEX;
    if (zip_stat_index(r->zip, i, 0, &stat) || (stat.valid & needed) != needed)
        return refuse(r, "?", "it has no name or size");
    size_t length = strlen(stat.name);
    bool is_array = length > 4 && !strcmp(stat.name + length - 4, ".npy");
    const char *name = arena_strndup(r->arena, stat.name, is_array ? length - 4 : length);
    if (!is_array)
        return refuse(r, name, "it is no .npy");
    if (map_has(&r->npz->index, name))
        return refuse(r, name, "there are two of the name");
    if (stat.size > r->left)
        return refuse(r, name, "unpacked, the file would be far larger than it is");
    r->left -= stat.size;
    const void *bytes = unpack(r, name, &stat);
    NpyArray *array = ARENA_NEW(r->arena, NpyArray);
    array->name = name;
    const char *problem;
    if (!bytes)
        return false;
    if (!npy_parse(bytes, (size_t)stat.size, array, &problem))
        return refuse(r, name, problem);
    map_set(&r->npz->index, name, array);
    vec_push(r->arena, r->npz->arrays, array);
    return true;
}

/* The archive of the source, which it frees. */
static Npz *read_archive(Diagnostics *diags, Arena *arena, const char *path, zip_source_t *source)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_stat_t whole = {0};
    bool has_size = source && !zip_source_stat(source, &whole) && whole.valid & ZIP_STAT_SIZE;
    zip_t *zip = has_size ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!zip) {
        diag_error(diags, (Loc){0}, "%s: %s", path,
                   has_size ? zip_error_strerror(&error) : "cannot be read");
        zip_source_free(source);
        zip_error_fini(&error);
        return NULL;
    }
    Npz *npz = ARENA_NEW(arena, Npz);
    npz->path = path;
    map_init(&npz->index, arena);
    Reading r = {diags, arena, zip, npz, FREE_GROWTH};
    if (whole.size < UINT64_MAX / MOST_GROWTH - FREE_GROWTH)
        r.left += whole.size * MOST_GROWTH;
    zip_int64_t n = zip_get_num_entries(zip, 0);
    bool ok = true;
    for (zip_int64_t i = 0; ok && i < n; i++)
        ok = read_entry(&r, (zip_uint64_t)i);
    zip_discard(zip);
    zip_error_fini(&error);
    return ok ? npz : NULL;
}

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

Npz *npz_read(Diagnostics *diags, Arena *arena, const char *path)
{
    uint64_t size;
    int fd = load_zip(diags) ? file_open_regular(diags, path, &size) : -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !file)
        close(fd);
    return fd < 0 ? NULL
                  : read_archive(diags, arena, path,
                                 file ? zip_source_filep_create(file, 0, -1, NULL) : NULL);
}

Npz *npz_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes, size_t size)
{
    return load_zip(diags)
               ? read_archive(diags, arena, path, zip_source_buffer_create(bytes, size, 0, NULL))
               : NULL;
}

const NpyArray *npz_find(const Npz *npz, const char *name) { return map_get(&npz->index, name); }

/* ---- writing ---- */

/* Header and elements, which the archive frees; NULL after an error of libzip. */
static zip_source_t *array_source(zip_t *zip, const NpyArray *array)
{
    Text header = {0};
    npy_put_header(array, &header);
    size_t size = npy_element_size(array->type);
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
