/* Shift: finds pairs whose sides are shifted against each other, because one side has lost a line
 * or has one too many: a source then fits the target of the pair before or after better than its
 * own. Two measures show it, each over the pairs added since the last judgement (500, at the end of
 * the text fewer): the correlation of the lengths of both sides, and how many pairs have a name or
 * number in common. */
#ifndef DRIVER_CORPUS_SURVEY_SHIFT_H
#define DRIVER_CORPUS_SURVEY_SHIFT_H

#include "driver/corpus/survey/digest.h"

enum { SHIFT_SHIFTS = 3, SHIFT_WORDS = 16 };

/* ShiftLine: what is kept of a side's line. */
typedef struct ShiftLine {
    double length;               /* log(1 + its characters) */
    uint64_t words[SHIFT_WORDS]; /* hashes of its first names and numbers */
    int n_words;
} ShiftLine;

/* ShiftSums: sums over each source and the target `shift` pairs after its own: for the correlation
 * of their lengths x and y, and how often both have a name or number in common. */
typedef struct ShiftSums {
    double n, x, y, xx, yy, xy, common;
} ShiftSums;

/* Shift: begins with zeros. */
typedef struct Shift {
    ShiftLine before[2]; /* of the previous pair */
    bool has_before;
    int64_t pairs;                /* since the last judgement */
    ShiftSums sums[SHIFT_SHIFTS]; /* by shift: -1, 0, 1 */
} Shift;

/* ShiftVerdict:
 *   by              1: sources fit the targets of the next pair; -1: those of the pair before; 0:
 *                   neither fits clearly better than their own, or there are fewer than 30 pairs
 *   pairs           how many were judged
 *   own, other      correlation of the sources' lengths with those of their own targets, and with
 *                   those of the targets `by` pairs further; `other` is 0 if `by` is
 *   own_common, other_common
 *                   how many sources have a name or number in common with their own target, and
 *                   with the target `by` pairs further; other_common is 0 if `by` is */
typedef struct ShiftVerdict {
    int by;
    int64_t pairs;
    double own, other;
    int64_t own_common, other_common;
} ShiftVerdict;

/* Adds a pair. True: 500 were added since the last judgement, to be judged by shift_judge. */
bool shift_add(Shift *shift, const Digest digests[2]);
/* Judges the pairs added since the last call. */
ShiftVerdict shift_judge(Shift *shift);

#endif
