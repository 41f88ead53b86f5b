/* tfc data: statistics of a training text or table, and what a training should not learn of it.
 *
 * Pairs are read twice, a line at a time: first to count, then to judge each pair by the counts.
 * Texts of one side, tables and validation data are read once, tables a cut at a time
 * (prepare_tables.h). Of the lines and records read before, only hashes (some 100 bytes a pair, 50
 * a record) and excerpts for examples are kept. */
#ifndef DRIVER_CORPUS_SURVEY_SURVEY_H
#define DRIVER_CORPUS_SURVEY_SURVEY_H

#include "driver/corpus/prepare_model.h"
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

/* SurveyData: what is surveyed: lines, pairs, or a table that feeds a model. */
typedef enum SurveyData {
    OF_LINES = 1,
    OF_PAIRS = 2,
    OF_TEXTS = OF_LINES | OF_PAIRS,
    OF_TABLE = 4,
    OF_ALL = OF_TEXTS | OF_TABLE
} SurveyData;

typedef enum SurveyKind {
#define FINDING(name, data, is_fault, title, advice) SURVEY_##name,
#include "driver/corpus/survey/survey.def"
#undef FINDING
    SURVEY_KINDS
} SurveyKind;

/* SurveyExample: a line that was found, or of a table the first text of a record.
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
    bool is_looked_for; /* false: in this data, with these options, it cannot be found */
    int64_t lines;
    VEC(SurveyExample) examples;
} SurveyFinding;

/* SurveyLengths: lengths of lines: their sum, percentiles, the largest, the mean. */
typedef struct SurveyLengths {
    int64_t total, p50, p90, p99, most;
    double mean;
} SurveyLengths;

/* SurveyLabel: a label, or a number that stands for a class, and how many cells or positions have
 * it. */
typedef struct SurveyLabel {
    const char *label;
    int64_t n;
} SurveyLabel;

/* SurveyColumn: what a side of a text, or a column of a table, holds. Tokens, labels and numbers of
 * a table are of the records that are trained on.
 *   name                of the side, "source" or "target", or of the model's input; "": lines
 *   file                of a side: the file's name; several files: their names, with commas
 *   field               of a column
 *   characters, words   of a text, as all up to `lacking`
 *   tokens, unknown     with a vocabulary: special tokens of columns included; those that it lacks
 *   used, size          how many of the vocabulary's tokens the text has; of how many
 *   lacking             the most frequent characters that are unknown: "ø 12, ł 3"; NULL: none, or
 *                       the vocabulary is a list of words
 *   labels              of labels and classes: n_labels of them, the most frequent first
 *   classes             how many labels the model tells apart; 0: any number
 *   numbers             of integers and floats: how many; least, mean and most are of all
 *   example             of numbers or labels beside the text that is predicted: a record's tokens,
 *                       each with its own, of a record where they differ; NULL: no such column */
typedef struct SurveyColumn {
    const char *name, *file, *field;
    ColumnKind kind;
    bool has_labels;
    SurveyLengths characters, words, tokens;
    int64_t unknown, used, size, classes, numbers;
    const char *lacking;
    const SurveyLabel *labels;
    size_t n_labels;
    double least, mean, most;
    const char *example;
} SurveyColumn;

enum { REPEAT_KEYS = 3 }; /* the most parts of a line by which it is compared: itself, its sides */

/* SurveyValid: how much of the validation data the training data has, too.
 *   lines   lines, pairs or records of the validation data
 *   found   [0]: lines, pairs with both sides in one pair, or records that the training data has;
 *           of pairs [1] and [2]: whose source, and whose target, it has; of records [1]: whose
 *           inputs alone it has */
typedef struct SurveyValid {
    const char *name; /* NULL: the data has no name */
    int64_t lines, found[REPEAT_KEYS];
} SurveyValid;

/* Survey: what was found.
 *   unit      "line", "pair" or "record"
 *   file      names of all files, separated by commas
 *   columns   source and target are the first; of pairs and lines they are all
 *   ratio     of pairs: the median of target to source, in characters (ratio_spread_typical)
 *   knows_sides   the sides of pairs differ enough to find swapped ones: of at least 100 pairs,
 *                 90 % score as their own sides (side_model.h) */
typedef struct Survey {
    SurveyData data;
    const char *unit, *file;
    bool has_tokens, knows_sides;
    int64_t lines;
    double ratio;
    SurveyColumn *columns;
    int n_columns;
    SurveyFinding findings[SURVEY_KINDS];
    VEC(SurveyValid) valid;
} Survey;

/* Surveys options->train and compares it with options->valid. `model`: reads the tables that both
 * are; NULL: they are texts. What the result points to lives in the job's arena. False after
 * errors, such as a file that cannot be read, sides of different numbers of lines, or a vocabulary
 * that would have to be made. */
bool survey(Job *job, const SurveyOptions *options, PrepareModel *model, Survey *result);

#endif
