/* LineReader: the lines of a text one by one, as they come, checked: not too long, valid UTF-8, no
 * NUL. Lines are those of base/record_cutter.h, and what is compressed is unpacked. */
#ifndef RUNTIME_DATA_LINE_READER_H
#define RUNTIME_DATA_LINE_READER_H

#include "runtime/data/lines.h"

typedef enum LineStatus {
    LINE_READ,
    LINE_BAD,   /* not valid UTF-8, with a NUL, or too long; the next line may be good */
    LINE_END,   /* the text has ended */
    LINE_FAILED /* nothing more can be read */
} LineStatus;

typedef struct LineReader LineReader;

/* LineResult: what line_reader_next returns. Text and message are valid until the next call. */
typedef struct LineResult {
    LineStatus status;
    int64_t number;      /* of the line, from 1; of LINE_END: how many lines there were */
    Line line;           /* of LINE_READ */
    const char *message; /* of LINE_BAD and LINE_FAILED */
    int column;          /* of the fault, in bytes from 1; 0: none */
} LineResult;

/* Opens a file, a pipe, or standard input ("-"). line_limit in bytes, 0: LINE_LIMIT. NULL after an
 * error. The rest of a line over the limit is skipped at the next call; after a thousand times the
 * limit that call gives LINE_FAILED. */
LineReader *line_reader_open(Diagnostics *diags, const char *path, int64_t line_limit);
/* Before the first line: continues a file that is not compressed after its first `bytes` bytes,
 * which are its first `lines` lines. False, and errno: it cannot. */
bool line_reader_seek(LineReader *reader, int64_t bytes, int64_t lines);
LineResult line_reader_next(LineReader *reader);
/* Whether line_reader_next would return without waiting for a writer. */
bool line_reader_ready(LineReader *reader);
const char *line_reader_name(const LineReader *reader); /* for messages */
void line_reader_close(LineReader *reader);             /* NULL is allowed */

#endif
