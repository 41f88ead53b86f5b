/* The texts that tfc prepare reads: where they lie and how they are cut. */
#ifndef DRIVER_CORPUS_PREPARE_TEXTS_H
#define DRIVER_CORPUS_PREPARE_TEXTS_H

#include "driver/corpus/prepare.h"
#include "runtime/data/line_reader.h"

/* TextCut: where the lines of a shard begin, and how many they are. */
typedef struct TextCut {
    int64_t line, lines; /* of the text, from 0 */
    int64_t at[2];       /* bytes before them, of each file */
} TextCut;

/* TextPart: one text: a file, or two of as many lines. */
typedef struct TextPart {
    int n;
    bool has_columns;     /* its lines are pairs with a tab between them */
    bool is_made;         /* read[0] was made for this call, from a translation memory */
    const char *read[2];  /* the files that are read: its own, or what a translation memory became */
    PreparedText text[2]; /* complete after prepare_scan */
    TextCut *cuts;        /* malloc'd */
    int64_t n_cuts, room; /* room: private */
    const char *problem;  /* the file that could not be read, and its errno; NULL: all were */
    int error;
} TextPart;

typedef struct TextParts {
    TextPart *data;
    int n;
} TextParts;

/* The parts that the options name; counts, hashes and cuts them. False after errors.
 * prepare_texts_free frees what is not the job's, and removes files that were made. */
bool prepare_texts(Job *job, const PrepareOptions *options, TextParts *parts);
void prepare_texts_free(TextParts *parts);

/* PairReader: a part's lines from a place on. */
typedef struct PairReader {
    const TextPart *part;
    LineReader *files[2];
} PairReader;

/* False after an error. */
bool pair_reader_open(Diagnostics *diags, const TextPart *part, const TextCut *from, int64_t line_limit,
                      PairReader *reader);
/* The next line, of both sides or of the one; valid until the next call. False after an error, as at
 * the end, where none is expected. */
bool pair_reader_next(Diagnostics *diags, PairReader *reader, Line sides[2]);
void pair_reader_close(PairReader *reader);

/* The file with its text, so that a message shows the line; one that is too large to read for that without. */
const Source *text_quoted(Arena *arena, const char *path);

#endif
