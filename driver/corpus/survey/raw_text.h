/* Texts line by line with any bytes, also those that line_reader.h refuses.
 *
 * A pipe is copied to a temporary file, so that it can be read twice. */
#ifndef DRIVER_CORPUS_SURVEY_RAW_TEXT_H
#define DRIVER_CORPUS_SURVEY_RAW_TEXT_H

#include "driver/corpus/survey/survey.h"

#include <stdio.h>

/* RawLine: a line without its end and without a byte order mark; valid until the next line is
 * read. */
typedef struct RawLine {
    Line line;
    bool has_mark, has_cr; /* it had a byte order mark; it ended with CR LF */
    bool is_cut;           /* it is longer than the limit, and cut */
} RawLine;

/* RawPair: line `number` (from 1) of a text, with both sides or only the first. */
typedef struct RawPair {
    int64_t number;
    RawLine sides[2];
    bool has_tab; /* of a file with columns; without a tab the second side is empty */
} RawPair;

/* RawFile: the files of one side, read one after the other. */
typedef struct RawFile {
    const char **names;
    FILE **files;
    char *data; /* the line */
    size_t length, capacity;
    int64_t lines;      /* of all files */
    int64_t file_lines; /* of the current one */
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
void raw_rewind(RawText *raw);
/* The names of the files of side k, separated by commas. */
const char *raw_names(const RawText *raw, int k);
void raw_close(RawText *raw);

#endif
