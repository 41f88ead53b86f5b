/* What a model reads of a table that tfc prepare turns into shards. */
#ifndef DRIVER_CORPUS_PREPARE_MODEL_H
#define DRIVER_CORPUS_PREPARE_MODEL_H

#include "driver/corpus/table_files.h"
#include "driver/session/session.h"

/* PrepareModel
 *   columns       with their lists of labels once these are made
 *   same_lengths  source and target share a ragged dimension */
typedef struct PrepareModel {
    const char *path;
    FileReach reach; /* of the files that it names */
    ModelPorts ports;
    DataColumns columns;
    TableFields fields;
    CorpusKind kind;
    int64_t max_length; /* tokens of the longest text that it takes; 0: any */
    bool same_lengths, has_text;
} PrepareModel;

/* Reads the model; all lives in the job's arena. `given`: of --column; `settings`: of --set. False
 * after errors: it cannot be loaded, or reads no table. */
bool prepare_model_open(Job *job, const char *path, const TextList *given, const TextList *settings,
                        PrepareModel *model);
/* Reads it again with the size of the vocabulary, and checks that both and the lists of labels fit.
 * False after errors. */
bool prepare_model_fit(Job *job, const TextList *settings, const Vocabulary *vocab,
                       PrepareModel *model);

#endif
