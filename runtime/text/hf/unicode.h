/* Characters: their properties and normal forms. Text is valid UTF-8, unless said otherwise. A
 * function that appends returns false if memory ran out; it may have appended a part by then. */
#ifndef RUNTIME_TEXT_HF_UNICODE_H
#define RUNTIME_TEXT_HF_UNICODE_H

#include "runtime/text/grow.h"

/* The first character of a text that is not empty; *size: its number of bytes. */
uint32_t uni_decode(const char *text, size_t length, size_t *size);
bool uni_put(TokenText *out, uint32_t character);
/* Appends any bytes, with U+FFFD for each byte that is not valid UTF-8. */
bool uni_put_valid(TokenText *out, const char *text, size_t length);
/* The same with one U+FFFD for each maximal subpart of an ill-formed sequence (Unicode, 3.9). */
bool uni_put_lossy(TokenText *out, const char *text, size_t length);

typedef bool (*UniIs)(uint32_t character);
/* Whether a character has the property or one of Unicode's general categories named here. */
bool uni_is_space(uint32_t character);       /* White_Space */
bool uni_is_mark(uint32_t character);        /* M */
bool uni_is_nonspacing(uint32_t character);  /* Mn */
bool uni_is_punctuation(uint32_t character); /* P, and ASCII's symbols */
bool uni_is_number(uint32_t character);      /* N */
bool uni_is_word(uint32_t character);        /* L, M, Nd, Nl, Pc */
bool uni_is_control(uint32_t character);     /* Cc, Cf, Co, Cs, but not tab, LF and CR */
bool uni_is_ideograph(uint32_t character);   /* ideographs that BERT separates by blanks */

typedef enum UniForm { UNI_NFC, UNI_NFD, UNI_NFKC, UNI_NFKD } UniForm;
bool uni_put_form(TokenText *out, const char *text, size_t length, UniForm form);
bool uni_put_lower(TokenText *out, const char *text, size_t length); /* character by character */
/* Bytes of the first grapheme cluster of the text. */
size_t uni_grapheme(const char *text, size_t length);

#endif
