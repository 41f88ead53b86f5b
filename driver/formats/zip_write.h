/* Writing a zip archive whose entries are stored as they are (PKWARE's APPNOTE.TXT 6.3.10, sections
 * 4.3 and 4.5.3): the same entries give the same bytes, whatever the day. Sizes and places that 32
 * bits do not hold, and more than 65,534 entries, are written in their 64-bit forms. */
#ifndef DRIVER_FORMATS_ZIP_WRITE_H
#define DRIVER_FORMATS_ZIP_WRITE_H

#include "base/diag.h"

#include <stdint.h>

/* ZipStored: an entry to write, whose bytes are those of `head` and then of `data`; the caller's.
 *   name   UTF-8, unique, of fewer than 65,536 bytes */
typedef struct ZipStored {
    const char *name;
    const void *head, *data;
    uint64_t head_size, data_size; /* bytes */
} ZipStored;

/* False after an error: an old file is then not changed. */
bool zip_write(Diagnostics *diags, const char *path, const ZipStored *entries, size_t n);

#endif
