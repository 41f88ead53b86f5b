/* The folder of a run: model, vocabulary, settings and checkpoints. The folder needs no other
 * files, so it can be moved, and read after the model's file has changed; the exception is
 * `weights`, which may be a link. The files that are read by their names here lie in the folder
 * (FileReach), checkpoints and `weights` apart.
 *
 *   model.tfg, lib/NAME.tfg, and files that the model uses (frontend/place.h)
 *   vocab.model, tokenizer.json or vocab.txt; source-… where the sources have their own
 *   labels-INPUT.txt, vocab-INPUT.… (column_words.h)
 *   run.json (record.h), written last: a folder without it is incomplete
 *   step-N.safetensors; last.safetensors and best.safetensors, hard links to such files (copies
 *              where the file system has no links); average.safetensors
 *   weights    of a run that tfc import or tfc quantize made: a folder, or a link to one, with
 *              safetensors that the model's weights block maps to params; used if there is no
 *              checkpoint
 *   published  of an imported run: what tfc export --format hf writes beside the params
 *              (published.h)
 *   log.jsonl; log-before.jsonl, the log before a training was begun anew
 *   lock       while a process trains (lock.h) */
#ifndef DRIVER_RUN_FOLDER_H
#define DRIVER_RUN_FOLDER_H

#include "driver/run/checkpoints.h"
#include "driver/run/generation.h"
#include "driver/run/inference.h"
#include "driver/run/record.h"
#include "driver/run/shortlist_file.h"
#include "driver/run/vocabularies.h"
#include "runtime/train/train.h"

/* Writes model, library files, vocabulary, lists of labels and run.json. columns: NULL for none.
 * False after errors. */
bool run_folder_write(Job *job, const char *folder, const Session *session, const Vocabulary *vocab,
                      const DataColumns *columns, const RunRecord *record);

/* RunSource: where a trained model comes from. */
typedef struct RunSource {
    const char *path;         /* the folder of a run, or a model's file */
    const char *weights;      /* a checkpoint (driver/run/weights.h), in place of a run's own */
    VocabularyChoice vocab;   /* for a run only vocab.tokens: rules that override the run's */
    const TextList *settings; /* --set, for a model's file; or NULL */
    const TextList *with;     /* folders of further runs, for an ensemble; or NULL */
    const char *dtype;        /* as session_set_dtype takes it; NULL: f32 */
    ShortlistChoice shortlist;

    /* prepared weights are kept in the cache and taken from there (kept_weights.h) */
    bool keeps;
} RunSource;

typedef struct RunFolder {
    const char *path, *checkpoint;
    const char *weights; /* as in RunSource, like keeps */
    bool keeps;
    struct KeptWeights *kept; /* kept_weights.h; NULL: all params are read into memory */
    CorpusKind kind;
    Vocabulary *vocab;
    DataColumns columns;
    TextList fields; /* "INPUT=FIELD" that it was trained with (--column) */
    GenerationDefaults defaults;
    Session session;
    Store *store;
    Inference inference;
    TrainState state;
    struct RunFolder *with; /* members of the ensemble, n_with */
    int n_with;
} RunFolder;

/* Opening a run takes three steps: run_folder_open loads model and vocabulary, also of the further
 * runs; the caller prepares run->inference for what it needs; run_folder_load reads the params.
 * `checkpoint`: as run_checkpoint takes it, an error if the source has weights; NULL: the source's
 * weights or else run_params. Further runs have the params of their own run_params. False after
 * errors; call run_folder_close in any case. */
bool run_folder_open(Job *job, const RunSource *source, RunFolder *run);
bool run_folder_load(Job *job, RunFolder *run, const char *checkpoint);
void run_folder_close(RunFolder *run);
/* Checks that lines of text are all that the run reads. False after an error, which names a column
 * that it reads. */
bool run_reads_lines(Job *job, const RunFolder *run);
/* Checks that all further runs of an ensemble read the same columns as the run. False after an
 * error. */
bool run_check_columns(Job *job, const RunFolder *run);
/* Checks that the probabilities of two runs can be averaged: same kind, vocabulary and token
 * rules. False after an error. */
bool run_check_average(Job *job, const RunFolder *run, const RunFolder *member);

#endif
