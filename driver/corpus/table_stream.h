/* TableStream: the records of tables, read while they are used: the memory taken does not depend on
 * how many there are. Records of a pipe come as they are written. Compressed files are unpacked
 * while they are read; tensors are mapped.
 *
 *   TableStream *s = table_stream_open(job, &paths, &fields, &options);
 *   while (s && table_stream_next(s, &text, &n) && n)   // n records, valid until the next call
 *       ;
 *   table_stream_close(s);
 *
 * A part is what one call gives: whole records of one file, at most TABLE_PART_RECORDS of them and
 * those that begin in its first TABLE_PART_BYTES; of tensors, all. With `rewinds` a part goes on
 * with the next file, so that it does not matter how records are divided into files. */
#ifndef DRIVER_CORPUS_TABLE_STREAM_H
#define DRIVER_CORPUS_TABLE_STREAM_H

#include "driver/corpus/table_files.h"

enum { TABLE_PART_BYTES = 8 << 20, TABLE_PART_RECORDS = 1 << 16 };

typedef struct TableStream TableStream;

/* TableStreamOptions
 *   line_limit   as in LineLimits
 *   takes_lines  a text of lines feeds one field: a file is such a text unless it is named as a
 *                table, or its first line is a header of several fields with that field, or an
 *                object with such a key; if a file is named as a table, all are tables
 *   is_named     --column names the field: a file of lines is then an error
 *   rewinds      table_stream_rewind will be called: what a pipe gives is kept in a temporary file
 *                without a name; parts then are the same each time */
typedef struct TableStreamOptions {
    int64_t line_limit;
    bool takes_lines, is_named, rewinds;
} TableStreamOptions;

/* Opens the files, "-" is standard input, so that a missing one is an error before the first
 * record. paths and fields must outlive the stream. NULL after errors. */
TableStream *table_stream_open(Job *job, const TextList *paths, const TableFields *fields,
                               const TableStreamOptions *options);
/* The next records, *n of them; 0: there are none. False after errors, each with its place: those
 * of table.h, of one part alone. The records of the part before the first bad one are given by the
 * call before that. */
bool table_stream_next(TableStream *stream, CorpusText *text, int64_t *n);
/* Puts the names of the first file's header for patterns of them ("f*"), so that other tables are
 * read by the same names in the same order. A pipe's header is left to be read. False after an
 * error. */
bool table_fields_expand(Job *job, const TextList *paths, int64_t line_limit, TableFields *fields);
/* Whether the first line of a text is several words with one mark between them, as a header has
 * them, or the field's name alone. */
bool table_looks_headed(const Source *begin, const char *field);
/* Back to the first record. False after an error. */
bool table_stream_rewind(TableStream *stream);
/* The last records that were given stay valid until the job ends. */
void table_stream_keep(TableStream *stream);
/* The same for the last ones of all. NULL is allowed. */
void table_stream_close(TableStream *stream);
/* The next records as one text, which is valid until the job ends: `most` of them, or as many as
 * there are; 0: all. *n: how many. False after errors. */
bool table_stream_rest(TableStream *stream, int64_t most, CorpusText *text, int64_t *n);

#endif
