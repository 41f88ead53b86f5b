/* The lists of labels of a run's columns: FOLDER/labels-INPUT.txt, a label a line. */
#ifndef DRIVER_RUN_LABEL_LISTS_H
#define DRIVER_RUN_LABEL_LISTS_H

#include "driver/ports/columns.h"
#include "driver/run/record.h"

/* Give the specs of columns with a list of their own their labels. False after errors.
 *   make   from the file that the model names, beside the model's, or from the cells (NULL: there
 *          are none); what has a list already keeps it
 *   read   those of a folder: of a run, as they were recorded, or of prepared data (record NULL) */
bool label_lists_make(Job *job, const ModelPorts *ports, const DataColumns *columns,
                      Lines *const *cells, int64_t line_limit);
bool label_lists_read(Job *job, const char *folder, const RunRecord *record,
                      const DataColumns *columns);
/* Whether the labels of column c are those of the data; if so, whether all cells can be lines of a
 * list: false after an error. */
bool label_lists_are_counted(const DataColumns *columns, int c);
bool label_lists_check_cells(Diagnostics *diags, const ColumnSpec *spec, const Lines *cells);
/* The lists of a training that begins with a run's params become those of the run. False after an
 * error: a label that the run's list lacks. */
bool label_lists_keep(Job *job, const char *folder, const DataColumns *columns);
/* Writes the files, and adds them to the record (NULL: none). False after an error. */
bool label_lists_write(Job *job, const char *folder, const DataColumns *columns, RunRecord *record);

#endif
