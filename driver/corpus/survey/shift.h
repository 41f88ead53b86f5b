/* Shift: finds lines of two sides that are shifted against each other, because one side has lost a
 * line: a source then fits the target of the line before or after better than its own. Two measures
 * show it, each over 500 pairs in a row: the correlation of the lengths of both sides, and the
 * words that both have, such as names and numbers. */
#ifndef DRIVER_CORPUS_SURVEY_SHIFT_H
#define DRIVER_CORPUS_SURVEY_SHIFT_H

#include "driver/corpus/survey/digest.h"

enum { SHIFT_SHIFTS = 3, SHIFT_WORDS = 16 };

/* ShiftLine: what is kept of a side's line. */
typedef struct ShiftLine {
    double length;               /* log(1 + its characters) */
    uint64_t words[SHIFT_WORDS]; /* hashes of its names and numbers */
    int n_words;
} ShiftLine;

/* ShiftSums: sums for the correlation of each source with the target `shift` lines after its own,
 * and how many of these pairs have a word in common. */
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
 *   by              1: sources fit the targets of the next line; -1: those of the line before; 0:
 *                   neither, or there are too few pairs
 *   pairs           how many were judged
 *   own, other      correlation of a source's length with its own target's, and with that of the
 *                   line `by` names
 *   own_common, other_common
 *                   pairs that have a word in common, in the same two ways */
typedef struct ShiftVerdict {
    int by;
    int64_t pairs;
    double own, other;
    int64_t own_common, other_common;
} ShiftVerdict;

/* Adds a pair. True: there are enough for shift_judge. */
bool shift_add(Shift *shift, const Digest digests[2]);
/* Judges the pairs since the last call. */
ShiftVerdict shift_judge(Shift *shift);

#endif
