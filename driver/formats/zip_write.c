/* An archive from its first entry to the end of its directory. */
#include "driver/formats/zip_write.h"

#include "base/file.h"
#include "base/text.h"
#include "base/unpack.h"

#include <string.h>

/* LEAST, LEAST_64: the version that a reader needs; DAY: 1 January 1980, the first of the format,
 * so that a file tells nothing of its day. */
enum {
    LEAST = 10,
    LEAST_64 = 45,
    MADE_BY = 3 << 8 | 63, /* Unix; APPNOTE 6.3 */
    UTF8_NAME = 1 << 11,
    DAY = 1 << 5 | 1,
    EXTRA_64 = 1,
    END64_BYTES = 56,
    LONG_16 = 0xFFFF,
};
static const uint32_t LONG_32 = 0xFFFFFFFF, REGULAR_FILE = 0100666u << 16;

/* ZipOutput: the file, what was written of it, and the directory so far. */
typedef struct ZipOutput {
    FileWriter *file;
    uint64_t at;
    Text directory;
} ZipOutput;

/* Little-endian, `bytes` of them. */
static void put_number(Text *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const char byte = (char)(value >> 8 * i);
        text_put(out, &byte, 1);
    }
}

static void put_mark(Text *out, char first, char second)
{
    const char mark[] = {'P', 'K', first, second};
    text_put(out, mark, sizeof mark);
}

/* The value where 32 bits hold it; else all ones, and the value is among the 64-bit ones. */
static void put_32(Text *out, uint64_t value, Text *wide)
{
    const bool is_wide = value >= LONG_32;
    put_number(out, is_wide ? LONG_32 : value, 4);
    if (is_wide)
        put_number(wide, value, 8);
}

/* What an entry's own header and its row of the directory have in common, up to the sizes. */
static void put_entry(Text *out, const ZipStored *entry, bool is_wide, uint32_t crc)
{
    bool is_ascii = true;
    for (const char *c = entry->name; *c; c++)
        is_ascii = is_ascii && (unsigned char)*c < 0x80;
    put_number(out, is_wide ? LEAST_64 : LEAST, 2);
    put_number(out, is_ascii ? 0 : UTF8_NAME, 2);
    put_number(out, 0, 2); /* stored */
    put_number(out, 0, 2); /* midnight */
    put_number(out, DAY, 2);
    put_number(out, crc, 4);
}

/* The 64-bit values as an extra field; nothing where there are none. */
static void put_wide(Text *out, const Text *wide)
{
    if (!wide->length)
        return;
    put_number(out, EXTRA_64, 2);
    put_number(out, wide->length, 2);
    text_put(out, wide->data, wide->length);
}

static size_t wide_bytes(const Text *wide) { return wide->length ? 4 + wide->length : 0; }

static void write_text(ZipOutput *zip, Text *text)
{
    file_write(zip->file, text->data, text->length);
    zip->at += text->length;
    text_free(text);
}

static uint32_t entry_crc(const ZipStored *entry)
{
    const uint32_t head = unpack_checksum(0, entry->head, entry->head_size);
    return unpack_checksum(head, entry->data, entry->data_size);
}

static void add_row(ZipOutput *zip, const ZipStored *entry, uint64_t size, uint64_t place,
                    uint32_t crc)
{
    Text *out = &zip->directory, wide = {0};
    const size_t name = strlen(entry->name);
    put_mark(out, 1, 2);
    put_number(out, MADE_BY, 2);
    put_entry(out, entry, size >= LONG_32 || place >= LONG_32, crc);
    put_32(out, size, &wide);
    put_32(out, size, &wide);
    put_number(out, name, 2);
    const size_t extra = wide_bytes(&wide) + (place >= LONG_32 ? (wide.length ? 8 : 12) : 0);
    put_number(out, extra, 2);
    put_number(out, 0, 2); /* bytes of a comment */
    put_number(out, 0, 2); /* the disk */
    put_number(out, 0, 2); /* no text */
    put_number(out, REGULAR_FILE, 4);
    put_32(out, place, &wide);
    text_put(out, entry->name, name);
    put_wide(out, &wide);
    text_free(&wide);
}

static void write_entry(ZipOutput *zip, const ZipStored *entry)
{
    const uint64_t size = entry->head_size + entry->data_size, place = zip->at;
    const uint32_t crc = entry_crc(entry);
    const size_t name = strlen(entry->name);
    Text header = {0}, wide = {0};
    put_mark(&header, 3, 4);
    put_entry(&header, entry, size >= LONG_32, crc);
    put_32(&header, size, &wide);
    put_32(&header, size, &wide);
    put_number(&header, name, 2);
    put_number(&header, wide_bytes(&wide), 2);
    text_put(&header, entry->name, name);
    put_wide(&header, &wide);
    text_free(&wide);
    write_text(zip, &header);
    file_write(zip->file, entry->head, (size_t)entry->head_size);
    file_write(zip->file, entry->data, (size_t)entry->data_size);
    zip->at += size;
    add_row(zip, entry, size, place, crc);
}

/* The 64-bit record, and where it is, before the record that all readers look for. */
static void put_end64(Text *out, uint64_t n, uint64_t size, uint64_t place)
{
    put_mark(out, 6, 6);
    put_number(out, END64_BYTES - 12, 8);
    put_number(out, MADE_BY, 2);
    put_number(out, LEAST_64, 2);
    put_number(out, 0, 4); /* this disk */
    put_number(out, 0, 4); /* the directory's */
    put_number(out, n, 8);
    put_number(out, n, 8);
    put_number(out, size, 8);
    put_number(out, place, 8);
    put_mark(out, 6, 7);
    put_number(out, 0, 4);
    put_number(out, place + size, 8);
    put_number(out, 1, 4); /* disks */
}

static void write_directory(ZipOutput *zip, uint64_t n)
{
    const uint64_t size = zip->directory.length, place = zip->at;
    Text *out = &zip->directory, unused = {0};
    if (n >= LONG_16 || size >= LONG_32 || place >= LONG_32)
        put_end64(out, n, size, place);
    put_mark(out, 5, 6);
    put_number(out, 0, 4); /* both disks */
    put_number(out, n < LONG_16 ? n : LONG_16, 2);
    put_number(out, n < LONG_16 ? n : LONG_16, 2);
    put_32(out, size, &unused);
    put_32(out, place, &unused);
    put_number(out, 0, 2); /* bytes of a comment */
    text_free(&unused);
    write_text(zip, out);
}

bool zip_write(Diagnostics *diags, const char *path, const ZipStored *entries, size_t n)
{
    ZipOutput zip = {.file = file_create(diags, path)};
    if (!zip.file)
        return false;
    for (size_t i = 0; i < n; i++)
        write_entry(&zip, &entries[i]);
    write_directory(&zip, n);
    return file_commit(zip.file, diags);
}
