/* tfc data: statistics of a text, and the lines that a training should not learn, before it is
 * trained on.
 *
 * Pairs are read twice, a line at a time: first to count, then to judge each pair by the counts.
 * Texts of one side, and validation texts, are read once. Only hashes of the lines read before are
 * kept (some 100 bytes a pair). */
#ifndef DRIVER_CORPUS_SURVEY_SURVEY_H
#define DRIVER_CORPUS_SURVEY_SURVEY_H

#include "driver/corpus/text_files.h"
#include "driver/run/vocabularies.h"

/* SurveyText: a text as tfc train is given it: pairs of two files or of one, or lines. Lines are
 * numbered through all its files. */
typedef struct SurveyText {
    const char *name; /* of a validation text; NULL: the text has no name */
    TextFiles files;
} SurveyText;

typedef struct SurveyOptions {
    SurveyText train;
    VEC(SurveyText) valid;  /* of the same kind, pairs or lines */
    const char *languages;  /* of translation memories */
    VocabularyChoice vocab; /* vocab.spec NULL: tokens are not counted */

    /* of --text: each line is a text of its own, so empty lines and duplicates are faults; else
     * they are not */
    bool lines;
    int64_t max_length; /* tokens; 0: no limit */
    int64_t line_limit; /* bytes; 0: LINE_LIMIT */
    int64_t examples;   /* lines of each finding that are shown */
} SurveyOptions;

typedef enum SurveyKind {
#define FINDING(name, is_fault, title, advice) SURVEY_##name,
#include "driver/corpus/survey/survey.def"
#undef FINDING
    SURVEY_KINDS
} SurveyKind;

/* SurveyExample: a line that was found.
 *   sides   excerpts, with escapes in place of control characters and of bytes that are not valid
 *           UTF-8; NULL: the text has no such side */
typedef struct SurveyExample {
    int64_t line; /* from 1 */
    const char *sides[2];
    const char *note; /* more about it; NULL or "": nothing */
} SurveyExample;

typedef struct SurveyFinding {
    const char *name, *title, *advice; /* of survey.def */
    bool is_fault;
    bool is_looked_for; /* false: these texts and options cannot show it */
    int64_t lines;
    VEC(SurveyExample) examples;
} SurveyFinding;

/* SurveyLengths: lengths of lines: their sum, percentiles, the largest, the mean. */
typedef struct SurveyLengths {
    int64_t total, p50, p90, p99, most;
    double mean;
} SurveyLengths;

/* SurveyCoverage: how a vocabulary covers a side. */
typedef struct SurveyCoverage {
    SurveyLengths tokens;
    int64_t unknown;        /* tokens */
    int64_t used, size;     /* of the vocabulary's tokens */
    const char *characters; /* the most frequent that are unknown: "ø 12, ł 3"; NULL: none */
} SurveyCoverage;

typedef struct SurveySide {
    const char *file; /* its name; several files: their names, separated by commas */
    SurveyLengths characters, words;
    SurveyCoverage coverage; /* with a vocabulary */
} SurveySide;

/* SurveyValid: lines of a validation text that the training text has, too.
 *   whole   lines, or pairs with both sides
 *   sides   pairs with this side; of lines, {whole, 0} */
typedef struct SurveyValid {
    const char *name; /* NULL: the text has no name */
    int64_t lines, whole, sides[2];
} SurveyValid;

typedef struct Survey {
    bool is_pairs, has_tokens;
    int64_t lines;
    SurveySide sides[2]; /* source and target; without pairs, the first alone */
    double ratio;        /* the median of target to source, in characters (ratio_spread_typical) */
    bool knows_sides;    /* the languages of the sides differ enough to tell which is which */
    SurveyFinding findings[SURVEY_KINDS];
    VEC(SurveyValid) valid;
} Survey;

/* The result lives in the job's arena. False after errors: a file that cannot be read, sides of
 * different numbers of lines. */
bool survey(Job *job, const SurveyOptions *options, Survey *result);

#endif
