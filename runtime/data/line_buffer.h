/* LineBuffer: the lines of a file, a pipe or a terminal one by one, as they come, in memory that
 * does not grow with the text: at most one line and what one read gives. LF and CRLF end a line, a
 * last line without an end counts, a byte order mark is dropped. The bytes of a line are not
 * checked: line_reader.h checks them. */
#ifndef RUNTIME_DATA_LINE_BUFFER_H
#define RUNTIME_DATA_LINE_BUFFER_H

#include "runtime/data/lines.h"

typedef enum LineStatus {
    LINE_READ,
    /* of a LineReader: not valid UTF-8, with a NUL, or longer than the limit; the next line may be
     * good */
    LINE_BAD,
    LINE_END,   /* the text has ended */
    LINE_FAILED /* nothing more can be read */
} LineStatus;

typedef struct LineBuffer {
    int fd;
    int64_t limit, number; /* bytes of a line; lines so far */
    bool is_file, at_end;
    bool has_begun;  /* what comes is behind the place of a byte order mark */
    int error;       /* errno of a read; or 0 */
    int64_t skipped; /* bytes of the line that is being skipped; -1: none is */
    char *data;      /* from begin to end: read, not yet given */
    size_t begin, end, searched, capacity; /* no newline from begin to searched */
} LineBuffer;

/* Opens a file or a pipe; path NULL: standard input. False: errno says why. */
bool line_buffer_open(LineBuffer *buffer, const char *path, int64_t limit);
/* Before the first line: continues a file after its first `bytes` bytes, which are its first
 * `lines` lines. False, and errno: it cannot. */
bool line_buffer_seek(LineBuffer *buffer, int64_t bytes, int64_t lines);
/* The next line, valid until the next call. LINE_READ: if the line is longer than the limit, it may
 * be cut, and its rest is skipped by the next call. LINE_FAILED: `error` has the reason; 0: what
 * was to be skipped is longer than a thousand times the limit. */
LineStatus line_buffer_next(LineBuffer *buffer, Line *line);
/* Whether line_buffer_next would return without waiting for a writer. */
bool line_buffer_ready(LineBuffer *buffer);
/* Nothing more is read: drops what has been read and not given. */
void line_buffer_end(LineBuffer *buffer);
void line_buffer_close(LineBuffer *buffer); /* zeros are allowed */

#endif
