/* Bytes of text as characters, each shown or escaped. */
#include "base/terminal.h"

#include <string.h>

/* Shows one character, or escapes one byte, of those begun; returns the end of `out`. */
static char *show_first(TerminalText *text, char *out)
{
    const size_t visible = text_visible_length(text->begun, text->n_begun),
                 size = visible ? visible : 1;
    if (visible || *text->begun == '\n') {
        memcpy(out, text->begun, size);
        out += size;
    } else
        out += text_escape_invisible(*text->begun, out);
    text->n_begun -= size;
    memmove(text->begun, text->begun + size, text->n_begun);
    return out;
}

size_t terminal_show(TerminalText *text, const char *piece, size_t size, char *out)
{
    char *end = out;
    for (size_t i = 0; i < size; i++) {
        text->begun[text->n_begun++] = piece[i];
        while (text->n_begun && !utf8_is_begun(text->begun, text->n_begun))
            end = show_first(text, end);
    }
    return (size_t)(end - out);
}

size_t terminal_rest(TerminalText *text, char *out)
{
    char *end = out;
    while (text->n_begun)
        end = show_first(text, end);
    return (size_t)(end - out);
}
