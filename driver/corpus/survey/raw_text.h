/* Texts line by line with any bytes, also those that line_reader.h refuses. What is compressed is
 * unpacked; only a text that begins as another format or encoding (text_foreign) is an error.
 *
 * A pipe or standard input is copied to a temporary file, so that it can be read twice. A
 * translation memory or a table of pairs is read whole into memory. */
#ifndef DRIVER_CORPUS_SURVEY_RAW_TEXT_H
#define DRIVER_CORPUS_SURVEY_RAW_TEXT_H

#include "base/record_cutter.h"
#include "driver/corpus/survey/survey.h"

/* RawLine: a line without its end; the first line of a file also without a byte order mark. Valid
 * until the next line is read. */
typedef struct RawLine {
    Line line;
    bool has_mark, has_cr; /* the line had a byte order mark; it ended with CR LF */
    bool is_cut;           /* the line was longer than the limit, and is cut to it */
} RawLine;

/* RawPair: line `number` (from 1) of a text, with both sides or only the first; or a record by the
 * text that is shown of it.
 *   file   of a record, one of several files; else NULL */
typedef struct RawPair {
    int64_t number;
    const char *file;
    RawLine sides[2];
    bool has_tab; /* false: a line of a file with columns has no tab; its second side is empty */
} RawPair;

/* RawFile: the files of one side, read one after the other.
 *   files     the lines of each; of pairs that were parsed, their rows in memory
 *   numbers   of each file: on which of its lines, from 0, each line is; NULL: on the same
 *   lines     read so far, of all files; those of the current one: its cutter's */
typedef struct RawFile {
    const char **names;
    RecordCutter *files;
    const int64_t **numbers;
    int64_t lines;
} RawFile;

/* RawText: a text that is open. */
typedef struct RawText {
    Job *job;
    bool is_pairs, has_columns;
    size_t limit;
    RawFile files[2]; /* of both sides, or only of the first */
    size_t at, n;     /* the current file of n */
} RawText;

/* Opens a text. False after an error; raw_close in any case. */
bool raw_open(Job *job, const SurveyText *text, const SurveyOptions *options, RawText *raw);
/* Reads the next line. False at the end, and after an error, which is in the job's diagnostics: one
 * side ends before the other, or a file cannot be read. */
bool raw_next(RawText *raw, RawPair *pair);
/* Back to the first line. False after an error. */
bool raw_rewind(RawText *raw);
/* The names of the files of side k, separated by commas. */
const char *raw_names(const RawText *raw, int k);
void raw_close(RawText *raw);

#endif
