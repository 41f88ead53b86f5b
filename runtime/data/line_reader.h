/* Lines of a file, a pipe or a terminal one by one, as they come, in memory that does not
 * grow with the text: at most one line and what one read gives. */
#ifndef RUNTIME_DATA_LINE_READER_H
#define RUNTIME_DATA_LINE_READER_H

#include "runtime/data/lines.h"

typedef struct LineReader LineReader;

typedef enum LineStatus {
    LINE_READ,
    LINE_BAD,   /* no valid UTF-8, a NUL, or longer than the limit; the next may be good */
    LINE_END,   /* there is none any more */
    LINE_FAILED /* nothing more can be read */
} LineStatus;

/* What a call gave. Text and message are valid until the next call. */
typedef struct LineResult {
    LineStatus status;
    int64_t number;      /* of the line, from 1 */
    Line line;           /* of LINE_READ */
    const char *message; /* of LINE_BAD and LINE_FAILED */
    int column;          /* … where, from 1; 0: nowhere */
} LineResult;

/* `path` may be "-", standard input; line_limit in bytes, 0: LINE_LIMIT. NULL after an
 * error. A line that is over the limit is passed over when the next is asked for, but not
 * more than a thousand times the limit: after that, LINE_FAILED. */
LineReader *line_reader_open(Diagnostics *diags, const char *path, int64_t line_limit);
/* Begins behind so many bytes and so many lines of a file instead, before any line was read. False:
 * it cannot (errno). */
bool line_reader_seek(LineReader *reader, int64_t bytes, int64_t lines);
LineResult line_reader_next(LineReader *reader);
/* Whether line_reader_next would give a result without waiting for somebody to write. */
bool line_reader_ready(LineReader *reader);
const char *line_reader_name(const LineReader *reader); /* for messages */
void line_reader_close(LineReader *reader);             /* NULL is allowed */

#endif
