/* Quant: a way to round weights to integers, by number and by word; its rows are in quants.def. */
#ifndef BASE_QUANTS_H
#define BASE_QUANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum Quant {
    QUANT_NONE, /* weights are as they are */
#define QUANT(NAME, ...) QUANT_##NAME,
#include "base/quants.def"
    QUANT_COUNT
} Quant;

typedef struct QuantInfo {
    const char *word; /* of QUANT_NONE NULL */
    int64_t bits, group;
    bool has_minimum;
} QuantInfo;

extern const QuantInfo quant_infos[QUANT_COUNT]; /* (quants.c) */

static inline const QuantInfo *quant_info(Quant quant) { return &quant_infos[quant]; }

/* QUANT_NONE: no row has this word. */
static inline Quant quant_of_word(const char *word)
{
    for (int q = QUANT_NONE + 1; q < QUANT_COUNT; q++)
        if (!strcmp(quant_info((Quant)q)->word, word))
            return (Quant)q;
    return QUANT_NONE;
}

/* All words, for help and messages; a test compares them with the rows. */
#define QUANT_WORDS "int8|int4|q8_0|q4_1"

#endif
