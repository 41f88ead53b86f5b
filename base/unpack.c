/* Unpacker by zlib, liblzma and libzstd: a Packing, three functions, for each. */
#include "base/unpack.h"

#include "base/arena.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKED_CHUNK = 1 << 16, PACKED_STEP = 1 << 30 /* zlib counts in 32 bits */ };

static const char bad_data[] = "incorrect data";

typedef struct Packing {
    const char *program, *advice, *magic;
    size_t n_magic;
    bool (*begin)(Unpacker *unpacker); /* false: memory ran out */
    /* Unpacks from unpacker->at, of unpacker->n bytes, to `out`, and advances both; the number of
     * bytes made is returned. Sets unpacker->is_whole, and its fault after an error. */
    size_t (*step)(Unpacker *unpacker, char *out, size_t size);
    void (*end)(Unpacker *unpacker);
} Packing;

struct Unpacker {
    const Packing *packing;
    UnpackInput *input;
    void *context;
    bool at_end;    /* the input has ended */
    bool is_whole;  /* what has been unpacked may end here */
    bool has_rest;  /* the last step filled its output: there may be more without further input */
    bool is_unread; /* the input gave -1 */
    bool has_failed;
    uint64_t taken, made;    /* bytes of the file so far, and of what it holds */
    const unsigned char *at; /* n bytes in `chunk` that are not yet unpacked */
    size_t n;
    const char *fault; /* what the library finds wrong; NULL: nothing */
    char problem[240];
    union {
        z_stream gzip;
        lzma_stream xz;
        ZSTD_DStream *zstd;
    } state;
    unsigned char chunk[PACKED_CHUNK];
};

/* ---- gzip ---- */

static bool gzip_begin(Unpacker *t)
{
    enum { GZIP = 16 };
    return inflateInit2(&t->state.gzip, MAX_WBITS + GZIP) == Z_OK;
}

static void gzip_end(Unpacker *t) { inflateEnd(&t->state.gzip); }

static size_t gzip_step(Unpacker *t, char *out, size_t size)
{
    z_stream *z = &t->state.gzip;
    const uInt n = t->n < PACKED_STEP ? (uInt)t->n : PACKED_STEP;
    if (t->is_whole) /* a further member */
        inflateReset(z);
    t->is_whole = false;
    z->next_in = (unsigned char *)(uintptr_t)t->at; /* zlib only reads it */
    z->avail_in = n;
    z->next_out = (unsigned char *)out;
    z->avail_out = (uInt)size;
    const int result = inflate(z, Z_NO_FLUSH);
    t->at = z->next_in;
    t->n -= n - z->avail_in;
    t->is_whole = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        t->fault = z->msg ? z->msg : bad_data;
    return size - z->avail_out;
}

/* ---- xz ---- */

static bool xz_begin(Unpacker *t)
{
    t->state.xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&t->state.xz, PACKED_WINDOW, LZMA_CONCATENATED) == LZMA_OK;
}

static void xz_end(Unpacker *t) { lzma_end(&t->state.xz); }

static const char *xz_fault(lzma_ret result)
{
    static const char *const what[] = {
        [LZMA_MEMLIMIT_ERROR] = "its window is larger than 256 MiB: compress it by xz -9 or less",
        [LZMA_FORMAT_ERROR] = "what follows is not xz",
        [LZMA_OPTIONS_ERROR] = "a filter or option that liblzma does not know",
        [LZMA_MEM_ERROR] = "out of memory",
    };
    const size_t i = (size_t)result;
    return i < sizeof what / sizeof *what && what[i] ? what[i] : bad_data;
}

static size_t xz_step(Unpacker *t, char *out, size_t size)
{
    lzma_stream *z = &t->state.xz;
    z->next_in = t->at;
    z->avail_in = t->n;
    z->next_out = (uint8_t *)out;
    z->avail_out = size;
    const lzma_ret result = lzma_code(z, t->at_end ? LZMA_FINISH : LZMA_RUN);
    t->at = z->next_in;
    t->n = z->avail_in;
    t->is_whole = result == LZMA_STREAM_END;
    if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
        t->fault = xz_fault(result);
    return size - z->avail_out;
}

/* ---- zstd ---- */

static bool zstd_begin(Unpacker *t) { return (t->state.zstd = ZSTD_createDStream()) != NULL; }

static void zstd_end(Unpacker *t) { ZSTD_freeDStream(t->state.zstd); }

static size_t zstd_step(Unpacker *t, char *out, size_t size)
{
    ZSTD_inBuffer in = {t->at, t->n, 0};
    ZSTD_outBuffer made = {out, size, 0};
    const size_t result = ZSTD_decompressStream(t->state.zstd, &made, &in);
    t->at += in.pos;
    t->n -= in.pos;
    t->is_whole = result == 0;
    if (ZSTD_isError(result))
        t->fault = ZSTD_getErrorName(result);
    return made.pos;
}

/* ---- all ---- */

#define NAMED(program) \
    program, "is compressed by " program "; decompress it first: " program " -dc FILE >NEW"
static const Packing packings[] = {
    {NAMED("gzip"), "\x1f\x8b", 2, gzip_begin, gzip_step, gzip_end},
    {NAMED("xz"), "\xfd\x37zXZ\0", 6, xz_begin, xz_step, xz_end},
    {NAMED("zstd"), "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_step, zstd_end},
};

static const Packing *packing_of(const char *begin, size_t n)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (n >= packings[i].n_magic && !memcmp(begin, packings[i].magic, packings[i].n_magic))
            return &packings[i];
    return NULL;
}

const char *unpack_program(const char *begin, size_t n)
{
    const Packing *packing = packing_of(begin, n);
    return packing ? packing->program : NULL;
}

bool unpack_is_open(const char *begin, size_t n)
{
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (n < packings[i].n_magic && !memcmp(begin, packings[i].magic, n))
            return true;
    return false;
}

const char *unpack_advice(const char *begin, size_t n)
{
    const Packing *packing = packing_of(begin, n);
    return packing ? packing->advice : NULL;
}

Unpacker *unpacker_open(const char *begin, size_t n, UnpackInput *input, void *context)
{
    Unpacker *t = memory_zeroed(1, sizeof *t + n);
    unsigned char *copy = (unsigned char *)(t + 1);
    memcpy(copy, begin, n);
    t->packing = packing_of(begin, n);
    t->input = input;
    t->context = context;
    t->at = copy;
    t->n = t->taken = n;
    memory_need(t->packing->begin(t));
    return t;
}

/* False: reading failed. */
static bool fill_chunk(Unpacker *t)
{
    const ssize_t n = t->input(t->context, (char *)t->chunk, sizeof t->chunk);
    t->is_unread = n < 0;
    t->at_end = n <= 0;
    t->at = t->chunk;
    t->n = n > 0 ? (size_t)n : 0;
    t->taken += t->n;
    return n >= 0;
}

/* Counts bytes that were made. False: they are too many for the file. */
static bool count_made(Unpacker *t, size_t n)
{
    t->made += n;
    return t->made <= PACKED_FREE || (t->made - PACKED_FREE) / PACKED_RATIO <= t->taken;
}

static ssize_t fail_ratio(Unpacker *t)
{
    t->has_failed = true;
    snprintf(t->problem, sizeof t->problem,
             "it is compressed by %s, and holds more than %d times its own bytes, as a file does "
             "that is made to fill a disk: if that is right, decompress it first: %s -dc FILE >NEW",
             t->packing->program, PACKED_RATIO, t->packing->program);
    return -1;
}

static ssize_t fail_unpacking(Unpacker *t)
{
    t->has_failed = true;
    snprintf(t->problem, sizeof t->problem, "it is compressed by %s, and %s%s", t->packing->program,
             t->fault ? "cannot be unpacked: " : "ends too early: it is not the whole file",
             t->fault ? t->fault : "");
    return -1;
}

ssize_t unpacker_read(Unpacker *t, char *out, size_t size)
{
    while (!t->has_failed) {
        if (!t->n && !t->at_end && !t->has_rest && !fill_chunk(t))
            break;
        const bool has_more = t->n > 0;
        if (!has_more && t->at_end && t->is_whole)
            return 0;
        const size_t room = size < PACKED_STEP ? size : PACKED_STEP;
        const size_t made = t->packing->step(t, out, room);
        t->has_rest = made == room && !t->is_whole;
        if (!count_made(t, made))
            return fail_ratio(t);
        if (made && !t->fault)
            return (ssize_t)made;
        if (t->fault || (!has_more && t->at_end && !t->is_whole))
            break;
    }
    return fail_unpacking(t);
}

bool unpacker_ready(const Unpacker *t) { return t->n || t->has_rest || t->at_end; }

const char *unpacker_problem(const Unpacker *t) { return t->is_unread ? NULL : t->problem; }

const char *unpacker_program(const Unpacker *t) { return t->packing->program; }

void unpacker_close(Unpacker *t)
{
    if (!t)
        return;
    t->packing->end(t);
    free(t);
}

/* ---- members of zip archives ---- */

bool unpack_deflated(const void *bytes, uint64_t n, void *out, uint64_t size)
{
    enum { RAW = -MAX_WBITS };
    z_stream stream = {0};
    if (inflateInit2(&stream, RAW) != Z_OK)
        return false;
    uint64_t in = 0, made = 0;
    int status = Z_OK;
    unsigned char more;
    while (status == Z_OK) {
        const uint64_t in_left = n - in, out_left = size - made;
        const uInt in_now = (uInt)(in_left < PACKED_STEP ? in_left : PACKED_STEP);
        const uInt out_now = (uInt)(out_left < PACKED_STEP ? out_left : PACKED_STEP);
        stream.next_in = (unsigned char *)(uintptr_t)bytes + in;
        stream.avail_in = in_now;
        stream.next_out = out_left ? (unsigned char *)out + made : &more;
        stream.avail_out = out_left ? out_now : 1;
        status = inflate(&stream, Z_NO_FLUSH);
        if (!out_left && stream.avail_out == 0)
            status = Z_DATA_ERROR; /* longer than it says */
        in += in_now - stream.avail_in;
        made += out_left ? out_now - stream.avail_out : 0;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && made == size;
}

uint32_t unpack_checksum(uint32_t before, const void *bytes, uint64_t n)
{
    return n ? (uint32_t)crc32_z(before, bytes, (z_size_t)n)
             : before; /* NULL is zlib's beginning */
}
