/* The tables of a command's options, as the texts and columns that feed a model. */
#ifndef DRIVER_CORPUS_TABLE_FILES_H
#define DRIVER_CORPUS_TABLE_FILES_H

#include "driver/ports/columns.h"
#include "runtime/data/corpus.h"

/* TableFields: the fields that are read of a table, in the order of its columns.
 *   inputs           of the model, that the fields feed, for messages
 *   source, target   which of the fields they are; -1: the model has none
 *   columns          which fields the model's columns are; -1: the column is not read
 *   takes            what else each field may be (RecordFields.takes): lists of texts of sets of
 *                    labels; null where the model asks which values are missing; and whether
 *                    numbers are names, which they are if any field of the model, read or not, is
 *                    no number: so a training and what reads fewer fields read a table alike */
typedef struct TableFields {
    const char *names[MOST_COLUMNS + 2], *inputs[MOST_COLUMNS + 2];
    uint8_t takes[MOST_COLUMNS + 2];
    int n, source, target, columns[MOST_COLUMNS];
} TableFields;

/* The fields that feed the model. `given`: "INPUT=FIELD" of --column, which overrides what the
 * model says; of an input that is there twice the last counts. `function`: only inputs that it
 * reads; NULL: all. False after an error. */
bool table_fields_of(Job *job, const Module *module, const ModelPorts *ports, const TextList *given,
                     const Function *function, TableFields *out);
/* Whether a file's name says that it is a table: of texts (table_is_named), or of tensors, whose
 * first axis counts the records (FILE.safetensors). */
bool table_file_is_named(const char *path);
/* The same in pieces. table_files_check: whether the files can be one table of these fields; the
 * next: the tensors of a file, whose rows are the fields' records, NULL after an error; and the
 * fields as texts and columns, in the arena. */
bool table_files_check(Job *job, const TextList *paths, const TableFields *fields);
bool table_file_is_tensors(const char *path);
Lines **table_file_tensors(Job *job, const char *path, const TableFields *fields);
CorpusText table_fields_text(const TableFields *fields, Lines *const *read);
/* Reads the files as one table; columns that are not read are NULL. Lives in the job's arena. False
 * after an error. */
bool table_files_read(Job *job, const TextList *paths, const TableFields *fields,
                      int64_t line_limit, CorpusText *out);

#endif
