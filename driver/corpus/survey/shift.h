/* Whether the lines of two sides are shifted against each other, as where one side has lost a line: a source then
 * fits the target of the line before or after better than its own. Two measures say so, each over some hundred
 * pairs in a row: how the lengths of both sides go together, and the words that stand in both, such as names
 * and numbers. */
#ifndef DRIVER_CORPUS_SURVEY_SHIFT_H
#define DRIVER_CORPUS_SURVEY_SHIFT_H

#include "driver/corpus/survey/digest.h"

enum { SHIFT_SHIFTS = 3, SHIFT_WORDS = 16 };

/* ShiftLine: what is kept of a side's line. */
typedef struct ShiftLine {
    double length; /* the logarithm of its characters, and one */
    uint64_t words[SHIFT_WORDS];
    int n_words;
} ShiftLine;

/* ShiftSums: of a source and the target `shift` lines behind its own: sums for a correlation, and pairs that have a word
 * in common. */
typedef struct ShiftSums {
    double n, x, y, xx, yy, xy, common;
} ShiftSums;

/* Shift: begins with zeros. */
typedef struct Shift {
    ShiftLine before[2]; /* of the pair before */
    bool has_before;
    int64_t pairs;       /* since the last judgement */
    ShiftSums sums[SHIFT_SHIFTS]; /* by shift: -1, 0, 1 */
} Shift;

/* ShiftVerdict: by: 0: none, or not enough pairs; 1: a source fits the target of the next line, -1: of the line
 * before. Correlations of lengths and numbers of pairs with a common word: own, of their own line, other, of that. */
typedef struct ShiftVerdict {
    int by;
    int64_t pairs;
    double own, other;
    int64_t own_common, other_common;
} ShiftVerdict;

/* Adds a pair. True: there are enough for shift_judge. */
bool shift_add(Shift *shift, const Digest digests[2]);
/* The pairs since the last call. */
ShiftVerdict shift_judge(Shift *shift);

#endif
