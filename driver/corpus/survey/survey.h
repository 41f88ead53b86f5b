/* tfc data: statistics of a training text, and the lines that a training should not learn.
 *
 * Pairs are read twice, a line at a time: first to count, then to judge each pair by the counts.
 * Texts of one side, and validation texts, are read once. Of the lines read before, only hashes
 * (some 100 bytes a pair) and excerpts for examples are kept. */
#ifndef DRIVER_CORPUS_SURVEY_SURVEY_H
#define DRIVER_CORPUS_SURVEY_SURVEY_H

#include "driver/corpus/text_files.h"
#include "driver/run/vocabularies.h"

/* SurveyText: a text as tfc train is given it: pairs of two files or of one, or lines. Line numbers
 * run on from file to file.
 *   name      of a validation text; NULL: the text has no name
 *   pairs     what files.data was read as, in lines of source, tab, target; NULL: nothing yet
 *   numbers   of `pairs`: on which line of the file each is, from 0; NULL: line i is on line i */
typedef struct SurveyText {
    const char *name;
    TextFiles files;
    const Source *pairs;
    const int64_t *numbers;
} SurveyText;

typedef struct SurveyOptions {
    SurveyText train;
    VEC(SurveyText) valid;  /* of the same kind, pairs or lines */
    const char *languages;  /* of translation memories */
    VocabularyChoice vocab; /* vocab.spec NULL: tokens are not counted */

    /* with --text, whether each line is a text of its own (--lines): then empty lines and
     * duplicates are faults; in one stream they are none */
    bool lines;
    int64_t max_length; /* tokens; 0: no limit */
    int64_t line_limit; /* bytes; 0: LINE_LIMIT */
    int64_t examples;   /* most lines of each finding that are shown */
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
    const char *note; /* more about the finding; NULL or "": nothing */
} SurveyExample;

typedef struct SurveyFinding {
    const char *name, *title, *advice; /* of survey.def */
    bool is_fault;
    bool is_looked_for; /* false: with these texts and options it cannot be found */
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
    int64_t unknown;    /* tokens of the text */
    int64_t used, size; /* how many of the vocabulary's tokens the text has; of how many */

    /* the most frequent characters that are unknown: "ø 12, ł 3"; NULL: none, or the vocabulary is
     * a list of words */
    const char *characters;
} SurveyCoverage;

typedef struct SurveySide {
    const char *file; /* the file's name; several files: their names, separated by commas */
    SurveyLengths characters, words;
    SurveyCoverage coverage; /* zeros without a vocabulary */
} SurveySide;

/* SurveyValid: how much of a validation text the training text has, too.
 *   lines   all lines or pairs of the validation text
 *   whole   lines, or pairs with both sides in one pair, that the training text has
 *   sides   pairs whose source, and whose target, the training text has; of lines, {whole, 0} */
typedef struct SurveyValid {
    const char *name; /* NULL: the text has no name */
    int64_t lines, whole, sides[2];
} SurveyValid;

typedef struct Survey {
    bool is_pairs, has_tokens;
    int64_t lines;
    SurveySide sides[2]; /* source and target; without pairs, the first alone */
    double ratio;        /* the median of target to source, in characters (ratio_spread_typical) */

    /* the sides differ enough to find swapped ones: of at least 100 pairs, 90 % score as their own
     * sides (side_model.h) */
    bool knows_sides;
    SurveyFinding findings[SURVEY_KINDS];
    VEC(SurveyValid) valid;
} Survey;

/* The vocabulary that is chosen, which is there already; *vocab NULL: none is chosen. False after
 * an error. */
bool survey_vocabulary(Job *job, const VocabularyChoice *choice, Vocabulary **vocab);
/* What the result points to lives in the job's arena. False after errors, such as a file that
 * cannot be read, or sides of different numbers of lines. */
bool survey(Job *job, const SurveyOptions *options, Survey *result);

#endif
