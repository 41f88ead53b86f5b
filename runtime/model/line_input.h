/* LineInput: the lines that a compiled program reads, one by one, as they come. A line may have
 * LINE_LIMIT bytes. */
#ifndef RUNTIME_MODEL_LINE_INPUT_H
#define RUNTIME_MODEL_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct LineInput {
    int fd;
    bool is_file, at_end;
    int error;  /* errno of a read that failed; or 0 */
    char *data; /* from begin to end: read, not yet given; no newline from begin to searched */
    size_t begin, end, searched, room;
} LineInput;

/* A line, without its newline and a return before it; a NUL follows. Valid until the next call. */
typedef struct InputLine {
    char *text;
    size_t length;
} InputLine;

typedef enum InputStatus {
    INPUT_LINE,
    INPUT_END,
    INPUT_LONG,  /* the line has more than LINE_LIMIT bytes */
    INPUT_FAILED /* errno says why */
} InputStatus;

/* Opens a file or pipe; path NULL: standard input. False: errno says why. */
bool input_open(LineInput *input, const char *path);
/* The next line; after a status that is not INPUT_LINE there is none. */
InputStatus input_next(LineInput *input, InputLine *line);
/* Whether input_next would return without waiting for a writer. */
bool input_ready(LineInput *input);
void input_close(LineInput *input); /* also one that input_open did not open */

#endif
