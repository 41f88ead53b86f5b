/* Characters: their properties and normal forms. Text is valid UTF-8. */
#ifndef RUNTIME_TEXT_HF_UNICODE_H
#define RUNTIME_TEXT_HF_UNICODE_H

#include "runtime/text/grow.h"

/* The character that the text begins with, and its bytes; the text is not empty. */
uint32_t uni_decode(const char *text, size_t length, size_t *size);
bool uni_put(TokenText *out, uint32_t character);
/* Appends the text with U+FFFD for each byte that is no UTF-8. */
bool uni_put_valid(TokenText *out, const char *text, size_t length);
/* The same with one U+FFFD for each longest beginning of a character (Unicode, 3.9). */
bool uni_put_lossy(TokenText *out, const char *text, size_t length);

typedef bool (*UniIs)(uint32_t character);
bool uni_is_space(uint32_t character);       /* White_Space */
bool uni_is_mark(uint32_t character);        /* M */
bool uni_is_nonspacing(uint32_t character);  /* Mn */
bool uni_is_punctuation(uint32_t character); /* P, and ASCII's symbols */
bool uni_is_number(uint32_t character);      /* N */
bool uni_is_word(uint32_t character);        /* L, M, Nd, Nl, Pc */
bool uni_is_control(uint32_t character);     /* Cc, Cf, Co, Cs but tab and ends of lines */
bool uni_is_ideograph(uint32_t character);   /* what BERT puts blanks around */

typedef enum UniForm { UNI_NFC, UNI_NFD, UNI_NFKC, UNI_NFKD } UniForm;
bool uni_put_form(TokenText *out, const char *text, size_t length, UniForm form);
bool uni_put_lower(TokenText *out, const char *text, size_t length); /* character by character */
/* Bytes of the grapheme cluster that the text begins with. */
size_t uni_grapheme(const char *text, size_t length);

#endif
