/* Unpacker: the bytes of a file that is compressed by gzip, xz or zstd, unpacked while it is read;
 * and members of zip archives. Only unpack.c knows these formats. What compressed a file follows
 * from its first bytes, whatever its name. Several members (gzip), streams (xz) or frames (zstd)
 * one after another are one file. Bytes after them that begin no further one, a cut end, and damage
 * that the format's checksums show are errors. So is a file that gives more than PACKED_RATIO times
 * its own bytes and PACKED_FREE: one that is made to fill a disk or the memory of whoever unpacks
 * it. Texts give 3 to 20 times their files.
 *
 * Memory is taken for the window that a format goes back into, at most PACKED_WINDOW bytes, and for
 * a chunk of the file: never for a size that a header claims. */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum {
    PACKED_BEGIN = 6, /* bytes by which each format is known */
    PACKED_RATIO = 200,
    PACKED_FREE = 1 << 26,
    PACKED_WINDOW = 1 << 28 /* xz -9 needs 65 MiB, zstd --ultra -22 128 MiB, libzstd's own limit */
};

/* The program that compressed a file with these first bytes: "gzip"; NULL: none. */
const char *unpack_program(const char *begin, size_t n);
/* Whether the first n bytes, fewer than PACKED_BEGIN, leave open whether a file is compressed. */
bool unpack_is_open(const char *begin, size_t n);
/* What to say of it where it is not unpacked, behind its name: "is compressed by gzip; …". NULL:
 * no program compressed it. */
const char *unpack_advice(const char *begin, size_t n);

typedef struct Unpacker Unpacker;

/* UnpackInput: the next bytes of the compressed file, at most `size`; 0: the end; -1: it cannot be
 * read. */
typedef ssize_t UnpackInput(void *context, char *to, size_t size);

/* Unpacks the n bytes of `begin`, which are copied, and what `input` gives after them.
 * unpack_program of `begin` is not NULL. */
Unpacker *unpacker_open(const char *begin, size_t n, UnpackInput *input, void *context);
/* The next bytes, from 1 to `size`; 0: the end; -1: an error. */
ssize_t unpacker_read(Unpacker *unpacker, char *out, size_t size);
/* Whether unpacker_read would return without asking for input, as far as is known. */
bool unpacker_ready(const Unpacker *unpacker);
/* After an error: why, as "it is compressed by gzip, and cannot be unpacked: incorrect data check";
 * NULL: the input gave -1. Valid until unpacker_close. */
const char *unpacker_problem(const Unpacker *unpacker);
const char *unpacker_program(const Unpacker *unpacker); /* "gzip" */
void unpacker_close(Unpacker *unpacker);                /* NULL is allowed */

/* Unpacks a member of a zip archive by deflate without a header: n bytes to exactly `size`. False:
 * they are damaged, or give fewer or more. */
bool unpack_deflated(const void *bytes, uint64_t n, void *out, uint64_t size);
/* The checksum that a zip archive has of these bytes, behind others whose checksum is `before`; 0:
 * there are none. */
uint32_t unpack_checksum(uint32_t before, const void *bytes, uint64_t n);

#endif
