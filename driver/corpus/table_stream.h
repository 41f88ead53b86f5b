/* TableStream: the records of tables, read while they are used: the memory taken does not depend on
 * how many there are. Records of a pipe come as they are written. Compressed files are unpacked
 * while they are read; tensors are mapped.
 *
 *   TableStream *s = table_stream_open(job, &paths, &fields, line_limit);
 *   while (s && table_stream_next(s, &text, &n) && n)   // n records, valid until the next call
 *       ;
 *   table_stream_close(s);
 */
#ifndef DRIVER_CORPUS_TABLE_STREAM_H
#define DRIVER_CORPUS_TABLE_STREAM_H

#include "driver/corpus/table_files.h"

typedef struct TableStream TableStream;

/* Opens the files, "-" is standard input, so that a missing one is an error before the first
 * record. paths and fields must outlive the stream. NULL after errors. */
TableStream *table_stream_open(Job *job, const TextList *paths, const TableFields *fields,
                               int64_t line_limit);
/* The next records, *n of them; 0: there are none. False after errors, each with its place: those
 * of table.h, of these records alone. */
bool table_stream_next(TableStream *stream, CorpusText *text, int64_t *n);
/* The last records that were given stay valid until the job ends. */
void table_stream_keep(TableStream *stream);
/* The same for the last ones of all. NULL is allowed. */
void table_stream_close(TableStream *stream);

#endif
