/* A table of what is known of characters: general categories, combining classes, small letters and
 * canonical decompositions, some 60 kB. char_table_make (hf_system) makes it with utf8proc, and
 * hf_table reads it where there is no utf8proc. */
#ifndef RUNTIME_TEXT_HF_CHAR_TABLE_H
#define RUNTIME_TEXT_HF_CHAR_TABLE_H

#include "runtime/text/hf/characters.h"

/* Parts of the table, lists of uint32_t that ascend by their characters:
 *   CATEGORIES  first << 5 | category: of all from `first` to the next entry
 *   CLASSES     first << 8 | combining class, likewise
 *   LOWERS      pairs: a character, its small letter
 *   WHOLES      pairs: a character that decomposes, place in LETTERS << 3 | number; no Hangul
 *   LETTERS     full canonical decompositions */
typedef enum CharPart {
    CHAR_PART_CATEGORIES,
    CHAR_PART_CLASSES,
    CHAR_PART_LOWERS,
    CHAR_PART_WHOLES,
    CHAR_PART_LETTERS,
    CHAR_PARTS
} CharPart;
enum { CHAR_CATEGORY_BITS = 5, CHAR_CLASS_BITS = 8, CHAR_COUNT_BITS = 3 };

/* CharTable: the parts, in bytes that outlive it. As bytes it is their lengths, then these. */
typedef struct CharTable {
    const uint32_t *parts[CHAR_PARTS];
    uint32_t counts[CHAR_PARTS];
} CharTable;

/* Reads a table of char_table_make at a multiple of four; gives its number of bytes. */
size_t char_table_open(CharTable *table, const void *bytes);
CharCategory char_table_category(const CharTable *table, uint32_t character);
uint32_t char_table_lower(const CharTable *table, uint32_t character);
/* Appends the normal form NFD (Unicode Standard Annex 15). False: memory ran out. */
bool char_table_put_nfd(const CharTable *table, TokenText *out, const char *text, size_t length);

/* Appends the table's bytes (hf_system/characters.c). False: memory ran out. */
bool char_table_make(TokenText *out);

#endif
