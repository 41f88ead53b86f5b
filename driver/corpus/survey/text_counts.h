/* What is counted of the texts of a side or of a column: lengths, and how a vocabulary covers
 * them. */
#ifndef DRIVER_CORPUS_SURVEY_TEXT_COUNTS_H
#define DRIVER_CORPUS_SURVEY_TEXT_COUNTS_H

#include "driver/corpus/survey/digest.h"
#include "driver/corpus/survey/spread.h"

/* TextCounts: zeros at first.
 *   used          by id: 1 if the text has the token
 *   code_points   how often the text has each */
typedef struct TextCounts {
    LengthSpread characters, words, tokens;
    const Vocabulary *vocab; /* NULL: tokens are not counted */
    int64_t unknown;
    uint8_t *used;
    uint32_t *code_points;
} TextCounts;

/* Has tokens counted, too; NULL: they are not. */
void text_counts_open(TextCounts *counts, const Vocabulary *vocab);
void text_counts_add(TextCounts *counts, const Digest *digest);
/* Counts the n tokens of a line of valid UTF-8; how many are unknown. */
int64_t text_counts_tokens(TextCounts *counts, const int32_t *ids, int64_t n, const Line *line);
void text_counts_put(const TextCounts *counts, Arena *arena, SurveyColumn *column);
void text_counts_free(TextCounts *counts);

#endif
