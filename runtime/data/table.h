/* Table: the records of a file, by fields. Each wanted field is a column: Lines with an entry for
 * each record, so that what takes a text takes a column.
 *
 * Formats. A file may be compressed by gzip, xz or zstd (base/unpack.h).
 *
 *   TSV         .tsv           fields between tabs, a record a line, no quoting: any other byte is
 *                              itself
 *   CSV         .csv           RFC 4180: fields between commas. "A field" in quotes may have commas
 *                              and line breaks, and "" for a quote. Blanks belong to fields. The
 *                              mark between fields is what a first line "sep=;" says, as Excel has
 *                              it; or a semicolon, where that finds the wanted fields and a comma
 *                              does not
 *   JSON lines  .jsonl .ndjson .json   an object a line: {"label": 2, "text": "A dog."}
 *   JSON list   the same               one list of objects, over any number of lines
 *   CoNLL       .conll .bio .iob  a word a line, fields between tabs or else between blanks; an
 *                              empty line ends a record, whose fields are the columns. Lines that
 *                              begin with -DOCSTART-, and comments before a record's words, are
 *                              left out
 *   CoNLL-U     .conllu        the same; comments are all lines that begin with #, and words whose
 *                              number has a - or a . in it are left out
 *   fastText    (by its text)  a line: words __label__NAME, then a text; its fields are label (or
 *                              labels) and text. A line may have no label
 *
 * A file of another name is fastText if it begins with __label__, JSON lines if its first byte
 * other than blanks is {, a JSON list if it begins with [ and {, else TSV; or what
 * table_find_format finds by the fields that are wanted.
 *
 * Fields. They are named, and the first record of TSV and CSV is a header with the names; or all of
 * them are numbers from 1, and TSV and CSV have no header (unless LineLimits.takes says that they
 * are names: FIELD_NAMED). Fields of JSON are keys; those of CoNLL
 * are numbers.
 *
 * Values. Of JSON, the text of a string, and numbers, true, false and lists of numbers as they are
 * written: "[1, 2.50]". Where LineLimits.takes allows it there may be a list of texts, each with a
 * line break behind it; so are the labels of fastText. Texts of CSV in quotes and of JSON may have
 * line breaks in them. Nothing is trimmed, and a value may be empty. Empty lines at the end of TSV
 * and CSV with several fields, and of JSON, are passed.
 *
 * Errors, with file, line and column:
 *
 *   text      what lines_parse refuses
 *   fields    a wanted field that the header lacks or has twice; no records
 *   empty     an empty line between records, where it is none
 *   widths    a record that has more or fewer fields than the header (without one: of CSV, than the
 *             first record; of TSV, fewer than wanted)
 *   CSV       a quote within a field without quotes, text after a closing quote, a quote that
 *             nothing closes
 *   JSON      what is not JSON; a wanted key that is missing, null or there twice; a value that is
 *             an object or a list of other things than numbers and such lists
 *
 * The first five bad records are reported, and how many there are. */
#ifndef RUNTIME_DATA_TABLE_H
#define RUNTIME_DATA_TABLE_H

#include "base/record_cutter.h"
#include "runtime/data/lines.h"

#include <string.h>

typedef enum TableFormat {
    TABLE_TSV,
    TABLE_CSV,
    TABLE_JSON,
    TABLE_LIST,
    TABLE_CONLL,
    TABLE_CONLLU,
    TABLE_FASTTEXT
} TableFormat;
/* Formats by the endings of their files: ROW(ending, format). TABLE_ENDINGS_TEXT has the endings,
 * each behind a blank. */
#define TABLE_ENDINGS(ROW)     \
    ROW(".tsv", TABLE_TSV)     \
    ROW(".csv", TABLE_CSV)     \
    ROW(".jsonl", TABLE_JSON)  \
    ROW(".ndjson", TABLE_JSON) \
    ROW(".json", TABLE_JSON)   \
    ROW(".conll", TABLE_CONLL) \
    ROW(".bio", TABLE_CONLL)   \
    ROW(".iob", TABLE_CONLL)   \
    ROW(".conllu", TABLE_CONLLU)
#define TABLE_ENDING_TEXT(ending, format) " " ending
#define TABLE_ENDINGS_TEXT TABLE_ENDINGS(TABLE_ENDING_TEXT)

/* Whether records are objects of JSON, whose fields are keys. */
static inline bool table_is_json(TableFormat format)
{
    return format == TABLE_JSON || format == TABLE_LIST;
}
/* Whether records of the format end with an empty line. */
static inline bool table_is_conll(TableFormat format)
{
    return format == TABLE_CONLL || format == TABLE_CONLLU;
}

/* Table: n records.
 *   columns   of each wanted field, in the order asked: n entries. lines_place(column, i) is where
 *             record i begins
 *   left_out  of CoNLL: how many lines are no word of any record, empty ones not counted */
typedef struct Table {
    int64_t n;
    Lines **columns;
    int64_t left_out;
} Table;

/* TableHead: how the records of a file are read, as its first record says.
 *   lines      of the file before the first record: those of a header
 * The rest is private:
 *   mark       between the fields of CSV
 *   begin      lines before the header: 1 with a "sep="
 *   fields     names of those wanted, n_fields; their numbers, if `is_numbered`
 *   width      fields of each record; if `at_least`, or more
 *   index      for each wanted field, which of a record's fields it is, from 0
 *   is_wanted  which fields of a record are, by their order; NULL: all */
typedef struct TableHead {
    TableFormat format;
    int64_t lines, begin;
    char mark;
    const Line *fields;
    size_t n_fields, width, *index;
    bool is_numbered, at_least;
    const bool *is_wanted;
    const uint8_t *takes;      /* LineLimits.takes, for each field */
    const char *const *inputs; /* LineLimits.inputs, for each column */
    size_t n_columns, *ends;   /* which fields each column has: those before its end */
} TableHead;

/* What stands between the names of several fields that are one column, whose cells are joined with
 * blanks between, NA for an empty one. A name with * in it is that of all fields of the header that
 * it fits, in their order. */
#define TABLE_AND '\t'
static inline bool table_name_is_of_several(const char *name)
{
    return strpbrk(name, "\t*") != NULL;
}
/* Whether it is a number, or several: of fields that are all so, a table has no header. */
bool table_name_is_numbers(const char *name);
/* Whether each name of a column is one of another column's names, or fits a pattern of it. */
bool table_name_fits(const char *names, const char *of);
/* How a file begins whose lines are fastText's. */
#define TABLE_FASTTEXT_MARK "__label__"

/* Reads a file, a pipe or standard input ("-"), with the limits of lines_read; `limits` may be
 * NULL. `fields`: names or numbers of those wanted, at least one. NULL after errors. */
Table *table_read(Diagnostics *diags, Arena *arena, const char *path, const char *const *fields,
                  size_t n_fields, const LineLimits *limits);
/* Several files, at least one, as one table: the records of one after those of the other. Fields
 * are found in each by its own header. */
Table *table_read_all(Diagnostics *diags, Arena *arena, const char *const *paths, size_t n_paths,
                      const char *const *fields, size_t n_fields, const LineLimits *limits);
/* The table that a text in memory holds, which must outlive the result; of `limits` that of lines
 * counts. */
Table *table_parse(Diagnostics *diags, Arena *arena, const Source *source, TableFormat format,
                   const char *const *fields, size_t n_fields, const LineLimits *limits);
/* A table in parts, for one that is never whole in memory. The head is found in the beginning of
 * the file, which must have the first table_head_records whole; false after errors. A part has
 * whole records and no header; source->lines_before says where it stands. NULL after errors; of
 * more than five bad records those of the part alone are counted. */
bool table_find_head(Diagnostics *diags, Arena *arena, const Source *beginning, TableFormat format,
                     const char *const *fields, size_t n_fields, const LineLimits *limits,
                     TableHead *head);
Table *table_parse_part(Diagnostics *diags, Arena *arena, const Source *part, const TableHead *head,
                        const LineLimits *limits);
/* How many records, of the file that begins so, tell how records are read. */
int64_t table_head_records(TableFormat format, const char *text, size_t length);
/* Whether empty lines are no records. */
bool table_passes_empty(const TableHead *head);
/* How records of the format are cut out of a file: a field may have line_limit bytes (0:
 * RECORD_LIMIT), a record two of them and `more` bytes. */
RecordRule table_record_rule(TableFormat format, int64_t line_limit, size_t more);
/* The end of a file that is read in parts, as table_parse has it: a note of the lines in CoNLL's
 * columns that were left out, in all parts; false after an error: nothing closes a list
 * (RecordCutter.closed). */
bool table_end(Diagnostics *diags, const Source *file, TableFormat format, int64_t left_out,
               bool closed);
/* How many fields the first record has; -1 after errors. */
int64_t table_width(Diagnostics *diags, Arena *arena, const Source *source, TableFormat format);
/* What a file without records is. */
static inline const char *table_without_records(TableFormat format)
{
    return table_is_json(format) ? "the table has no records"
                                 : "the table has a header and no records";
}
/* Whether the file's name says that it is a table, and of which format. */
bool table_is_named(const char *path, TableFormat *format);
/* The format of a file of that name and text. */
TableFormat table_format(const char *path, const Source *source);
/* The same of a file that has the wanted fields, as its first 64 KB show: where neither its name
 * nor its first bytes say more than that it may be TSV, CSV if its first record has the fields by
 * commas or semicolons, and not by tabs; else fastText if a line begins with its mark. `beginning`
 * has the first line whole. False: none of them fits, and a longer beginning may say more. */
bool table_find_format(Arena *arena, const char *path, const Source *beginning,
                       const char *const *fields, size_t n_fields, TableFormat *format);

#endif
