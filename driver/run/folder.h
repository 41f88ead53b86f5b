/* The folder of a run: model, vocabulary, settings and checkpoints, complete in
 * itself, so that it can be moved and read after the model's file has changed.
 *
 *   model.tfg, lib/NAME.tfg (and files the model uses, by their names)
 *   vocab.model, tokenizer.json or vocab.txt
 *   run.json (record.h), written last: with it the folder is whole
 *   last.safetensors, best.safetensors, average.safetensors, step-N.safetensors
 *   weights    of a run that tfc import made: a folder, or a link to one, with safetensors that
 *              are read by the model's weights block; used where there is no checkpoint
 *   log.jsonl */
#ifndef DRIVER_RUN_FOLDER_H
#define DRIVER_RUN_FOLDER_H

#include "driver/run/checkpoints.h"
#include "driver/run/inference.h"
#include "driver/run/record.h"
#include "driver/run/vocabularies.h"
#include "runtime/train/train.h"

/* Writes model, library files, vocabulary and run.json. */
bool run_folder_write(Job *job, const char *folder, const Session *session, const Vocabulary *vocab,
                      const RunRecord *record);
/* Where the folder has its copy of a file that the model reads; NULL: it has none. */
const char *run_folder_copy(Job *job, const char *folder, const Session *session,
                            const Source *file);

/* RunSource: where a trained model comes from. */
typedef struct RunSource {
    const char *path;           /* the folder of a run, or a model's file */
    const char *weights;        /* a checkpoint (driver/run/weights.h); of a run: instead of its own */
    VocabularyChoice vocab;     /* of a run its tokens alone: rules that are stronger than its own */
    const TextList *settings;   /* of a model's file: --set; or NULL */
    const TextList *with;       /* folders of further runs, for an ensemble; or NULL */
    const char *dtype;          /* as session_set_dtype takes it; NULL: f32 */
    bool keeps;                 /* what programs prepare of the params is kept for the next process */
} RunSource;

typedef struct RunFolder {
    const char *path, *checkpoint;
    const char *weights; /* of RunSource, as keeps is */
    bool keeps;
    struct KeptWeights *kept; /* kept_weights.h; NULL: params are in memory, all of them */
    CorpusKind kind;
    Vocabulary *vocab;
    Session session;
    Store *store;
    Inference inference;
    TrainState state;
    struct RunFolder *with; /* members of the ensemble, n_with */
    int n_with;
} RunFolder;

/* Loads model and vocabulary, and those of the further runs. Then: prepare what is needed of
 * run->inference, then run_folder_load the checkpoint (NULL: the source's weights, else average,
 * else best, else last, as of further runs in any case). Errors are in the diagnostics;
 * run_folder_close in any case. */
bool run_folder_open(Job *job, const RunSource *source, RunFolder *run);
bool run_folder_load(Job *job, RunFolder *run, const char *checkpoint);
void run_folder_close(RunFolder *run);
/* Whether the probabilities of two runs are of the same tokens, and of the same sources: by kind and
 * vocabulary. */
bool run_check_average(Job *job, const RunFolder *run, const RunFolder *member);

#endif
