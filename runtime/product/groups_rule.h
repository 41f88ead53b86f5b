/* The rule by which the terms of a group become integers: its scale and minimum (groups.h). In 4
 * bits it is searched for. The first candidate is the scale that just holds all terms:
 *
 *   4 bits              m / -8, m the first term of the greatest magnitude
 *   4 bits, a minimum   the range / 15, and the least term
 *
 * The others clip some terms, so that the rest is rounded in finer steps, or have m at another
 * integer: m / -t for a few t from 7 to 9; the range / 16 around the same middle. The scale, and
 * minimum, of the least squares for the integers of the best one so far are candidates, too. The
 * rule is the one of the least sum of squared errors, and the first candidate where that is as
 * good. Sums are in a fixed order: a group has one rule, whoever asks, on every processor.
 *
 * At last come grids, for terms that were integers times a scale before, as those of a file of 4
 * bits: m / -t for t up to 6, and the range / t for t up to 14, if all terms lie within a sixteenth
 * of a step of its integers.
 *
 * So a group whose terms are integers times an f16, plus an f16 minimum, is found again as it is,
 * and what was rounded stays as it is. Of scales that f16 does not have (a Q4_K's) it loses what
 * rounding them to f16 does. Groups whose first candidate lies below f16's normal
 * numbers, and those that are not finite, keep it. Of 8 bits the greatest magnitude / 127 is the
 * scale: there is no search, which would gain next to nothing. */
#ifndef RUNTIME_PRODUCT_GROUPS_RULE_H
#define RUNTIME_PRODUCT_GROUPS_RULE_H

#include "runtime/product/form.h"

/* GroupScale: of a group, as f16; not finite if a term is not, or if they are too large. */
typedef struct GroupScale {
    uint16_t scale, minimum;
} GroupScale;

/* GroupRule: terms become integers as (x - minimum) · inverse, within the bounds. */
typedef struct GroupRule {
    GroupScale of;
    float inverse, minimum;
} GroupRule;

/* GroupBounds: what an integer may be, with what is added to it (form_offset). */
typedef struct GroupBounds {
    int32_t offset, least, most;
} GroupBounds;

GroupBounds group_bounds(Quant quant);
/* Of n terms of x, at most GROUP_TERMS, `step` apart; none have a scale and a minimum of 0. */
GroupRule group_rule(Quant quant, int64_t n, const float *x, int64_t step);

#endif
