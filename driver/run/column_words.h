/* The words of a run's columns: the lists of those that are labels, FOLDER/labels-INPUT.txt, a
 * label a line; and the vocabularies of texts that have one of their own. */
#ifndef DRIVER_RUN_COLUMN_WORDS_H
#define DRIVER_RUN_COLUMN_WORDS_H

#include "driver/run/grown_rows.h"
#include "driver/run/record.h"
#include "driver/session/session.h"

/* Give the specs of columns with words of their own their labels or vocabulary. False after errors.
 *   make   from the file that the model names, beside the model's, or from the cells (NULL: there
 *          are none); what has them already keeps them. `folder`: that of the run whose model it
 *          is, in which such a file lies, or else what the run keeps of it; NULL: the user's own
 *          model. `normalize`: how texts are, as VocabularyChoice has it
 *   read   those of a folder: of a run, as they were recorded, or of prepared data (record NULL) */
bool column_words_make(Job *job, const char *folder, const ModelPorts *ports,
                       const DataColumns *columns, Lines *const *cells, int64_t line_limit,
                       const char *normalize);
bool column_words_read(Job *job, const char *folder, const RunRecord *record,
                       const DataColumns *columns);
/* The name of a column's list. */
const char *column_words_file(Arena *arena, const ColumnSpec *spec);
/* Whether the labels of column c are those of the data; if so, whether all cells can be lines of a
 * list: false after an error. */
bool column_words_are_counted(const DataColumns *columns, int c);
bool column_words_check_cells(Diagnostics *diags, const ColumnSpec *spec, const Lines *cells);
/* NewParams: params of a training that begins with a run's.
 *   module  that they belong to
 *   fresh   patterns (patterns.h) of those that the run may lack
 *   anew    gets the names of those that were learned for other labels or tokens
 *   grown   gets the lists of which the run has a part, or another order */
typedef struct NewParams {
    const Module *module;
    const TextList *fresh;
    TextList anew;
    VEC(GrownRows) grown;
} NewParams;

/* The words of a training that begins with a run's params become those of the run; but labels stay
 * those of the data if `fresh` meets all params that hold something of each label
 * (columns.h). If the run's list is another one, there is a note, and the list is added to `grown`
 * or, where it lacks a label of the run, the params to `anew`. False after an error: a label that
 * the run's list lacks. */
bool column_words_keep(Job *job, const char *folder, const ModelPorts *ports,
                       const DataColumns *columns, NewParams *new);
/* Sets the constants `INPUT_vocab` of the model to the sizes of texts' own vocabularies, and those
 * that count the labels of sets, unless --set gives them. */
void column_words_set_sizes(Job *job, const DataColumns *columns, SessionOptions *session);
/* Gives the columns of the same model, read again, the same words. */
void column_words_pass(const DataColumns *from, const DataColumns *to);
/* Writes the files, and adds them to the record (NULL: none). False after an error. */
bool column_words_write(Job *job, const char *folder, const DataColumns *columns,
                        RunRecord *record);

/* ---- own_vocabularies.c ---- */

/* The vocabularies that columns of text have of their own (`vocab title = own("SPEC")`):
 * FOLDER/vocab-INPUT.model, tokenizer-INPUT.json or vocab-INPUT.txt. */

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
