/* Printing to terminals: whatever a program prints on standard output or standard error is shown as
 * TerminalText (base/terminal.h) where that is a terminal, and goes as it is into files and pipes.
 * No caller has to think of it: the streams themselves are replaced. */
#ifndef BASE_PRINTING_H
#define BASE_PRINTING_H

#include <stdbool.h>

/* To be called once, before anything is printed. False: memory ran out. */
bool printing_guard(void);
/* Draws the line of status on standard error, which is a terminal, in place of the one before. "":
 * removes it. The line has no line breaks and fits the terminal. Threads may call it. */
void printing_status(const char *line);
/* Whether messages on standard error are coloured: it is a terminal, NO_COLOR is not set
 * (no-color.org), and TERM is neither absent nor "dumb". */
bool printing_has_colours(void);
/* Sets the colour of what is printed on standard error from now on, such as "1;31" (bold, red), or
 * by "" that of the terminal. Only if printing_has_colours. */
void printing_colour(const char *colour);

#endif
