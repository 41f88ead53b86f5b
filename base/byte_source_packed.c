/* What tfc alone asks of a ByteSource: to unpack a compressed file, and to go back to its first
 * byte. Libraries of tfc compile do without, and so without zlib, liblzma and libzstd. */
#define _GNU_SOURCE
#include "base/byte_source.h"
#include "base/unpack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- unpacking ---- */

/* Unpacking: a source that may be compressed.
 *   begin     its first bytes, n_begin of them, of which `given` were handed out; where unpacker is
 *             not NULL it has them
 *   is_known  whether it is compressed is known */
typedef struct Unpacking {
    PackedBytes reads; /* first */
    char begin[PACKED_BEGIN];
    size_t n_begin, given;
    bool is_known;
    Unpacker *unpacker;
} Unpacking;

static Unpacking *unpacking_of(const ByteSource *s) { return (Unpacking *)s->packed; }

static ssize_t read_input(void *source, char *to, size_t size)
{
    return byte_source_raw(source, to, size);
}

/* Reads as many of the first bytes as decide whether the file is compressed; -1: it cannot be
 * read. */
static ssize_t find_program(ByteSource *s, Unpacking *u)
{
    ssize_t n = 1;
    while (n > 0 && u->n_begin < PACKED_BEGIN && unpack_is_open(u->begin, u->n_begin)) {
        n = byte_source_raw(s, u->begin + u->n_begin, PACKED_BEGIN - u->n_begin);
        u->n_begin += n > 0 ? (size_t)n : 0;
    }
    u->is_known = n >= 0;
    if (n >= 0 && unpack_program(u->begin, u->n_begin))
        u->unpacker = unpacker_open(u->begin, u->n_begin, read_input, s);
    s->is_packed = u->unpacker != NULL;
    return n < 0 ? -1 : 0;
}

static ssize_t read_unpacked(ByteSource *s, char *to, size_t size)
{
    Unpacking *u = unpacking_of(s);
    if (!u->is_known && find_program(s, u) < 0)
        return -1;
    if (u->unpacker) {
        const ssize_t n = unpacker_read(u->unpacker, to, size);
        if (n < 0)
            s->fault = unpacker_problem(u->unpacker);
        return n;
    }
    const size_t left = u->n_begin - u->given, n = left < size ? left : size;
    if (!left)
        return byte_source_raw(s, to, size);
    memcpy(to, u->begin + u->given, n);
    u->given += n;
    return (ssize_t)n;
}

static bool unpacked_ready(const ByteSource *s)
{
    const Unpacking *u = unpacking_of(s);
    return u->unpacker ? unpacker_ready(u->unpacker) : u->given < u->n_begin;
}

static void free_unpacking(PackedBytes *packed)
{
    unpacker_close(((Unpacking *)packed)->unpacker);
    free(packed);
}

void byte_source_unpack(ByteSource *s)
{
    Unpacking *u = memory_zeroed(1, sizeof *u);
    u->reads =
        (PackedBytes){.read = read_unpacked, .ready = unpacked_ready, .free = free_unpacking};
    s->packed = &u->reads;
    if (s->memory) { /* its bytes are those of the file, not yet of the text */
        s->length = 0;
        s->at_end = false;
    }
}

/* ---- reading again ---- */

bool byte_source_keep(ByteSource *s)
{
    char block[BYTE_BLOCK];
    if (s->fd < 0 || s->begin >= 0)
        return true;
    FILE *kept = tmpfile();
    ssize_t n = kept ? 1 : -1;
    while (n > 0 && (n = byte_source_raw(s, block, sizeof block)) > 0)
        if (fwrite(block, 1, (size_t)n, kept) != (size_t)n)
            n = -1;
    const int copy = n == 0 && !fflush(kept) ? dup(fileno(kept)) : -1, error = errno;
    if (kept)
        fclose(kept);
    errno = error;
    if (copy < 0)
        return false;
    if (s->fd > STDIN_FILENO)
        close(s->fd);
    s->fd = copy;
    s->begin = 0;
    return lseek(copy, 0, SEEK_SET) == 0;
}

bool byte_source_rewind(ByteSource *s)
{
    const bool unpacks = s->packed != NULL;
    if (s->fd >= 0 && lseek(s->fd, (off_t)s->begin, SEEK_SET) < 0)
        return false;
    if (unpacks)
        s->packed->free(s->packed);
    s->packed = NULL;
    s->error = 0;
    s->fault = NULL;
    s->taken = 0;
    s->at_end = s->fd < 0;
    s->length = s->fd < 0 ? (size_t)s->size : 0;
    if (s->fd < 0)
        s->data = s->memory;
    if (unpacks)
        byte_source_unpack(s);
    return true;
}
