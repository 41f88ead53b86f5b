/* PackedText: the text of a file that is compressed by gzip, xz or zstd, unpacked while it is read.
 * What compressed it follows from its first bytes, whatever its name. Several members (gzip),
 * streams (xz) or frames (zstd) one after another are one text. Bytes after them that begin no
 * further one, a cut end, and damage that the format's checksums show are errors.
 *
 * Memory is taken for the window that a format goes back into, at most PACKED_WINDOW bytes, and for
 * a chunk of the file: never for a size that a header claims. How much text there may be is decided
 * by the caller, which sees it chunk by chunk. */
#ifndef RUNTIME_DATA_PACKED_TEXT_H
#define RUNTIME_DATA_PACKED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PACKED_BEGIN = 6,       /* bytes by which each format is known */
    PACKED_WINDOW = 1 << 28 /* xz -9 needs 65 MiB, zstd --ultra -22 128 MiB, libzstd's own limit */
};

typedef struct PackedText PackedText;

/* The program that compressed a file with these first bytes: "gzip"; NULL: none. */
const char *packed_text_program(const char *begin, size_t n);
/* Whether the first n bytes, fewer than PACKED_BEGIN, leave open whether a file is compressed. */
bool packed_text_is_open(const char *begin, size_t n);
/* What to say of it where it is not unpacked, behind its name: "is compressed by gzip; …". NULL:
 * no program compressed it. */
const char *packed_text_advice(const char *begin, size_t n);
/* Unpacks the n bytes of `begin`, which are copied, and what can be read from `fd` after them; -1:
 * nothing. packed_text_program of `begin` is not NULL. */
PackedText *packed_text_open(const char *begin, size_t n, int fd);
/* The next bytes of the text, from 1 to `size`; 0: the text has ended; -1: an error. */
ssize_t packed_text_read(PackedText *text, char *out, size_t size);
/* Whether packed_text_read would return without reading from `fd`, as far as is known. */
bool packed_text_ready(const PackedText *text);
/* After an error: why, as "it is compressed by gzip, and cannot be unpacked: incorrect data check".
 * NULL: reading from `fd` failed, and *error is the errno. Valid until packed_text_close. */
const char *packed_text_problem(const PackedText *text, int *error);
void packed_text_close(PackedText *text); /* NULL is allowed */

#endif
