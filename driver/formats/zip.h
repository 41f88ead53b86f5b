/* Zip archives in a mapping (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3): the entries by
 * name, with those that are stored as they are in the mapping, and deflated ones unpacked when they
 * are asked for. Reading trusts nothing: what lies outside the file, a name that occurs twice, an
 * entry at the place of another, and an archive that unpacks to far more than its size are errors.
 */
#ifndef DRIVER_FORMATS_ZIP_H
#define DRIVER_FORMATS_ZIP_H

#include "runtime/data/safetensors.h"

#include <stdint.h>

/* ZipEntry: a file of an archive.
 *   data     `packed` bytes in the mapping */
typedef struct ZipEntry {
    const char *name;
    const unsigned char *data;
    uint64_t packed, size;
    uint32_t crc;
    int method;
} ZipEntry;
typedef struct ZipArchive {
    Diagnostics *diags;
    Arena *arena; /* one that may fail: its limit is what the archive may be unpacked to */
    const char *path;
    VEC(ZipEntry *) entries; /* without folders; in the directory's order */
    Map index;               /* private: name → entry */
} ZipArchive;

/* Whether zip_parse of the bytes has no error, and `is` is true of the archive (NULL: of any). */
bool zip_is(const unsigned char *bytes, uint64_t size, bool (*is)(const ZipArchive *zip));
/* The directory of an archive, in the arena; `bytes` must outlive it. NULL after an error, or if
 * the arena has failed. */
ZipArchive *zip_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                      uint64_t size);
const ZipEntry *zip_find(const ZipArchive *zip, const char *name); /* NULL if absent */
/* The `size` bytes of an entry, with the right checksum: in the mapping, or unpacked in the arena.
 * NULL after an error, or if the arena has failed. */
const void *zip_checked(ZipArchive *zip, const ZipEntry *entry);
/* zip_checked, whose bytes are not read where they lie in the mapping: then *seal has them and the
 * checksum. *seal NULL: it is compared. */
const void *zip_sealed(ZipArchive *zip, const ZipEntry *entry, StSeal **seal);

#endif
