/* What is wrong with the characters of a line. */
#ifndef DRIVER_CORPUS_SURVEY_ENCODING_H
#define DRIVER_CORPUS_SURVEY_ENCODING_H

#include "runtime/data/lines.h"

#include <stdbool.h>

/* As the first rows of survey.def.
 *
 * Mojibake is a character that stands for a byte from C2 to F4, and behind it as many as that byte
 * begins a UTF-8 character of, each of which stands for a byte from 80 to BF in Latin-1 or CP1252:
 * "Ã¼", "â€™". What may well stand behind such a letter, as in „groß“ or «là », is none. */
typedef enum EncodingFault {
    ENCODING_NOT_UTF8,
    ENCODING_MOJIBAKE,
    ENCODING_REPLACEMENT,
    ENCODING_CONTROL,
    ENCODING_MARKUP,
    ENCODING_FAULTS
} EncodingFault;

#define ENCODING_NONE SIZE_MAX

/* At which byte each first is; ENCODING_NONE: nowhere. */
void encoding_look(const Line *line, size_t at[ENCODING_FAULTS]);
/* Letters that have a mark of their own behind them, though Unicode has both in one piece (NFD), and such pieces (NFC). */
typedef struct EncodingForms {
    size_t decomposed; /* at which byte the first is; ENCODING_NONE: nowhere */
    bool composed;
} EncodingForms;
EncodingForms encoding_forms(const Line *line);
/* The character that a text begins with, and its bytes; a byte that is no UTF-8 is one, as U+FFFD. */
uint32_t encoding_decode(const char *text, size_t length, size_t *size);
bool encoding_is_control(uint32_t character);

#endif
