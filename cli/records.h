/* Records: what a run's predictions, or its attentions, are of: a table, or the lines of a text. */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include "driver/corpus/table_stream.h"
#include "driver/run/folder.h"
#include "driver/run/prediction.h"

/* RecordFiles: as a command's options name them.
 *   files        of --input; none: standard input
 *   columns      "INPUT=FIELD" of --column
 *   line_limit   as in LineLimits */
typedef struct RecordFiles {
    TextList files, columns;
    int64_t line_limit;
} RecordFiles;

/* Opens the files as a table of the columns that the predictor reads, in its order, or as lines, if
 * it reads one field (TableStreamOptions.takes_lines). NULL after an error. */
TableStream *records_open(Job *job, const RunFolder *run, const Predictor *predictor,
                          const RecordFiles *records);

#endif
