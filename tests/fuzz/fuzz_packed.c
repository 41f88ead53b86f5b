/* Compressed texts of arbitrary bytes. The first byte of an input says what is done with the rest.
 *
 *   READS   it is unpacked, whole and through a file's descriptor, with room for many bytes and for
 *           few: all find the same text and the same end, or an error that is named
 *   else    it is a text that zlib, liblzma or libzstd compresses; then, by the next three bytes,
 *           the whole is unpacked, or what is left of it once it is cut, spoilt in a bit, followed
 *           by other bytes or by itself; or the text is repeated until it is large (a bomb), which
 *           is refused where there is no memory for it
 *
 * What is whole gives the text; what is cut, or followed by other bytes, is an error; what is
 * spoilt is an error, or the spoilt bit says nothing of the text. */
#define _GNU_SOURCE
#include "base/file.h"
#include "runtime/data/lines.h"
#include "runtime/data/packed_text.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { READS = 0x80, MOST_UNPACKED = 1 << 16, BOMB = 1 << 18, SMALL_MEMORY = 1 << 16 };
typedef enum Deed { WHOLE, CUT, SPOILT, FOLLOWED, TWICE, LARGE, DEEDS } Deed;
typedef enum Program { GZIP, XZ, ZSTD, PROGRAMS } Program;

static void need(bool holds)
{
    if (!holds)
        abort();
}

/* ---- unpacking ---- */

/* How an unpacking ended. */
typedef enum Ending { WELL, WRONG, TOO_LONG } Ending;

/* With room for that many bytes at a time. `fd`: of the bytes behind the first n. */
static Ending unpack(const uint8_t *bytes, size_t n, int fd, size_t room, Text *out)
{
    char buffer[4096];
    PackedText *text = packed_text_open((const char *)bytes, n, fd);
    ssize_t got;
    int error;
    while ((got = packed_text_read(text, buffer, room)) > 0 && out->length < MOST_UNPACKED) {
        need((size_t)got <= room);
        text_put(out, buffer, (size_t)got);
    }
    if (got < 0) {
        const char *problem = packed_text_problem(text, &error);
        need(problem && *problem && !error);
        need(packed_text_read(text, buffer, room) == -1); /* and stays so */
    }
    packed_text_close(text);
    return got < 0 ? WRONG : got ? TOO_LONG : WELL;
}

static bool same(const Text *a, const Text *b)
{
    return a->length == b->length && (!a->length || !memcmp(a->data, b->data, a->length));
}

/* A file with these bytes in memory, read from byte `at` on. */
static int file_of(const uint8_t *bytes, size_t size, size_t at)
{
    const int fd = memfd_create("packed", MFD_CLOEXEC);
    need(fd >= 0 && write(fd, bytes, size) == (ssize_t)size &&
         lseek(fd, (off_t)at, SEEK_SET) == (off_t)at);
    return fd;
}

/* Where much is read at once an error is found earlier. */
static bool agree(Ending a, Ending b) { return a == b || (a != WELL && b != WELL); }

/* All ways of unpacking, which agree; *out is the caller's. */
static Ending unpack_all(const uint8_t *bytes, size_t size, Text *out)
{
    Text few = {0}, read = {0};
    const int fd = file_of(bytes, size, PACKED_BEGIN);
    const Ending ending = unpack(bytes, size, -1, 4096, out);
    need(agree(unpack(bytes, size, -1, 7, &few), ending));
    need(agree(unpack(bytes, PACKED_BEGIN, fd, 4096, &read), ending));
    need(ending != WELL || (same(out, &few) && same(out, &read)));
    close(fd);
    text_free(&few);
    text_free(&read);
    return ending;
}

/* ---- packing ---- */

static void put_gzip(const uint8_t *text, size_t n, Text *out)
{
    enum { WINDOW = 31 /* of gzip */, MEMORY = 8 };
    z_stream z = {0};
    need(deflateInit2(&z, 9, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK);
    const size_t most = deflateBound(&z, n);
    uint8_t *packed = malloc(most);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = packed;
    z.avail_out = (uInt)most;
    need(deflate(&z, Z_FINISH) == Z_STREAM_END);
    text_put(out, (char *)packed, z.total_out);
    deflateEnd(&z);
    free(packed);
}

static void put_xz(const uint8_t *text, size_t n, Text *out)
{
    const size_t most = lzma_stream_buffer_bound(n);
    uint8_t *packed = malloc(most);
    size_t made = 0;
    need(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, text, n, packed, &made, most) ==
         LZMA_OK);
    text_put(out, (char *)packed, made);
    free(packed);
}

static void put_zstd(const uint8_t *text, size_t n, Text *out)
{
    const size_t most = ZSTD_compressBound(n);
    char *packed = malloc(most);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t made = ZSTD_compress2(context, packed, most, text, n);
    need(!ZSTD_isError(made));
    text_put(out, packed, made);
    ZSTD_freeCCtx(context);
    free(packed);
}

static void pack(Program program, const uint8_t *text, size_t n, Text *out)
{
    (program == GZIP ? put_gzip : program == XZ ? put_xz : put_zstd)(text, n, out);
}

/* ---- what is done with it ---- */

static bool begins(const Text *whole, const uint8_t *text, size_t n)
{
    return whole->length <= n && (!whole->length || !memcmp(whole->data, text, whole->length));
}

/* `at`: a place of the packed bytes. */
static void try_deed(Deed deed, Program program, size_t at, const uint8_t *text, size_t n)
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
    const int fd = file_of((const uint8_t *)packed->data, packed->length, 0);
    diag_init(diags, arena);
    const Source *source = text_read(diags, arena, arena_printf(arena, "/proc/self/fd/%d", fd),
                                     &(LineLimits){.line = 2 * BOMB, .memory = memory});
    close(fd);
    return source;
}

static void try_bomb(Program program, const uint8_t *text, size_t n)
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
        if (size > PACKED_BEGIN && packed_text_program((const char *)bytes + 1, size - 1))
            unpack_all(bytes + 1, size - 1, &found);
        text_free(&found);
        return 0;
    }
    if (size <= SAYS)
        return 0;
    const Deed deed = (Deed)(bytes[0] % DEEDS);
    const Program program = (Program)(bytes[0] / DEEDS % PROGRAMS);
    const size_t at = bytes[1] + 256u * bytes[2];
    if (deed == LARGE)
        try_bomb(program, bytes + SAYS, size - SAYS);
    else
        try_deed(deed, program, at, bytes + SAYS, size - SAYS);
    return 0;
}
