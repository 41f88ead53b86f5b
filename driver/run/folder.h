/* The folder of a run: model, vocabulary, settings and checkpoints, complete in
 * itself, so that it can be moved and read after the model's file has changed.
 *
 *   model.tfg, lib/NAME.tfg (and files the model uses, by their names)
 *   vocab.model, tokenizer.json or vocab.txt; source-… where the sources have their own
 *   run.json (record.h), written last: a folder without it is incomplete
 *   step-N.safetensors, last.safetensors and best.safetensors, which are further names of one of
 *              them (run_link), and average.safetensors
 *   weights    of a run that tfc import made: a folder, or a link to one, with safetensors that
 *              the model's weights block maps to params; used if there is no checkpoint
 *   published  of an imported run: what tfc export --format hf writes beside the params
 *              (published.h)
 *   log.jsonl; log-before.jsonl, of a training that was begun anew
 *   lock       while a process trains (lock.h) */
#ifndef DRIVER_RUN_FOLDER_H
#define DRIVER_RUN_FOLDER_H

#include "driver/run/checkpoints.h"
#include "driver/run/inference.h"
#include "driver/run/record.h"
#include "driver/run/vocabularies.h"
#include "runtime/train/train.h"

/* Writes model, library files, vocabulary and run.json. False after errors. */
bool run_folder_write(Job *job, const char *folder, const Session *session, const Vocabulary *vocab,
                      const RunRecord *record);

/* RunSource: where a trained model comes from. */
typedef struct RunSource {
    const char *path;         /* the folder of a run, or a model's file */
    const char *weights;      /* a checkpoint (driver/run/weights.h), in place of a run's own */
    VocabularyChoice vocab;   /* for a run only vocab.tokens: rules that override the run's */
    const TextList *settings; /* --set, for a model's file; or NULL */
    const TextList *with;     /* folders of further runs, for an ensemble; or NULL */
    const char *dtype;        /* as session_set_dtype takes it; NULL: f32 */

    /* the cache keeps what programs prepare of the params (kept_weights.h) */
    bool keeps;
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

/* Opens a run in three calls. run_folder_open loads model and vocabulary, also of the further runs.
 * The caller then prepares run->inference for what it needs, and run_folder_load reads the
 * checkpoint; NULL: the source's weights, else average, best or last. Further runs have their
 * average, best or last. False after errors; run_folder_close in any case. */
bool run_folder_open(Job *job, const RunSource *source, RunFolder *run);
bool run_folder_load(Job *job, RunFolder *run, const char *checkpoint);
void run_folder_close(RunFolder *run);
/* Checks that the probabilities of two runs can be averaged: same kind, same vocabulary. False
 * after an error. */
bool run_check_average(Job *job, const RunFolder *run, const RunFolder *member);

#endif
