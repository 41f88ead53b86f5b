/* What the files of this folder ask of characters and regular expressions beyond libc. Two folders
 * beside this one answer, and a program is linked with one of them:
 *
 *   hf_system   by utf8proc and PCRE2: tfc, and libraries for the system that it runs on
 *   hf_table    by a table that tfc puts beside the tokenizer.json (char_table.h): libraries for
 *               other systems, C files and WebAssembly. There are no regular expressions, no normal
 *               forms but NFD and no grapheme clusters: tokenizer_json_needs */
#ifndef RUNTIME_TEXT_HF_CHARACTERS_H
#define RUNTIME_TEXT_HF_CHARACTERS_H

#include "runtime/text/hf/pattern.h"

/* Unicode's general categories, in utf8proc's order. */
typedef enum CharCategory {
    CHAR_CN,
    CHAR_LU,
    CHAR_LL,
    CHAR_LT,
    CHAR_LM,
    CHAR_LO,
    CHAR_MN,
    CHAR_MC,
    CHAR_ME,
    CHAR_ND,
    CHAR_NL,
    CHAR_NO,
    CHAR_PC,
    CHAR_PD,
    CHAR_PS,
    CHAR_PE,
    CHAR_PI,
    CHAR_PF,
    CHAR_PO,
    CHAR_SM,
    CHAR_SC,
    CHAR_SK,
    CHAR_SO,
    CHAR_ZS,
    CHAR_ZL,
    CHAR_ZP,
    CHAR_CC,
    CHAR_CF,
    CHAR_CS,
    CHAR_CO,
    CHAR_CATEGORIES
} CharCategory;
CharCategory char_category(uint32_t character);
uint32_t char_lower(uint32_t character); /* the one small letter; the same if there is none */
/* pattern_next of a pattern with a regular expression. */
bool regex_next(const HfPattern *pattern, const char *text, size_t length, size_t *start,
                size_t *end, bool *failed);
/* The two folders have also pattern_regex and pattern_free (pattern.h), uni_put_form and
 * uni_grapheme (unicode.h). */

/* Versions of utf8proc and PCRE2, "10.42 2022-12-11" (hf_system; hf_table has
 * neither). */
const char *char_library(void);
const char *pattern_library(void);

#endif
