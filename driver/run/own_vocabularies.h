/* The vocabularies that columns of text have of their own (`vocab title = own("SPEC")`):
 * FOLDER/vocab-INPUT.model, tokenizer-INPUT.json or vocab-INPUT.txt. */
#ifndef DRIVER_RUN_OWN_VOCABULARIES_H
#define DRIVER_RUN_OWN_VOCABULARIES_H

#include "driver/ports/columns.h"
#include "driver/run/record.h"

/* Makes that of a column by its SPEC, as vocab_make takes it, from its cells if that needs them
 * (NULL: there are none). `normalize`, `folder`: as VocabularyChoice has them. NULL after an
 * error. */
Vocabulary *own_vocabulary_make(Job *job, const char *folder, const ColumnSpec *column,
                                const char *spec, const Lines *cells, const char *normalize);
/* The path of that of a column in a run's folder, whether it is there or not, in the arena. */
const char *own_vocabulary_path(Job *job, const char *folder, const ColumnSpec *column);
/* That of a run, as it was recorded (record NULL: as it is). NULL after an error. */
Vocabulary *own_vocabulary_read(Job *job, const char *folder, const RunRecord *record,
                                const ColumnSpec *column);
/* Writes the file, and adds it to the record (NULL: none). False after an error. */
bool own_vocabulary_write(Job *job, const char *folder, const ColumnSpec *column,
                          RunRecord *record);

#endif
