/* A growing piece of text (malloc-backed), for printers and messages. If memory runs out, the
 * process ends (memory_end); so code of compiled libraries builds its texts in an arena instead. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Text {
    char *data; /* NUL-terminated once anything was added; NULL before */
    size_t length, capacity;
} Text;

void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(Text *text, const char *format, va_list args);
void text_put(Text *text, const char *bytes, size_t length);
void text_string(Text *text, const char *string);
void text_integer(Text *text, int64_t value);
/* The whole number in decimal that a text is. False: it is none, or none of 64 bits; *whole is as
 * it was. text_real: the same of a finite number, as C writes it. */
bool text_whole(const char *text, int64_t *whole);
bool text_real(const char *text, double *real);
/* Writes a byte as text_quote does, itself or \", \\, \n, \t, \xNN, without a NUL; returns how many
 * bytes. */
enum { TEXT_ESCAPE = 4 };
size_t text_escape(unsigned char byte, char out[TEXT_ESCAPE]);
/* Appends the text in double quotes, with each byte as text_escape writes it. */
void text_quote(Text *text, const char *bytes);
/* How many bytes at the beginning of a text are a character that a terminal shows, or a tab. 0: the
 * first byte is to be escaped (text_escape_invisible): it is not UTF-8, or begins a control
 * character (C0, a line break too; DEL; C1) or one that changes the order of the text (U+061C,
 * U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069). */
size_t text_visible_length(const char *bytes, size_t available);
/* Writes such a byte as \n, or \xNN, without a NUL; returns how many bytes. */
size_t text_escape_invisible(char byte, char out[TEXT_ESCAPE]);
/* Appends a text so that a terminal can show it: what text_visible_length counts as it is, line
 * breaks, and all other bytes as \xNN. Lines after the first begin with a blank (two are added if
 * there is none), so that no line looks like a message of its own. */
void text_visible(Text *text, const char *bytes, size_t length);
/* text_visible; of more than TEXT_WHOLE bytes only the first 400 and the last 300, with " … "
 * between. */
enum { TEXT_WHOLE = 700 };
void text_visible_cut(Text *text, const char *bytes, size_t length);
/* A name escaped as by text_visible, but with line breaks as \n, for use within a line. In the
 * arena, or `name` itself if there is nothing to escape or, in an arena that tells so, memory ran
 * out. */
const char *text_visible_name(Arena *arena, const char *name);
/* A word as it is typed in a shell: itself, or in single quotes. In the arena, or `word` itself. */
const char *text_shell_word(Arena *arena, const char *word);
/* Appends the shortest decimal that reads back as the same double ("1", "0.1", "inf"). */
void text_number(Text *text, double value);
/* Appends "1.30 GB", "412 MB", "0.5 MB" or "1.2 kB": powers of 1000. */
void text_bytes(Text *text, int64_t bytes);
/* Appends seconds as "7:12" or "1:02:33". */
void text_duration(Text *text, double seconds);
/* Appends a text for HTML, XML and their attributes: <, >, & and " as entities, bytes below 32
 * other than line feeds as blanks. */
void text_markup(Text *text, const char *string);
/* Appends bytes as base64 (RFC 4648). */
void text_base64(Text *text, const void *bytes, size_t length);
void text_free(Text *text);
/* The text as a string of the arena ("" if nothing was added); frees the text, which is empty
 * then. */
char *text_keep(Arena *arena, Text *text);

/* Bytes of the UTF-8 character that a text of `available` bytes begins with (1–4); 0 where it
 * begins with none. Overlong forms, surrogates and values past U+10FFFF are none (RFC 3629). */
size_t utf8_length(const char *text, size_t available);
/* Where the character begins that has the byte `at`. */
size_t utf8_start(const char *text, size_t at);
/* Whether n bytes can begin a longer UTF-8 character. */
bool utf8_is_begun(const char *text, size_t n);

/* How many characters (code points) a UTF-8 text has. */
size_t text_letters(const char *text);

/* The form of a word that follows the number n: `one` if n is 1, else `many`, such as "" and "s",
 * "is" and "are". */
const char *text_plural(int64_t n, const char *one, const char *many);

/* What a file holds in place of its content, with what to do: a Git LFS pointer, a page of HTML.
 * NULL: neither. */
const char *text_stand_in(const void *bytes, size_t length);

/* Whether the text ends with `end`. */
bool text_ends(const char *text, const char *end);
/* "a, b": n words, at least 1; in the arena. */
const char *text_join(Arena *arena, const char *const *words, size_t n);
/* "[2, 3]": n numbers; in the arena. */
const char *text_list(Arena *arena, const int64_t *numbers, int n);

/* What to add to a message about an unknown name: "; did you mean 'near'?" with the nearest of
 * the n candidates by edit distance (insert, delete, replace, swap; case does not count), if it
 * has more than three fifths of the letters. If none is within one edit:
 * "; did you mean 'a', 'b' or 'c'?" with those that begin with the name, if there are 1 to 8. ""
 * if none is close either. `quote` stands around names. In the arena. */
const char *text_suggest(Arena *arena, const char *quote, const char *name,
                         const char *const *candidates, size_t n);
/* text_suggest or, where it finds none, all names: "; there are 'a', 'b' and 'c'". */
const char *text_known(Arena *arena, const char *quote, const char *name, const char *const *names,
                       size_t n);

#endif
