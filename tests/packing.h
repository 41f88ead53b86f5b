/* What tests of readers share: compressing a text by each program whose files tfc unpacks. */
#ifndef TESTS_PACKING_H
#define TESTS_PACKING_H

#include "base/text.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

static inline void packing_needs(bool holds)
{
    if (!holds)
        abort();
}

static inline void pack_gzip(Text *out, const char *text, size_t n)
{
    enum { WINDOW = 31 /* of gzip */, MEMORY = 8 };
    z_stream z = {0};
    packing_needs(deflateInit2(&z, 9, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK);
    const size_t room = deflateBound(&z, n);
    char *made = malloc(room);
    z.next_in = (unsigned char *)(uintptr_t)text; /* zlib only reads it */
    z.avail_in = (uInt)n;
    z.next_out = (unsigned char *)made;
    z.avail_out = (uInt)room;
    packing_needs(deflate(&z, Z_FINISH) == Z_STREAM_END);
    text_put(out, made, room - z.avail_out);
    deflateEnd(&z);
    free(made);
}

static inline void pack_xz(Text *out, const char *text, size_t n)
{
    const size_t room = lzma_stream_buffer_bound(n);
    size_t length = 0;
    uint8_t *made = malloc(room);
    packing_needs(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, n, made,
                                          &length, room) == LZMA_OK);
    text_put(out, (char *)made, length);
    free(made);
}

static inline void pack_zstd(Text *out, const char *text, size_t n)
{
    const size_t room = ZSTD_compressBound(n);
    char *made = malloc(room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t length = ZSTD_compress2(context, made, room, text, n);
    packing_needs(!ZSTD_isError(length));
    text_put(out, made, length);
    ZSTD_freeCCtx(context);
    free(made);
}

enum { N_PACKS = 3 };
static const struct {
    const char *program;
    void (*pack)(Text *out, const char *text, size_t n);
} packs[N_PACKS] = {{"gzip", pack_gzip}, {"xz", pack_xz}, {"zstd", pack_zstd}};

#endif
