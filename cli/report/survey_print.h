/* A survey as text and as JSON. */
#ifndef CLI_REPORT_SURVEY_PRINT_H
#define CLI_REPORT_SURVEY_PRINT_H

#include "base/json_write.h"
#include "driver/corpus/survey/survey.h"

void survey_print(const Survey *survey, Text *out);
/* Writes every kind of finding, found or not. */
void survey_print_json(const Survey *survey, Text *out);

/* ---- findings_print.c ---- */

/* Parts of a printed survey: numbers, lengths, findings. */

enum { PRINT_DIGITS = 6 }; /* of numbers in JSON */

/* "29,000", in `out`. */
const char *print_grouped(int64_t number, char out[32]);
/* In percent; of nothing 0. */
double print_share(int64_t part, int64_t all);
/* A row of the table of lengths. */
void print_lengths(Text *out, const char *side, const char *what, const SurveyLengths *lengths);
void print_lengths_json(JsonWriter *json, const char *key, const SurveyLengths *lengths);
/* Faults, observations, what was not found, advice, to which `advice` is added, a line (NULL:
 * nothing is). */
void findings_print(const Survey *survey, const char *advice, Text *out);
void findings_print_json(const Survey *survey, JsonWriter *json); /* the member "findings" */

#endif
