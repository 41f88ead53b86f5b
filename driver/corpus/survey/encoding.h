/* What is wrong with the characters of a line. */
#ifndef DRIVER_CORPUS_SURVEY_ENCODING_H
#define DRIVER_CORPUS_SURVEY_ENCODING_H

#include "runtime/data/lines.h"

#include <stdbool.h>

/* EncodingFault: the first rows of survey.def, in their order.
 *
 * Mojibake is UTF-8 that was read as Latin-1 or CP1252: a character whose byte in that encoding is
 * C2 … F4, which begins a UTF-8 character, followed by as many characters with a byte 80 … BF as
 * that UTF-8 character needs: "Ã¼", "â€™". Sequences that texts really have, as in „groß“ or «là »,
 * are not reported as mojibake. */
typedef enum EncodingFault {
    ENCODING_NOT_UTF8,
    ENCODING_MOJIBAKE,
    ENCODING_REPLACEMENT,
    ENCODING_CONTROL,
    ENCODING_MARKUP,
    ENCODING_FAULTS
} EncodingFault;

#define ENCODING_NONE SIZE_MAX

/* Finds the byte at which each fault first occurs; ENCODING_NONE: it does not. In a line with
 * mojibake, control characters are not reported: they are likely to be part of the mojibake. */
void encoding_look(const Line *line, size_t at[ENCODING_FAULTS]);
/* EncodingForms: whether a line has letters of form NFD: an ASCII letter followed by a combining
 * mark (of the usual 14) where Unicode has one character for both; and whether it has letters that
 * are taken for NFC: those of Latin-1, Latin Extended-A and Latin Extended Additional. */
typedef struct EncodingForms {
    size_t decomposed; /* byte of the first NFD letter; ENCODING_NONE: there is none */
    bool composed;
} EncodingForms;
EncodingForms encoding_forms(const Line *line);
/* The first character of a text of at least one byte; *size: its bytes. A byte that is not valid
 * UTF-8 is U+FFFD. */
uint32_t encoding_decode(const char *text, size_t length, size_t *size);
/* Control characters other than the tab, line and paragraph separators, byte order marks. */
bool encoding_is_control(uint32_t character);

#endif
