/* IdRange: which whole numbers an input may hold. Ids name rows of a table and begin at 0; labels
 * name classes, and those below 0, where they are allowed, say that there is no label.
 *
 *   const IdRange *broken = id_ranges_broken(&ranges, element, value);
 *   if (broken)                                        // NULL: the value is right
 *       … id_range_noun(broken) …, id_range_text(broken, text) … */
#ifndef BASE_ID_RANGE_H
#define BASE_ID_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* least ≤ value < below, for elements whose number modulo `period` is at least `from` and below
 * `to`. Elements are counted in the order in which an input is stored, or in a row of it: the
 * period divides how many values a row, or a position, has. A range of all elements has period 1,
 * from 0, to 1. least is INT32_MIN where anything below 0 is allowed. labels, for messages: 1 if
 * the values are labels alone, else 0. */
typedef struct IdRange {
    int64_t least, below;
    int64_t period, from, to, labels;
} IdRange;

/* The ranges of one input, each of other elements or of all. n 0: any values are allowed. */
typedef struct IdRanges {
    int64_t n;
    const IdRange *at;
} IdRanges;

static inline bool id_range_is_whole(const IdRange *range) { return range->period == 1; }
static inline bool id_range_concerns(const IdRange *range, int64_t element)
{
    const int64_t at = id_range_is_whole(range) ? 0 : element % range->period;
    return at >= range->from && at < range->to;
}
/* The first range that an element breaks with this value; NULL: none. */
static inline const IdRange *id_ranges_broken(const IdRanges *ranges, int64_t element, double value)
{
    for (int64_t i = 0; i < ranges->n; i++) {
        const IdRange *range = &ranges->at[i];
        if ((value < (double)range->least || value >= (double)range->below) &&
            id_range_concerns(range, element))
            return range;
    }
    return NULL;
}

/* "id" or "label". */
const char *id_range_noun(const IdRange *range);
/* Writes "ids go from 0 to 39" or, with `least` below 0, "labels go from 0 to 3, and below 0 there
 * is none". */
enum { ID_RANGE_TEXT = 120 };
const char *id_range_text(const IdRange *range, char out[ID_RANGE_TEXT]);

#endif
