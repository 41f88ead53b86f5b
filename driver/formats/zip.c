/* From the end of an archive to its directory, and from there to each entry. */
#include "driver/formats/zip.h"

#include "base/budget.h"
#include "base/unpack.h"
#include "driver/formats/advice.h"

#include <string.h>

enum {
    END_BYTES = 22,     /* end of central directory record */
    LOCATOR_BYTES = 20, /* of the 64-bit one */
    END64_BYTES = 56,
    FILE_BYTES = 46, /* central directory header */
    LOCAL_BYTES = 30,
    LONGEST_COMMENT = 0xFFFF,
    EXTRA_64 = 1,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1, /* a flag */
    MOST_ENTRIES = 1 << 20,
};
typedef struct ZipReader {
    ZipArchive *zip;
    const unsigned char *bytes;
    uint64_t size;
} ZipReader;

static bool zip_refuse(const ZipArchive *zip, const char *name, const char *problem)
{
    if (name)
        diag_error(zip->diags, (Loc){0}, "%s: '%s' in the archive: %s", zip->path,
                   text_visible_name(zip->arena, name), problem);
    else
        diag_error(zip->diags, (Loc){0}, "%s: %s", zip->path, problem);
    return false;
}

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static bool has_mark(const unsigned char *at, unsigned char third, unsigned char fourth)
{
    return at[0] == 'P' && at[1] == 'K' && at[2] == third && at[3] == fourth;
}

/* The record at the end, before a comment; NULL: there is none. */
static const unsigned char *find_end(const unsigned char *bytes, uint64_t size)
{
    for (uint64_t back = END_BYTES; back <= size && back <= END_BYTES + LONGEST_COMMENT; back++) {
        const unsigned char *at = bytes + size - back;
        if (has_mark(at, 5, 6) && number(at + 20, 2) == back - END_BYTES)
            return at;
    }
    return NULL;
}

/* The place of the directory, its bytes and entries. It ends where the record behind it begins: of
 * two archives in one file neither is meant more. */
static bool find_directory(const ZipReader *r, uint64_t *at, uint64_t *bytes, uint64_t *n)
{
    const unsigned char *end = find_end(r->bytes, r->size);
    if (!end)
        return zip_refuse(r->zip, NULL,
                          "the archive has no directory, so it is cut off" FETCH_AGAIN);
    *n = number(end + 10, 2);
    *bytes = number(end + 12, 4);
    *at = number(end + 16, 4);
    uint64_t end_at = (uint64_t)(end - r->bytes);
    const unsigned char *locator = end_at >= LOCATOR_BYTES ? end - LOCATOR_BYTES : NULL;
    if (locator && has_mark(locator, 6, 7)) {
        const uint64_t at64 = number(locator + 8, 8);
        if (at64 > r->size || r->size - at64 < END64_BYTES || !has_mark(r->bytes + at64, 6, 6))
            return zip_refuse(r->zip, NULL,
                              "the archive's 64-bit directory is damaged" FETCH_AGAIN);
        *n = number(r->bytes + at64 + 32, 8);
        *bytes = number(r->bytes + at64 + 40, 8);
        *at = number(r->bytes + at64 + 48, 8);
        end_at = at64;
    }
    if (*at > r->size || *bytes > r->size - *at || *n > MOST_ENTRIES)
        return zip_refuse(
            r->zip, NULL,
            "the archive's directory lies outside the file, which is cut off or damaged" FETCH_AGAIN);
    return *at + *bytes == end_at ||
           zip_refuse(r->zip, NULL,
                      "the archive's directory is not at its end: it is damaged, or several are in "
                      "one file" FETCH_AGAIN);
}

/* Sizes and place that are too large for the header are in an extra field, those alone. */
static bool read_64(const unsigned char *extra, uint64_t length, uint64_t *const values[3])
{
    while (length >= 4) {
        const uint64_t id = number(extra, 2), bytes = number(extra + 2, 2);
        if (bytes > length - 4)
            return false;
        if (id == EXTRA_64) {
            const unsigned char *at = extra + 4, *end = at + bytes;
            for (int i = 0; i < 3; i++) {
                if (*values[i] != UINT32_MAX)
                    continue;
                if (end - at < 8)
                    return false;
                *values[i] = number(at, 8);
                at += 8;
            }
            return true;
        }
        extra += 4 + bytes;
        length -= 4 + bytes;
    }
    return true;
}

/* `header`: the entry's in the directory, with the name that stands before the data, too. */
static bool place_data(const ZipReader *r, ZipEntry *entry, const unsigned char *header,
                       uint64_t local)
{
    if (local > r->size || r->size - local < LOCAL_BYTES || !has_mark(r->bytes + local, 3, 4))
        return zip_refuse(
            r->zip, entry->name,
            "its header lies outside the file, which is cut off or damaged" FETCH_AGAIN);
    const unsigned char *at = r->bytes + local;
    const uint64_t skip = LOCAL_BYTES + number(at + 26, 2) + number(at + 28, 2);
    if (skip > r->size - local || entry->packed > r->size - local - skip)
        return zip_refuse(r->zip, entry->name, "it is cut off" FETCH_AGAIN);
    const uint64_t name = number(header + 28, 2);
    if (number(at + 26, 2) != name || memcmp(at + LOCAL_BYTES, header + FILE_BYTES, name))
        return zip_refuse(
            r->zip, entry->name,
            "the directory gives the place of another file, so the archive is damaged" FETCH_AGAIN);
    entry->data = at + skip;
    return true;
}

/* An entry of the directory, and the place of the next. */
static bool read_file(const ZipReader *r, const unsigned char **at, const unsigned char *end)
{
    const unsigned char *h = *at;
    if (end - h < FILE_BYTES || !has_mark(h, 1, 2))
        return zip_refuse(r->zip, NULL, "the archive's directory is damaged" FETCH_AGAIN);
    const uint64_t name = number(h + 28, 2), extra = number(h + 30, 2), comment = number(h + 32, 2);
    if ((uint64_t)(end - h) - FILE_BYTES < name + extra + comment)
        return zip_refuse(r->zip, NULL, "the archive's directory is damaged" FETCH_AGAIN);
    ZipEntry *entry = ARENA_NEW(r->zip->arena, ZipEntry);
    const char *text = arena_strndup(r->zip->arena, (const char *)h + FILE_BYTES, name);
    if (!entry || !text)
        return false;
    *entry = (ZipEntry){.name = text,
                        .packed = number(h + 20, 4),
                        .size = number(h + 24, 4),
                        .crc = (uint32_t)number(h + 16, 4),
                        .method = (int)number(h + 10, 2)};
    uint64_t local = number(h + 42, 4);
    *at = h + FILE_BYTES + name + extra + comment;
    if (!read_64(h + FILE_BYTES + name, extra,
                 (uint64_t *const[]){&entry->size, &entry->packed, &local}))
        return zip_refuse(r->zip, entry->name, "its 64-bit sizes are damaged" FETCH_AGAIN);
    if (text_ends(entry->name, "/"))
        return true;
    if (number(h + 8, 2) & ENCRYPTED)
        return zip_refuse(r->zip, entry->name,
                          "it is encrypted, which is not read: save it without a password");
    if (entry->method != STORED && entry->method != DEFLATED)
        return zip_refuse(
            r->zip, entry->name,
            "it is compressed by a method that is not read: save it uncompressed, or with deflate");
    if (entry->method == STORED && entry->packed != entry->size)
        return zip_refuse(r->zip, entry->name,
                          "its two sizes differ, though it is stored uncompressed" FETCH_AGAIN);
    if (map_has(&r->zip->index, entry->name))
        return zip_refuse(r->zip, entry->name, "the archive has two files of this name");
    map_set(&r->zip->index, entry->name, entry);
    vec_push(r->zip->arena, r->zip->entries, entry);
    return place_data(r, entry, h, local);
}

ZipArchive *zip_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                      uint64_t size)
{
    ZipArchive *zip = ARENA_NEW(arena, ZipArchive);
    if (!zip)
        return NULL;
    *zip = (ZipArchive){.diags = diags, .arena = arena, .path = path};
    map_init(&zip->index, arena);
    const ZipReader r = {zip, bytes, size};
    uint64_t at, length, n;
    if (!find_directory(&r, &at, &length, &n))
        return NULL;
    const unsigned char *next = r.bytes + at, *end = next + length;
    for (uint64_t i = 0; i < n; i++)
        if (!read_file(&r, &next, end))
            return NULL;
    if (next != end) {
        zip_refuse(zip, NULL, "the archive's directory has more files than it counts" FETCH_AGAIN);
        return NULL;
    }
    return arena_failed(arena) ? NULL : zip;
}

bool zip_is(const unsigned char *bytes, uint64_t size, bool (*is)(const ZipArchive *zip))
{
    if (!find_end(bytes, size))
        return false;
    Arena *arena = arena_within(NULL, budget_bytes(BUDGET_BINARY, size));
    Diagnostics unseen;
    diag_init(&unseen, arena);
    const ZipArchive *zip = arena ? zip_parse(&unseen, arena, "", bytes, size) : NULL;
    const bool so = zip && (!is || is(zip));
    arena_free(arena);
    return so;
}

const ZipEntry *zip_find(const ZipArchive *zip, const char *name)
{
    return map_get(&zip->index, name);
}

static const void *entry_bytes(ZipArchive *zip, const ZipEntry *entry)
{
    if (entry->method == STORED)
        return entry->data;
    if (entry->size >= arena_room(zip->arena)) {
        zip_refuse(
            zip, entry->name,
            "unpacked, the file would be far larger than it is: save it without compression");
        return NULL;
    }
    unsigned char *out = arena_alloc(zip->arena, (size_t)entry->size + 1);
    if (!out || unpack_deflated(entry->data, entry->packed, out, entry->size))
        return out;
    zip_refuse(zip, entry->name, "it is cut off, or longer than the archive says" FETCH_AGAIN);
    return NULL;
}

const void *zip_checked(ZipArchive *zip, const ZipEntry *entry)
{
    const unsigned char *bytes = entry_bytes(zip, entry);
    if (!bytes || unpack_checksum(0, bytes, entry->size) == entry->crc)
        return bytes;
    zip_refuse(zip, entry->name, "it is damaged (its checksum does not match)" FETCH_AGAIN);
    return NULL;
}

const void *zip_sealed(ZipArchive *zip, const ZipEntry *entry, StSeal **seal)
{
    *seal = NULL;
    if (entry->method != STORED)
        return zip_checked(zip, entry);
    *seal = ARENA_NEW(zip->arena, StSeal);
    if (!*seal)
        return NULL;
    **seal = (StSeal){entry->data, entry->size, entry->crc, unpack_checksum, ST_SEAL_NEW};
    return entry->data;
}
