/* Texts line by line with whatever bytes they have: what line_reader.h refuses is here the result.
 *
 * What is no regular file (a pipe) is copied to a temporary file, so that it can be read twice. */
#ifndef DRIVER_CORPUS_SURVEY_RAW_TEXT_H
#define DRIVER_CORPUS_SURVEY_RAW_TEXT_H

#include "driver/corpus/survey/survey.h"

#include <stdio.h>

/* RawLine: without its end and, the first, without a byte order mark; valid until the next. */
typedef struct RawLine {
    Line line;
    bool has_mark, has_cr; /* a byte order mark stood before it; it ended with CR LF */
    bool is_cut;           /* it goes on after the limit */
} RawLine;

/* RawPair: line `number` (from 1) of a text: of both sides, or of the first alone. */
typedef struct RawPair {
    int64_t number;
    RawLine sides[2];
    bool has_tab; /* of columns: else the second side is empty */
} RawPair;

/* RawFile: files of a side, one read after the other. */
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
    RawFile files[2]; /* of both sides as many, or of the first alone */
    size_t at, n;     /* the current file of n */
} RawText;

/* False after an error; to be closed in any case. */
bool raw_open(Job *job, const SurveyText *text, const SurveyOptions *options, RawText *raw);
/* The next line. False at the end, and after an error of the job: a side that ends before the
 * other, a file that cannot be read. */
bool raw_next(RawText *raw, RawPair *pair);
void raw_rewind(RawText *raw);
/* The files of side k, with commas between their names. */
const char *raw_names(const RawText *raw, int k);
void raw_close(RawText *raw);

#endif
