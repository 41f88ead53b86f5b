/* Files of pairs, which --data names: in each line a source, a tab and its target; a translation
 * memory; or a table, of which two fields are read, as the tables of other models are (table.h).
 *
 * A file is a table if its name says so (table_is_named; FILE.tsv only with one of the next two),
 * if --column names fields, or if its first line is a header with `source` and `target`. Tabs and
 * line breaks within a table's text are read as blanks, as those of a translation memory. */
#ifndef DRIVER_CORPUS_PAIR_FILES_H
#define DRIVER_CORPUS_PAIR_FILES_H

#include "driver/corpus/field_pair.h"
#include "driver/corpus/table_files.h"

/* What --column and headers call the sides. */
extern const FieldPair pair_sides;

/* "INPUT=FIELD" of --column as fields of the sides: INPUT is a side, or the name that the model has
 * for the input that reads it; NULL: no model is known. False after an error. */
bool pair_columns_of(Job *job, const char *source, const char *target, const TextList *given,
                     TextList *columns);

/* PairFields: how a file of pairs is read.
 *   is_table   else lines, or a translation memory
 *   fields     of a table: source and target */
typedef struct PairFields {
    bool is_table;
    TableFormat format;
    const char *fields[2];
} PairFields;

/* PairText: a file of pairs in memory.
 *   lines      each a source, a tab and its target; NULL: the file is a table
 *   sides      of a table, as many of each */
typedef struct PairText {
    const Source *lines;
    Lines *sides[2];
} PairText;

/* Reads a file. `columns`: "source=FIELD" or "target=FIELD" of --column; `languages`: of
 * translation memories (tmx.h); line_limit: as in LineLimits. False after an error. */
bool pair_text_open(Job *job, const char *path, const TextList *columns, const char *languages,
                    int64_t line_limit, PairText *text);
/* The same as sources, with as many targets; a file of lines may have none. NULL after an error. */
Lines *pair_text_read(Job *job, const char *path, const TextList *columns, const char *languages,
                      int64_t line_limit, Lines **targets);
/* The same as lines of source, tab, target, without checks of the lines of a file that is no table.
 * *numbers: on which line of the file each is, from 0; NULL: line i is on line i. NULL after an
 * error. */
const Source *pair_text_lines(Job *job, const char *path, const TextList *columns,
                              const char *languages, int64_t line_limit, const int64_t **numbers);

/* Whether the file can be read again after its beginning was looked at: a regular file, and no
 * translation memory. */
bool pair_file_has_beginning(const char *path);
/* The whole records at the beginning of such a file, unpacked: at least the first, and about a
 * megabyte. NULL, without an error, if it cannot be read. */
const Source *pair_file_beginning(Job *job, const char *path, const TextList *columns,
                                  PairFields *fields);
/* Whether the file is to be read as a table. A file without a beginning is one by its name or
 * `columns` alone. */
bool pair_file_is_table(Job *job, const char *path, const TextList *columns, PairFields *fields);
/* The same for a TableStream, whose texts then have both sides; of lines, the first two fields of
 * TSV. */
TableFields pair_table_fields(const PairFields *fields);
/* The field of a table that is its source, where no target is read: of a header with `source` that
 * one, too. `columns` as above. */
TableFields pair_source_fields(Job *job, const char *path, const TextList *columns);
/* Adds a side, with tabs and line breaks as blanks. */
void pair_put_side(Text *out, const Line *side);
/* Adds a row to lines of pairs. */
void pair_put_row(Text *out, const Line *source, const Line *target);

#endif
