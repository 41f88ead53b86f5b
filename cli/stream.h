/* TextStream: text that is answered while it is read: a window of lines is read, then each
 * line is answered, in order. A window ends when no more input is available, so that a line
 * written to a pipe is answered at once; otherwise it has lines for many batches. The memory
 * used does not depend on the length of the text.
 *
 *   TextStream s;
 *   if (stream_open(&s, job, &options))
 *       while (stream_next(&s) && answer(&s))    // stream_put for each line of the window
 *           ;
 *   ok = stream_close(&s, ok);
 */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "base/file.h"
#include "cli/options/options.h"
#include "driver/corpus/table_stream.h"
#include "driver/run/prediction.h"
#include "runtime/data/line_reader.h"

/* WINDOW_BATCHES: how many batches a window should fill, so that lines of a batch can have similar
 * lengths. */
enum { WINDOW_BATCHES = 64, WINDOW_LINES = 16384 /* most lines of a window */ };

typedef struct StreamOptions {
    const char *output; /* NULL: standard output */
    /* records, as `predictor` reads them, in place of texts; NULL: texts. Of the following only
     * window_lines and window_values count then: a window is full once its predictions have
     * window_values values (0: no limit). An empty record has row -1; a wrong one ends the
     * stream */
    TableStream *table;
    const Predictor *predictor;
    int64_t window_values;
    /* answers are names and numbers, and no decoded text, in which U+FFFD would be reported */
    bool gives_names;
    TextList source, target; /* files or "-", read in order; target: as many for pairs, else none */
    /* the sources are those of a table's records, in place of files; NULL: they are not */
    TableStream *sources;
    const Vocabulary *vocab;
    CorpusKind kind;
    int64_t max_length; /* tokens of a row; 0: any */
    /* a window is full from window_tokens tokens on (0: no limit), or with window_lines lines (0:
     * WINDOW_LINES) */
    int64_t window_tokens, window_lines;
    int64_t line_limit; /* bytes; 0: LINE_LIMIT */
    bool same_lengths;  /* as in CorpusOptions */

    /* a bad line is reported and has row -1; the caller answers it by an empty line. False: a bad
     * line ends the stream */
    bool keep_going;
    /* warns of each source with tokens that the vocabulary lacks; false: a high share of them is
     * reported at the end */
    bool tell_unknown;
    bool keeps_lines; /* of texts: stream_line gives them */
    /* on ranks other than the first: nothing is reported and no output is opened; the caller must
     * not call stream_put */
    bool silent;
} StreamOptions;

typedef struct TextStream {
    Job *job;
    StreamOptions options;
    LineReader **source, **target; /* n_files of each; target: NULL without */
    size_t file, n_files;          /* number of the current file; how many */
    FileWriter *output;
    Corpus *corpus;       /* the rows of the window; corpus->line: the number of each, from 0 */
    int64_t first, n;     /* lines of the window: the first one's number from 0, how many */
    int64_t *row;         /* of each line of the window, its row in the corpus; -1: a bad line */
    Text kept;            /* with keeps_lines, the lines of the window, each with a NUL */
    size_t *kept_at;      /* … and where each begins */
    SidesUnknown unknown; /* tokens of all windows */
    int64_t answered;     /* lines */
    int64_t replaced;     /* answers with U+FFFD */
    Text side;            /* of `sources`: the text of a record */
    CorpusText part;      /* records: of the window, and of others around it */
    int64_t at, part_n;   /* where in the part the window ends; records of the part */
    CorpusText told_text; /* the part of the places in `told` */
    CorpusTold told;      /* of records */
    bool is_wrong;        /* the record at `at` is wrong, which has not been reported */
    bool is_over;         /* reading has ended */
    bool has_failed;      /* with an error, which is in the diagnostics */
    const char *failure;  /* why, reported after the answers before it are out; NULL: end of text */
    Loc place;            /* of the failure */
} TextStream;

/* Appends a text as one line, with \n and \r, two characters each, for its line breaks. */
void put_one_line(Text *out, const char *text);

/* How many lines of a text have U+FFFD. */
int64_t count_replaced(const char *text, size_t length);
/* Adds a note that this many answers have U+FFFD; none for 0. */
void tell_replaced(Job *job, int64_t answers);

/* Prints, if the text comes from a terminal, that it waits for lines there. */
void stream_tell_terminal(Job *job);
/* False after errors; stream_close in any case. */
bool stream_open(TextStream *stream, Job *job, const StreamOptions *options);
/* Reads the next window; false: the text has ended, or cannot be read (stream_close reports it). */
bool stream_next(TextStream *stream);
/* Record i of the window as a place for messages. */
Loc stream_record(const TextStream *stream, int64_t i);
/* Line i of the window as it was given, with options.keeps_lines; of a bad one "". */
const char *stream_line(const TextStream *stream, int64_t i);
/* Appends text to the output. */
void stream_put(TextStream *stream, const char *text, size_t length);
/* Writes out the answers of a window. False: they cannot be written, such as to a closed pipe. */
bool stream_flush(TextStream *stream);
/* Renames the output into its place, also after an error, if there are answers before it. `ok`: no
 * error so far. Returns false after any error, which is in the diagnostics. */
bool stream_close(TextStream *stream, bool ok);

#endif
