/* TableReader: a text that is being cut into records; table.c and the formats' files share it. */
#ifndef RUNTIME_DATA_TABLE_READER_H
#define RUNTIME_DATA_TABLE_READER_H

#include "runtime/data/table.h"

/* TableReader
 *   arena      of what the table has
 *   scratch    of what is freed after reading
 *   lines      of the text, checked by lines_parse
 *   head       how records are read
 *   line       where the next record begins, from 0
 *   bad        records with an error
 *   left_out   lines of CoNLL that are in no record
 *   at         of a JSON list: where the next object begins; ends: the list ends before it */
typedef struct TableReader {
    Diagnostics *diags;
    Arena *arena, *scratch;
    const Lines *lines;
    const TableHead *head;
    int64_t line_limit, line, bad, left_out;
    const char *at;
    bool ends;
} TableReader;

enum { TABLE_BAD = -1 };

/* Reads the next record, which there is, and moves reader->line behind it. Cells get its first
 * `room` fields; of JSON, the wanted ones. Returns how many fields it has, or TABLE_BAD after
 * table_fault. */
typedef int64_t TableNext(TableReader *reader, Line *cells, size_t room);
TableNext table_next_tsv, table_next_csv, table_next_json, table_next_list, table_next_conll,
    table_next_fasttext;
/* Of fastText: which of its fields those of the head are. False after an error. */
bool table_find_fasttext(TableReader *reader, TableHead *head);
/* Whether all fields of each column that is made of several have as many numbers; else reports it
 * of the record. */
bool table_groups_are_even(TableReader *reader, int64_t record, const Line *cells);
/* Columns of several fields (table_groups.c): the wanted fields by their names, those that patterns
 * stand for once there is a header (false after an error: none fits), whether a name or a pattern
 * fits a field of the header, and the cell of a column. */
void table_name_fields(Arena *arena, const char *const *fields, size_t n, const uint8_t *takes,
                       TableHead *head);
bool table_expand(TableReader *reader, TableHead *head, const Line *cells, size_t n);
bool table_field_fits(const Line *name, const Line *cell);
Line table_column_cell(TableReader *reader, size_t column, const Line *cells);
/* Of a JSON list: passes what stands before the first object of the text. */
void table_begin_list(TableReader *reader);
/* Of CoNLL, whose lines may be all left out: then a record has no fields, and is none. Passes empty
 * lines before a record. */
void table_skip_conll(TableReader *reader);
/* How lines of CoNLL begin that make no record by themselves; NULL ends the list. */
extern const char *const table_conll_passed[];

/* Counts a bad record, and adds the error if it is among the first: `line` from 0, `at` the byte
 * in the text. Returns TABLE_BAD. */
int64_t table_fault(TableReader *reader, int64_t line, const char *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What to do where the file lacks the field k, behind a semicolon: the option for another. */
const char *table_other_field(const TableReader *reader, size_t k);
/* Cuts a line at each `mark`; cells as of TableNext. */
int64_t table_split(const Line *line, char mark, Line *cells, size_t room);

#endif
