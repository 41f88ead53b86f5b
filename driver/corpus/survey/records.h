/* tfc data of a table that feeds a model: what its columns hold, and the records that a training
 * should not learn. Tables are read a cut at a time (prepare_tables.h); of the records before, only
 * hashes are kept, some 50 bytes a record. */
#ifndef DRIVER_CORPUS_SURVEY_RECORDS_H
#define DRIVER_CORPUS_SURVEY_RECORDS_H

#include "driver/corpus/prepare_model.h"
#include "driver/corpus/survey/survey.h"

typedef enum RecordKind {
#define FINDING(name, is_fault, title, advice) RECORD_##name,
#include "driver/corpus/survey/records.def"
#undef FINDING
    RECORD_KINDS
} RecordKind;

/* SurveyLabel: a label, or a number that stands for a class, and how many cells or positions have
 * it. */
typedef struct SurveyLabel {
    const char *label;
    int64_t n;
} SurveyLabel;

/* SurveyColumn: what the cells of a column hold.
 *   characters, words   of a text
 *   tokens, unknown     of a text, with a vocabulary: of the records that are trained on, special
 *                       tokens of columns included; those that it lacks
 *   labels              of labels and classes of the same records: n_labels of them, the most
 *                       frequent first
 *   classes             how many labels the model tells apart; 0: any number
 *   numbers             of integers and floats: how many; least, mean and most are of all
 *   example             of numbers or labels beside the text that is predicted: a record's tokens,
 *                       each with its own, of a record where they differ; NULL: no such column */
typedef struct SurveyColumn {
    const char *input, *field;
    ColumnKind kind;
    bool has_labels;
    SurveyLengths characters, words, tokens;
    int64_t unknown, classes, numbers;
    const SurveyLabel *labels;
    size_t n_labels;
    double least, mean, most;
    const char *example;
} SurveyColumn;

/* SurveyTable: a validation table.
 *   whole, inputs   its records that the training table has, too; whose inputs alone it has */
typedef struct SurveyTable {
    const char *name; /* NULL: it has no name */
    int64_t records, whole, inputs;
} SurveyTable;

typedef struct RecordSurvey {
    const char *file; /* names, separated by commas */
    int64_t records;
    bool has_tokens;
    SurveyColumn *columns; /* source and target among them */
    int n_columns;
    SurveyFinding findings[RECORD_KINDS];
    VEC(SurveyTable) valid;
} RecordSurvey;

/* Surveys options->train.files.data, and compares it with the tables of options->valid. What the
 * result points to lives in the job's arena. False after errors: a table that cannot be read. */
bool survey_records(Job *job, PrepareModel *model, const SurveyOptions *options,
                    RecordSurvey *result);

#endif
