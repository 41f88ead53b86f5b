/* Progress: the reports of a training while it runs, on standard error: a line that is redrawn on a
 * terminal, plain lines elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/text.h"
#include "runtime/train/train.h"

typedef struct Progress {
    bool terminal, drawn; /* drawn: a line without its end is on the screen */
    bool counts_errors;   /* validations report the shares of wrong lines and symbols */
    const char *measure;  /* that chooses the best, as messages name it; NULL: none */
    int64_t steps;        /* in all; 0: unknown */
    double next;          /* when to draw again, or to print a line though none is due */
} Progress;

/* `words`: tokens are words, or symbols such as phonemes. `measure`: NULL without validation. */
void progress_init(Progress *progress, int64_t steps, bool words, const TrainMeasure *measure);
/* Prints a line if `due`; otherwise redraws the line on a terminal, or prints one elsewhere, if it
 * is time (`next`). */
void progress_report(Progress *progress, const TrainReport *report, bool due);
/* Ends the line on the screen, before anything else is printed. */
void progress_clear(Progress *progress);

/* "412 MB", "1.3 GB"; valid until the fourth further call of this function or the next. */
const char *bytes_text(int64_t bytes);
/* "7:12", "1:02:33"; valid as that of bytes_text. */
const char *duration_text(double seconds);

#endif
