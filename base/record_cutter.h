/* RecordCutter: the lines or records of a ByteSource, one by one or many at once, in memory that
 * does not grow with the file: at most one record of the rule's length and a block.
 *
 * A line ends with LF or CRLF, which are no part of it; a last line without an end counts; a byte
 * order mark at the beginning of the file is dropped. Any other byte is itself: what a line may
 * have is checked by those who read texts (runtime/data/line_reader.h).
 *
 *   RecordCutter c;
 *   if (record_cutter_open(&c, path, (RecordRule){.longest = LINE_LIMIT}))    // false: errno
 *       while (record_next(&c, &record) == RECORD_READ)
 *           use(record.text, record.length);
 *   record_cutter_close(&c);
 */
#ifndef BASE_RECORD_CUTTER_H
#define BASE_RECORD_CUTTER_H

#include "base/byte_source.h"

#include <string.h>

/* RecordEnds: what ends a record.
 *   LINES    each line
 *   QUOTED   each line that does not end within quotes ("), as CSV has it
 *   BLOCKS   the first line of blanks alone behind a line that counts, as CoNLL has it
 *   OBJECTS  an object of JSON, as a list has it: what stands before it is part of the record, and
 *            what stands behind the last one is none */
typedef enum RecordEnds { RECORD_LINES, RECORD_QUOTED, RECORD_BLOCKS, RECORD_OBJECTS } RecordEnds;

/* ObjectScan: the way through an object of JSON, a byte at a time; zeros: before it.
 *   depth       objects that are open
 *   in_string   and whether the byte before was a backslash */
typedef struct ObjectScan {
    int32_t depth;
    bool in_string, escaped;
} ObjectScan;

/* Whether the byte ends an object that is in none. */
static inline bool object_scan(ObjectScan *scan, char byte)
{
    if (scan->in_string) {
        scan->in_string = scan->escaped || byte != '"';
        scan->escaped = !scan->escaped && byte == '\\';
        return false;
    }
    scan->in_string = byte == '"';
    scan->depth += byte == '{' && scan->depth < INT32_MAX;
    return byte == '}' && scan->depth && !--scan->depth;
}

/* RecordRule: how records are cut. It may change between two records.
 *   joins_empty   LINES, QUOTED: an empty line belongs to the record behind it; at the end of the
 *                 file, where there is none, record_next passes it
 *   longest   bytes of a record; a longer one is cut (Record.is_cut)
 *   quoted    QUOTED: bytes of text in quotes. Where no quote closes it within them, the record
 *             ends with that line: its reader refuses it, and the next record is found again
 *   passed    BLOCKS: lines that begin with one of these do not count; NULL ends the list */
typedef struct RecordRule {
    RecordEnds ends;
    bool joins_empty;
    size_t longest, quoted;
    const char *const *passed;
} RecordRule;

/* Record
 *   text, length   without the end of its last line; valid until the next call
 *   has_mark       a byte order mark was dropped before it
 *   has_cr         its last line ended with CRLF
 *   is_cut         it is longer than the rule's `longest`, and may have been cut somewhere behind;
 *                  the next call skips the rest */
typedef struct Record {
    const char *text;
    size_t length;
    bool has_mark, has_cr, is_cut;
} Record;

typedef enum RecordStatus {
    RECORD_READ,
    RECORD_END,
    /* byte_source_problem says why; NULL: a record of a pipe, a device or a compressed file is
     * longer than a thousand times the rule's `longest`, and may be endless: this is no text */
    RECORD_FAILED
} RecordStatus;

/* RecordCutter
 *   source   of the bytes; the cutter closes it
 *   line     lines of the file before the next record; of lines, how many there were so far
 *   at       bytes of the text before it
 *   closed   OBJECTS: a ']' stood outside of the objects
 * The rest is private:
 *   whole    bytes of whole records at the beginning of source.data; seen: how far their ends are
 *            searched; line_begin, newlines: of the record being searched, the line and the count
 *            of its line breaks
 *   open_at  QUOTED: the value of `at` for the last quote, if in_quotes
 *   counts   BLOCKS, joins_empty: the record has a line that counts; OBJECTS: it has an object
 *   object   OBJECTS: how far it is read
 *   skipped  bytes of the record that is being skipped; -1: none is */
typedef struct RecordCutter {
    ByteSource source;
    RecordRule rule;
    int64_t line, at;
    size_t whole, seen, line_begin;
    int64_t newlines, open_at, skipped;
    bool closed, in_quotes, counts, has_mark, is_endless;
    ObjectScan object;
} RecordCutter;

/* Opens a file, a pipe, or standard input ("-" or NULL). False: errno says why. */
bool record_cutter_open(RecordCutter *cutter, const char *path, RecordRule rule);
/* Cuts what cutter->source, which the caller has opened, has from here on. */
void record_cutter_begin(RecordCutter *cutter, RecordRule rule);
void record_cutter_close(RecordCutter *cutter); /* zeros are allowed */
/* Before the first record: continues a regular file behind its first `bytes` bytes, which are its
 * first `lines` lines. False: errno says why not. */
bool record_cutter_seek(RecordCutter *cutter, int64_t bytes, int64_t lines);

/* ---- one by one ---- */

RecordStatus record_next(RecordCutter *cutter, Record *record);
/* Whether record_next would return without waiting for a writer. */
bool record_ready(RecordCutter *cutter);
/* Skips the rest of the record that was given last, if it is cut; `line` and `at` are behind it
 * then. */
void record_skip(RecordCutter *cutter);
/* Reads no more: what was read and not given is dropped. */
void record_cutter_end(RecordCutter *cutter);

/* ---- many at once ---- */

/* RecordPart: what ends a part: `records` of them, or the record that reaches `bytes`. A record
 * that is longer than the rule's `longest` ends it, too, cut. waits: false: where a pipe has no
 * more yet, the part ends with the whole records that there are. */
typedef struct RecordPart {
    int64_t records;
    size_t bytes;
    bool waits;
} RecordPart;

/* Reads on to at least one whole record. *bytes of source.data are whole records, with their ends
 * and a byte order mark; of a file that has ended, all are; 0: there are none. False: a failure.
 * The next call begins with the same records, unless record_pass has passed them. */
bool record_part(RecordCutter *cutter, const RecordPart *part, size_t *bytes);
void record_pass(RecordCutter *cutter, size_t bytes);
/* How many bytes of source.data the first lines have; 0 for 0 and less. */
size_t record_lines_bytes(const RecordCutter *cutter, int64_t lines);

/* ---- in memory ---- */

/* The line that begins at `text`, which is not `end`; returns where the next one begins. */
static inline const char *record_line(const char *text, const char *end, size_t *length)
{
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    *length = (size_t)((stop ? stop : end) - text);
    *length -= *length && text[*length - 1] == '\r';
    return stop ? stop + 1 : end;
}

#endif
