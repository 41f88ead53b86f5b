/* TextWindows: the texts of text_files.h, of whose lines only those of a window are cut out at a
 * time. The bytes of the texts are in memory, a line's place (16 bytes on each side) for the
 * window's lines alone: a text of short lines takes little more than its size.
 *
 *   TextWindows *w = text_windows_open(job, &files, NULL, line_limit);
 *   while (w && text_windows_next(w, most, &text, &n) && n)   // n lines, valid until the next call
 *       ;
 *   text_windows_close(w);
 *
 * A window has as many lines as are wanted, whatever files they are in; only the last has fewer. */
#ifndef DRIVER_CORPUS_TEXT_WINDOWS_H
#define DRIVER_CORPUS_TEXT_WINDOWS_H

#include "driver/corpus/text_files.h"
#include "runtime/data/corpus.h"

typedef struct TextWindows TextWindows;

/* Reads the files, as text_files_read does. NULL after an error: a file cannot be read, paired
 * files have different numbers of lines, or there is no line. Lines are checked as they are cut
 * out. */
TextWindows *text_windows_open(Job *job, const TextFiles *files, const char *languages,
                               int64_t line_limit);
/* The next lines, at most `most`; sources alone, or with as many targets. *n 0: there are none
 * left. False after an error. */
bool text_windows_next(TextWindows *windows, int64_t most, CorpusText *text, int64_t *n);
/* Back to the first line. */
void text_windows_rewind(TextWindows *windows);
/* Keeps the lines that were given last as long as the job. */
void text_windows_keep(TextWindows *windows);
void text_windows_close(TextWindows *windows); /* NULL is allowed */

#endif
