/* Text that is answered as it is read: a window of lines at a time, and then, in order, an
 * answer for each. A window ends where no more input is there yet, so that a line written
 * into a pipe is answered at once, and otherwise holds lines for many batches. What is in
 * memory does not depend on how much there is to read.
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
#include "runtime/data/corpus.h"
#include "runtime/data/line_reader.h"

/* Batches that a window is to have, so that each can be of like lengths. */
enum { WINDOW_BATCHES = 64, WINDOW_LINES = 16384 /* at most */ };

typedef struct StreamOptions {
    TextList source, target; /* files or "-", read in order; target: of pairs as many, else none */
    const char *output;          /* NULL: standard output */
    const Vocabulary *vocab;
    CorpusKind kind;
    int64_t max_length;                  /* tokens of a row; 0: any */
    int64_t window_tokens, window_lines; /* of a window; 0: WINDOW_LINES, any tokens */
    int64_t line_limit;                  /* bytes; 0: LINE_LIMIT */
    bool same_lengths; /* as in CorpusOptions */
    bool keep_going;   /* bad lines are told, answered by an empty line, and passed over */
    bool tell_unknown; /* warns of each line that the vocabulary lacks tokens for; else the end tells
                        * their share */
    bool silent;       /* of a rank behind the first: nothing is told, or written */
} StreamOptions;

typedef struct TextStream {
    Job *job;
    StreamOptions options;
    LineReader **source, **target; /* n_files of each; target: NULL without */
    size_t file, n_files;          /* the current one */
    FileWriter *output;
    Corpus *corpus;      /* the rows of the window; corpus->line: the number of each, from 0 */
    int64_t first, n;    /* lines of the window: the first one's number from 0, how many */
    int64_t *row;        /* of each, in the corpus; -1: a bad line */
    SidesUnknown unknown; /* tokens of all windows */
    int64_t answered;    /* lines */
    int64_t replaced;    /* answers with U+FFFD */
    bool is_over;        /* nothing is read any more */
    const char *failure; /* why, told once the answers before it are out; NULL: the end */
    Loc place;           /* … where */
} TextStream;

/* Appends a text that is one line: "\\n" and "\\r" stand for line breaks within. */
void put_one_line(Text *out, const char *text);

/* Whether a text has U+FFFD. */
bool has_replaced(const char *text, size_t length);
/* The note that so many answers have it; none for 0. */
void tell_replaced(Job *job, int64_t answers);

/* False after errors; stream_close in any case. */
bool stream_open(TextStream *stream, Job *job, const StreamOptions *options);
/* The next window; false: there is none. */
bool stream_next(TextStream *stream);
/* Text that goes out. */
void stream_put(TextStream *stream, const char *text, size_t length);
/* The window is answered: all that was put is given to the reader now. False: nobody takes
 * it any more. */
bool stream_flush(TextStream *stream);
/* Puts the output in its place, with what was answered before an error, too. `ok`: of the
 * answers; false after an error of any kind, which is in the diagnostics. */
bool stream_close(TextStream *stream, bool ok);

#endif
