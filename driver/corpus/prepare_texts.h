/* The texts that tfc prepare reads: their files, and how they are cut into shards. */
#ifndef DRIVER_CORPUS_PREPARE_TEXTS_H
#define DRIVER_CORPUS_PREPARE_TEXTS_H

#include "driver/corpus/prepare.h"
#include "runtime/data/line_reader.h"

/* TextCut: the lines of a shard: where they begin, and how many. */
typedef struct TextCut {
    int64_t line, lines; /* the first one, from 0; how many */
    int64_t at[2];       /* bytes before them, of each file */
} TextCut;

/* TextPart: one text: n files, 1 or 2; two have the same number of lines. */
typedef struct TextPart {
    int n;
    bool has_columns;     /* its lines are pairs with a tab between them */
    bool is_made;         /* read[0] is a temporary file, made from a translation memory */
    const char *read[2];  /* the files that are read */
    PreparedText text[2]; /* complete after prepare_texts */
    TextCut *cuts;        /* malloc'd */
    int64_t n_cuts, room; /* room: private */
    const char *problem;  /* a file that could not be read; NULL: none */
    int error;            /* why, an errno; ESPIPE: it is not a regular file */
} TextPart;

typedef struct TextParts {
    TextPart *data;
    int n;
} TextParts;

/* Lists the texts that the options name, hashes them, counts their lines and cuts them into shards.
 * False after errors. prepare_texts_free in any case: it frees memory that is not in the job's
 * arena, and removes temporary files. */
bool prepare_texts(Job *job, const PrepareOptions *options, TextParts *parts);
void prepare_texts_free(TextParts *parts);

/* PairReader: reads the lines of a part, from a cut on. */
typedef struct PairReader {
    const TextPart *part;
    LineReader *files[2];
} PairReader;

/* Opens a part at the first line of a cut. False after an error; pair_reader_close in any case. */
bool pair_reader_open(Diagnostics *diags, const TextPart *part, const TextCut *from,
                      int64_t line_limit, PairReader *reader);
/* Reads the next line, of both sides or of the only one; `sides` are valid until the next call.
 * False after an error; the end of the text is an error, since callers know how many lines there
 * are. */
bool pair_reader_next(Diagnostics *diags, PairReader *reader, Line sides[2]);
void pair_reader_close(PairReader *reader);

/* A file with its text, so that messages can show a line; without the text if the file cannot be
 * read or has more than 64 MiB. In the arena. */
const Source *text_quoted(Arena *arena, const char *path);

#endif
