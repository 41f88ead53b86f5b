/* The tables that tfc prepare reads, part by part: their heads, records and labels. */
#ifndef DRIVER_CORPUS_PREPARE_TABLES_H
#define DRIVER_CORPUS_PREPARE_TABLES_H

#include "driver/corpus/prepare_parts.h"
#include "runtime/data/table.h"

/* TablePart: a file of a table.
 *   head      how its records are read
 *   tensors   not NULL: the fields' tensors, whose n rows are the records, in place of a text */
struct TablePart {
    TableHead head;
    Lines *const *tensors;
    int64_t n;
};

/* Opens a file of a table. In the job's arena; NULL after an error. */
const TablePart *table_part_open(Job *job, const PrepareOptions *options, const TextPart *part);
/* Bytes of a record of tensors, at least 1. */
int64_t table_part_record_bytes(const TablePart *table, int n_fields);
/* Reads the records of a cut; they are text's cut->lines records from *first on. All lives in the
 * arena. False after errors. */
bool table_part_read(Diagnostics *diags, Arena *arena, const PrepareOptions *options,
                     const TextPart *part, const TextCut *cut, CorpusText *text, int64_t *first);
/* Gives the model's columns their lists of labels; those that are of the data by reading all of it.
 * False after errors. */
bool table_labels(Job *job, const PrepareOptions *options, const TextParts *parts);

#endif
