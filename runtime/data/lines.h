/* Text files as lines of valid UTF-8. LF and CRLF end a line, a byte order mark is
 * dropped, a last line without an end counts. Bytes that are not UTF-8, NULs and lines
 * that are too long are errors with file, line and column. Whole texts here; line by line, as they
 * come: line_reader.h. Both may be compressed by gzip, xz or zstd (base/unpack.h). */
#ifndef RUNTIME_DATA_LINES_H
#define RUNTIME_DATA_LINES_H

#include "base/file.h"
#include "base/line.h"

#include <stdint.h>
#include <string.h>

/* The default limit of a line, in bytes without its end: far longer than any sentence, and far
 * shorter than a file that has no lines. */
enum { LINE_LIMIT = 1000000 };
/* The default limit of a record of a table, in bytes. A record may hold an image: one of 224 × 224
 * points in three colours has 150,528 numbers. */
enum { RECORD_LIMIT = 16 * LINE_LIMIT };
static inline int64_t line_limit_of(int64_t given) { return given ? given : (int64_t)LINE_LIMIT; }
static inline int64_t record_limit_of(int64_t given)
{
    return given ? given : (int64_t)RECORD_LIMIT;
}

/* What messages call a text that is given as `path`, "-" being standard input. */
static inline const char *text_name(const char *path)
{
    return strcmp(path, "-") != 0 ? path : "<standard input>";
}

/* Lines: the lines of a file, or of several files in order.
 *   source    the file; of several files only their names, for messages
 *   line      for each of the n, on which line of the file it begins, from 0; NULL: i is on line i.
 *             (The records of a table with a header, or with texts of several lines: table.h)
 *   in_lines  each has words of as many lines of the file, in order, with a blank between them
 *   tensor    not NULL: a column that is the rows of a tensor, and has no lines
 *   parts     the files, n_parts of them, in order; none: it is one file */
typedef struct Lines {
    const Source *source;
    int64_t n;
    Line *at;
    const int64_t *line;
    bool in_lines;
    const struct StTensor *tensor;
    struct Lines *const *parts;
    int n_parts;
} Lines;

typedef struct LineLimits {
    int64_t line;   /* bytes of a line; 0: LINE_LIMIT */
    int64_t memory; /* bytes of the text; 0: what the machine has free */

    /* of a text that a folder names: a regular file within reach, of at most LARGEST_LIST bytes,
     * and not compressed */
    FileReach reach;

    /* of a table: what else each of the wanted fields may have, as RecordFields.takes says; NULL:
     * nothing */
    const uint8_t *takes;
    /* of a table: the model's input that each of the wanted fields feeds, for messages; NULL: it is
     * not told */
    const char *const *inputs;
} LineLimits;

/* The most bytes of a list of words or labels that a folder names. */
#define LARGEST_LIST ((int64_t)256 << 20)

/* Reads a file, a pipe, or standard input ("-"), and unpacks it if it is compressed. A file that is
 * larger than the memory is an error before it is read; a pipe and a compressed text, once more
 * than a third of the memory has been read from it. Reading ends early at a NUL and at a line over
 * the limit, which lines_parse reports. `limits` may be NULL. NULL after errors. */
const Source *text_read(Diagnostics *diags, Arena *arena, const char *path,
                        const LineLimits *limits);
/* text_read and lines_parse. */
Lines *lines_read(Diagnostics *diags, Arena *arena, const char *path, const LineLimits *limits);
/* Several files as one text, each read as lines_read does. Standard input may be among them
 * once. */
Lines *lines_read_all(Diagnostics *diags, Arena *arena, const char *const *paths, size_t n,
                      const LineLimits *limits);
/* Whether at most one of the paths is standard input; false after an error. */
bool text_paths_check(Diagnostics *diags, const char *const *paths, size_t n);
/* n texts, at least one, as one text in the arena. */
Lines *lines_join(Arena *arena, Lines *const *parts, int n);
/* The lines of a text in memory, which must outlive the result; line_limit 0: LINE_LIMIT. NULL
 * after errors. */
Lines *lines_parse(Diagnostics *diags, Arena *arena, const Source *source, int64_t line_limit);
/* Splits the lines of one file at their tabs. Returns the first column and sets *second to the
 * second, both with the file's line numbers; further columns are ignored. A line without a tab is
 * an error. NULL after errors. */
Lines *lines_columns(Diagnostics *diags, Arena *arena, const Lines *lines, Lines **second);
/* The first two columns of one line; false: it has no tab. */
bool line_columns(const Line *line, Line sides[2]);
/* lines_place: line i (from 0) as a place for messages, by its number in its file. The next
 * function names it: "line 5", of several files "line 5 of NAME", in the arena. */
Loc lines_place(const Lines *lines, int64_t i);
/* The place of byte `at` of line i: where it stands in the text, if it does. (Of a text with
 * escapes the lines are elsewhere: then the place of the line.) */
Loc lines_place_within(const Lines *lines, int64_t i, size_t at);
const char *lines_where(Arena *arena, const Lines *lines, int64_t i);

/* What is wrong with a line, and at which column (from 1); NULL: nothing. The message
 * lives in the arena. */
const char *line_fault(Arena *arena, const Line *line, int64_t line_limit, int *column);
/* For a text that begins with these bytes and has no lines of UTF-8 (it is still compressed, or is
 * UTF-16): what it is and what to do, to be put behind its name: "is UTF-16: …". NULL: neither was
 * found. */
const char *text_foreign(const char *text, size_t length);
/* Whether the text's lines end with CR alone, as on old Macintoshes: it is one line to tfc. */
bool text_has_cr_lines(const char *text, size_t length);
/* The message for such a text, with what to do. */
#define CR_LINES_ADVICE \
    "its lines end with CR alone, and are one here: write them with LF (tr '\\r' '\\n' <FILE >NEW)"

#endif
