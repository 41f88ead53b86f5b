/* TerminalText: text on its way to a terminal, which obeys some characters instead of showing them.
 * Names of strangers' models, and texts that models make, may have such characters. What
 * text_visible_length counts and line breaks go through; other bytes become \xNN. A character may
 * be split between two pieces of the text. No errors; allocates nothing.
 *
 *   TerminalText shown = {0};
 *   char out[TERMINAL_ROOM(sizeof piece)];
 *   size_t n = terminal_show(&shown, piece, sizeof piece, out);     // for each piece
 *   n = terminal_rest(&shown, out);                                 // at the end */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include "base/text.h"

typedef struct TerminalText {
    char begun[4]; /* n_begun bytes of a character whose others are still to come */
    size_t n_begun;
} TerminalText;

/* Room for what `bytes` bytes become, at most. */
#define TERMINAL_ROOM(bytes) (TEXT_ESCAPE * ((bytes) + 4))

/* Writes how a piece is shown; returns how many bytes. */
size_t terminal_show(TerminalText *text, const char *piece, size_t size, char *out);
/* The same of a character whose end never came. */
size_t terminal_rest(TerminalText *text, char *out);

#endif
