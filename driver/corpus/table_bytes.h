/* The bytes of a table's file while it is read, and where whole records of them end. A file may be
 * a pipe, and may be compressed by gzip, xz or zstd. */
#ifndef DRIVER_CORPUS_TABLE_BYTES_H
#define DRIVER_CORPUS_TABLE_BYTES_H

#include "base/diag.h"
#include "runtime/data/packed_text.h"

/* TableBytes: an open file.
 *   path, name   as given, "-" is standard input; and for messages
 *   fd           -1: it is not open
 *   begin        where its bytes begin, for table_bytes_rewind
 *   packed       what unpacks it; NULL: it is not compressed, or not begun */
typedef struct TableBytes {
    const char *path, *name;
    int fd;
    int64_t begin;
    PackedText *packed;
} TableBytes;

/* False after an error. rewinds: bytes that can be read only once, as those of a pipe, are first
 * copied into a temporary file without a name. */
bool table_bytes_open(TableBytes *file, Diagnostics *diags, const char *path, bool rewinds);
/* Back to the first byte. False after an error. */
bool table_bytes_rewind(TableBytes *file, Diagnostics *diags);
void table_bytes_close(TableBytes *file);

/* RecordCut: bytes that were read, of a file one after the other. Begins as zeros.
 *   data, length     those that were not dropped
 *   lines            of the file, before them
 *   at_end           nothing more can be read
 * The rest is private:
 *   seen, in_quotes  how far ends of records have been searched
 *   whole, records   the bytes of whole records so far, and how many there are */
typedef struct RecordCut {
    char *data;
    size_t length, room, seen, whole;
    int64_t lines, records;
    bool in_quotes, in_record, at_end;
} RecordCut;

/* RecordLimits: what ends a part.
 *   records      most records
 *   bytes        the part ends with the record that reaches this many
 *   longest      bytes of a record; a longer one ends the part as if it were whole: the parser
 *                refuses it
 *   has_quotes   line breaks between quotes end no record
 *   ends_empty   records end with the first empty line behind their words, as CoNLL's
 *   waits        a part does not end where a pipe has no more yet */
typedef struct RecordLimits {
    int64_t records;
    size_t bytes, longest;
    bool has_quotes, ends_empty, waits;
} RecordLimits;

void record_cut_begin(RecordCut *cut); /* of another file; the memory is kept */
void record_cut_free(RecordCut *cut);
/* Reads the first bytes, and finds out whether the file is compressed. False after an error. */
bool record_cut_open(RecordCut *cut, TableBytes *file, Diagnostics *diags);
/* Reads on to at least one whole record. *bytes: those of whole records; of a file that has ended,
 * all; 0: there are none. False after an error. */
bool record_cut_read(RecordCut *cut, TableBytes *file, Diagnostics *diags,
                     const RecordLimits *limits, size_t *bytes);
void record_cut_drop(RecordCut *cut, size_t bytes); /* leaves out the first bytes */
/* The bytes of the first lines; 0 for 0 and less. */
size_t record_cut_lines(const RecordCut *cut, int64_t lines);

#endif
