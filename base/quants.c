/* The table of ways to round weights: one in each program and library. */
#include "base/quants.h"

const QuantInfo quant_infos[QUANT_COUNT] = {
#define QUANT(NAME, word, bits, group, has_minimum) \
    [QUANT_##NAME] = {word, bits, group, has_minimum},
#include "base/quants.def"
};
