/* Compressed texts of arbitrary bytes. The first byte of an input says what is done with the rest.
 *
 *   READS   it is unpacked, whole and through a file's descriptor, with room for many bytes and for
 *           few: all find the same text and the same end, or an error that is named
 *   else    it is a text that zlib, liblzma or libzstd compresses; then, by the next three bytes,
 *           the whole is unpacked, or what is left of it once it is cut, spoilt in a bit, followed
 *           by other bytes or by itself; or the text is repeated until it is large (a bomb), which
 *           is refused where there is no memory for it
 *
 * What is whole gives the text, whose lines and records are those of the text in memory; what is
 * cut, or followed by other bytes, is an error; what is spoilt is an error, or the spoilt bit says
 * nothing of the text. */
#define _GNU_SOURCE
#include "base/record_cutter.h"
#include "base/unpack.h"
#include "runtime/data/lines.h"
#include "tests/packing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { READS = 0x80, MOST_UNPACKED = 1 << 16, BOMB = 1 << 18, SMALL_MEMORY = 1 << 16 };
typedef enum Deed { WHOLE, CUT, SPOILT, FOLLOWED, TWICE, LARGE, DEEDS } Deed;

static void need(bool holds)
{
    if (!holds)
        abort();
}

/* ---- unpacking ---- */

/* How an unpacking ended. */
typedef enum Ending { WELL, WRONG, TOO_LONG } Ending;

/* With room for that many bytes at a time. */
static Ending unpack(ByteSource *source, size_t room, Text *out)
{
    char buffer[4096];
    ssize_t got;
    byte_source_unpack(source);
    while ((got = byte_source_take(source, buffer, room)) > 0 && out->length < MOST_UNPACKED) {
        need((size_t)got <= room);
        text_put(out, buffer, (size_t)got);
    }
    need(source->is_packed);
    if (got < 0) {
        need(source->fault && *source->fault && !source->error);
        need(byte_source_take(source, buffer, room) == -1); /* and stays so */
    }
    byte_source_close(source);
    return got < 0 ? WRONG : got ? TOO_LONG : WELL;
}

static Ending unpack_memory(const uint8_t *bytes, size_t size, size_t room, Text *out)
{
    ByteSource source;
    byte_source_memory(&source, bytes, size);
    return unpack(&source, room, out);
}

static bool same(const Text *a, const Text *b)
{
    return a->length == b->length && (!a->length || !memcmp(a->data, b->data, a->length));
}

/* A file with these bytes in memory. */
static int file_of(const uint8_t *bytes, size_t size)
{
    const int fd = memfd_create("packed", MFD_CLOEXEC);
    need(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* Records of a text in memory and of its compressed file are the same, as long as they are not
 * cut. */
static void cut_both(const Text *text, const uint8_t *packed, size_t size, RecordRule rule)
{
    RecordCutter plain, unpacked;
    Record a, b;
    RecordStatus status;
    byte_source_memory(&plain.source, text->length ? text->data : "", text->length);
    byte_source_of(&unpacked.source, file_of(packed, size));
    byte_source_unpack(&unpacked.source);
    record_cutter_begin(&plain, rule);
    record_cutter_begin(&unpacked, rule);
    do {
        status = record_next(&plain, &a);
        need(record_next(&unpacked, &b) == status);
        if (status != RECORD_READ)
            break;
        need(a.is_cut == b.is_cut && a.has_mark == b.has_mark);
        need(a.is_cut ||
             (a.has_cr == b.has_cr && a.length == b.length && !memcmp(a.text, b.text, a.length)));
        record_skip(&plain);
        record_skip(&unpacked);
        need(plain.line == unpacked.line && plain.at == unpacked.at);
    } while (true);
    need(plain.at == (int64_t)text->length);
    record_cutter_close(&plain);
    record_cutter_close(&unpacked);
}

static void cut_all(const Text *text, const uint8_t *packed, size_t size)
{
    static const char *const passed[] = {"#", NULL};
    const RecordRule rules[] = {
        {.ends = RECORD_LINES, .longest = 30},
        {.ends = RECORD_QUOTED, .longest = SIZE_MAX / 2, .quoted = 30},
        {.ends = RECORD_BLOCKS, .longest = SIZE_MAX / 2, .passed = passed},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        cut_both(text, packed, size, rules[i]);
}

/* Where much is read at once an error is found earlier. */
static bool agree(Ending a, Ending b) { return a == b || (a != WELL && b != WELL); }

/* All ways of unpacking, which agree; *out is the caller's. */
static Ending unpack_all(const uint8_t *bytes, size_t size, Text *out)
{
    Text few = {0}, read = {0};
    ByteSource file;
    byte_source_of(&file, file_of(bytes, size));
    const Ending ending = unpack_memory(bytes, size, 4096, out);
    need(agree(unpack_memory(bytes, size, 7, &few), ending));
    need(agree(unpack(&file, 4096, &read), ending));
    need(ending != WELL || (same(out, &few) && same(out, &read)));
    if (ending == WELL)
        cut_all(out, bytes, size);
    text_free(&few);
    text_free(&read);
    return ending;
}

/* ---- packing ---- */

static void pack(int program, const uint8_t *text, size_t n, Text *out)
{
    packs[program].pack(out, (const char *)text, n);
}

/* ---- what is done with it ---- */

static bool begins(const Text *whole, const uint8_t *text, size_t n)
{
    return whole->length <= n && (!whole->length || !memcmp(whole->data, text, whole->length));
}

/* `at`: a place of the packed bytes. */
static void try_deed(Deed deed, int program, size_t at, const uint8_t *text, size_t n)
{
    Text packed = {0}, found = {0};
    pack(program, text, n, &packed);
    const size_t behind = packed.length - PACKED_BEGIN; /* which are not needed to know it */
    at = PACKED_BEGIN + at % behind;
    if (deed == CUT)
        packed.length = at;
    else if (deed == SPOILT)
        packed.data[at] ^= (char)(1 << at % 8);
    else if (deed == FOLLOWED)
        text_string(&packed, "more text");
    else if (deed == TWICE)
        pack(program, text, n, &packed);
    const Ending ending = unpack_all((const uint8_t *)packed.data, packed.length, &found);
    if (deed == WHOLE)
        need(ending == WELL && found.length == n && begins(&found, text, n));
    else if (deed == CUT || deed == FOLLOWED)
        need(ending == WRONG && begins(&found, text, n));
    else if (deed == SPOILT)
        need(ending == WRONG || (found.length == n && begins(&found, text, n)));
    else
        need(ending == WELL && found.length == 2 * n && !memcmp(found.data + n, text, n));
    text_free(&packed);
    text_free(&found);
}

/* ---- bombs ---- */

static const Source *read_text(const Text *packed, int64_t memory, Arena *arena, Diagnostics *diags)
{
    const int fd = file_of((const uint8_t *)packed->data, packed->length);
    diag_init(diags, arena);
    const Source *source = text_read(diags, arena, arena_printf(arena, "/proc/self/fd/%d", fd),
                                     &(LineLimits){.line = 2 * BOMB, .memory = memory});
    close(fd);
    return source;
}

static void try_bomb(int program, const uint8_t *text, size_t n)
{
    Text large = {0}, packed = {0};
    Arena *arena = arena_new();
    Diagnostics diags;
    while (large.length < BOMB)
        text_put(&large, (const char *)text, n);
    pack(program, (const uint8_t *)large.data, large.length, &packed);
    const Source *source = read_text(&packed, 16 * BOMB, arena, &diags);
    const char *nul = memchr(large.data, '\0', large.length);
    need(nul || (source && source->length == large.length &&
                 !memcmp(source->text, large.data, large.length)));
    need(nul || (!read_text(&packed, SMALL_MEMORY, arena, &diags) && diags.errors == 1));
    arena_free(arena);
    text_free(&large);
    text_free(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { SAYS = 3 };
    if (!size)
        return 0;
    if (bytes[0] & READS) {
        Text found = {0};
        if (size > PACKED_BEGIN && unpack_program((const char *)bytes + 1, size - 1))
            unpack_all(bytes + 1, size - 1, &found);
        text_free(&found);
        return 0;
    }
    if (size <= SAYS)
        return 0;
    const Deed deed = (Deed)(bytes[0] % DEEDS);
    const int program = bytes[0] / DEEDS % N_PACKS;
    const size_t at = bytes[1] + 256u * bytes[2];
    if (deed == LARGE)
        try_bomb(program, bytes + SAYS, size - SAYS);
    else
        try_deed(deed, program, at, bytes + SAYS, size - SAYS);
    return 0;
}
