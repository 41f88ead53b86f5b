/* ByteSource: the bytes of a file, a pipe, a terminal, standard input or a piece of memory (such as
 * a mapping), in order. Bytes that were read and not yet passed lie together, so that a reader
 * looks ahead as far as it needs to. record_cutter.h cuts them into lines and records.
 *
 *   ByteSource s;
 *   if (byte_source_open(&s, path)) {                 // false: errno says why
 *       while (byte_source_more(&s, BYTE_BLOCK))      // waits until there is a byte
 *           byte_source_pass(&s, use(s.data, s.length));
 *       problem = byte_source_problem(&s);            // NULL: the end
 *   }
 *   byte_source_close(&s);
 *
 * Libraries of tfc compile have byte_source.c. What tfc alone reads, compressed files and what is
 * read twice, is in byte_source_packed.c. */
#ifndef BASE_BYTE_SOURCE_H
#define BASE_BYTE_SOURCE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

enum { BYTE_BLOCK = 1 << 16 }; /* what is read of a pipe at once */

/* ByteSource
 *   data, length   the bytes that were read and not passed; valid until the next call
 *   size           of a regular file or memory, in bytes, compressed or not; -1: of what is not
 *                  known before the end, as a pipe's
 *   at_end         nothing more can be read: the end, or a failure
 *   is_packed      the file is compressed, and is being unpacked; known once a byte was read
 *   error, fault   of a failure: an errno, or what is wrong with a compressed file; 0 and NULL:
 *                  there is none
 *   observe        not NULL: called with each block of the file, in order, before it is unpacked
 *   context        its first argument
 * The rest is private:
 *   fd             -1: memory; `taken`: how many of its bytes byte_source_raw gave
 *   begin          offset of the file's first byte, for byte_source_rewind; -1: it cannot go back
 *   buffer, room   of what was read; NULL: data are of the caller
 *   packed         of byte_source_unpack; NULL: it was not called */
typedef struct ByteSource {
    const char *data;
    size_t length;
    int64_t size;
    bool at_end, is_packed;
    int error;
    const char *fault;
    void (*observe)(void *context, const void *bytes, size_t n);
    void *context;
    int fd;
    int64_t begin;
    const char *memory;
    size_t taken;
    char *buffer;
    size_t room;
    struct PackedBytes *packed;
} ByteSource;

/* Opens a file, a pipe, or standard input ("-" or NULL). False: errno says why; a folder is
 * EISDIR. */
bool byte_source_open(ByteSource *source, const char *path);
/* The bytes of an open file from where it stands; byte_source_close closes it. */
void byte_source_of(ByteSource *source, int fd);
/* n bytes that the caller keeps until byte_source_close. */
void byte_source_memory(ByteSource *source, const void *bytes, size_t n);
void byte_source_close(ByteSource *source); /* zeros are allowed */

/* Reads on, at most `most` bytes behind those that are there; waits until there is one, also at a
 * pipe that is set not to block. False: nothing more came, and at_end is set. */
bool byte_source_more(ByteSource *source, size_t most);
/* Reads on until `n` bytes are there or nothing more comes; returns how many of them are. */
size_t byte_source_look(ByteSource *source, size_t n);
/* Whether byte_source_more would return without waiting for a writer. */
bool byte_source_ready(const ByteSource *source);
/* Passes the first n of the bytes that are there. They stay valid until the next call. */
void byte_source_pass(ByteSource *source, size_t n);
/* Copies and passes at most `size` bytes, those that are there first; 0: the end; -1: a failure. */
ssize_t byte_source_take(ByteSource *source, void *to, size_t size);
/* byte_source_take until `size` bytes are copied or nothing more comes; how many were; -1: a
 * failure. */
int64_t byte_source_fill(ByteSource *source, void *to, size_t size);
/* Continues a regular file at an offset, uncompressed. False: errno says why not. */
bool byte_source_seek(ByteSource *source, int64_t at);
/* Drops what was read, with its memory, and reads no more. */
void byte_source_end(ByteSource *source);
/* Why reading ended before the end, as "it is compressed by gzip, and ends too early …"; NULL: it
 * did not. */
const char *byte_source_problem(const ByteSource *source);
/* Adds the error of byte_source_problem, if there is one, as "cannot read NAME: …"; true: there is
 * none. */
bool byte_source_check(const ByteSource *source, Diagnostics *diags, const char *name);

/* ---- byte_source_packed.c ---- */

/* From the first byte on, unpacks what gzip, xz or zstd compressed, whatever its name (unpack.h).
 * Before anything was read. Reads nothing yet. */
void byte_source_unpack(ByteSource *source);
/* Makes byte_source_rewind possible: bytes that can be read only once, as those of a pipe, are read
 * now, and kept in a temporary file without a name. False: errno says why not. */
bool byte_source_keep(ByteSource *source);
/* Back to the first byte. False: errno says why not. */
bool byte_source_rewind(ByteSource *source);

/* ---- for byte_source_packed.c ---- */

/* PackedBytes: how a source of byte_source_unpack reads; byte_source_packed.c makes it.
 *   read    the next bytes of the text, at most `size`; 0: the end; -1: error or fault is set
 *   ready   whether `read` needs no more of the file, as far as is known
 *   free    frees it */
typedef struct PackedBytes {
    ssize_t (*read)(ByteSource *source, char *to, size_t size);
    bool (*ready)(const ByteSource *source);
    void (*free)(struct PackedBytes *packed);
} PackedBytes;

/* The next bytes of the file itself; 0: the end; -1: source->error is set. */
ssize_t byte_source_raw(ByteSource *source, char *to, size_t size);

#endif
