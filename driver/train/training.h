/* One training: what it was told, its data, programs and params, and what its loop asks for
 * while it runs (TrainHooks). */
#ifndef DRIVER_TRAIN_TRAINING_H
#define DRIVER_TRAIN_TRAINING_H

#include "base/file.h"
#include "driver/corpus/text_files.h"
#include "driver/run/folder.h"
#include "driver/run/inference.h"
#include "runtime/data/prepared.h"

typedef struct TrainOptions {
    const char *model;
    TextFiles texts, valid_texts; /* to train on; to validate on, without a name */
    const char *languages;        /* "en,de": of translation memories */
    TextList valid;   /* "NAME=FILE": more to validate on */
    const char *best; /* "MEASURE", "TEXT" or "TEXT:MEASURE" (BestOption); NULL: see training_choose_best */
    const char *prepared; /* a folder of tfc prepare, in place of the texts to train on */
    const Prepared *rows; /* … once it is open (training_open_prepared); NULL: texts */
    TextList mix; /* "FILE:WEIGHT": data that is mixed in (CorpusPart) */
    VocabularyChoice vocab;
    const char *out, *dtype;
    const char *gradients; /* between ranks: f32 or bf16 */
    const char *weights; /* where params begin; NULL: as the model says */
    const char *json_summary; /* a file that the caller writes; NULL: none */
    const char *library; /* of the model, where that is a run's copy; NULL: the standard one */
    bool resume, allow_change, allow_unknown, lines, no_bleu, check_numerics;
    CorpusKind kind;
    int64_t seed;
#define TRAIN_SETTING(name, ...) int64_t name; /* -1: as the model says */
#include "base/training_settings.def"
    int64_t memory; /* bytes; 0: no limit */
    int64_t line_limit; /* bytes of a line; 0: LINE_LIMIT */
    double minutes;
    TextList settings;
    TextList freeze, only, fresh; /* patterns of params: that do not train; that alone do; that
                                   * weights may lack */
    TextList command, arguments; /* for run.json: as typed, and what --resume repeats */
    const RunRecord *record;     /* of the run that is gone on with; NULL: a run begins */
    const Ranks *ranks;          /* that train together; NULL: one process */
} TrainOptions;

/* ValidText: what is validated on, pairs or one text. */
typedef struct ValidText {
    const char *name; /* of --valid; NULL: of --valid-source and so on */
    Lines *source, *target;
    Corpus *corpus;
} ValidText;

/* Lines of the first validation text of which the log keeps translations, or of a language model what it
 * goes on with after their first halves. */
enum { TRAINING_SAMPLES = 6 };

/* Mixed: a --mix once it is read. */
typedef struct Mixed {
    const char *path;
    double weight;
    Lines *source, *target;
} Mixed;

/* BestOption: what --best says.
 *   text      NAME of a --valid, or TRAIN_MEAN; NULL: the text without a name, else the mean
 *   measure   NULL: it says none */
typedef struct BestOption {
    const char *text;
    const TrainMeasure *measure;
} BestOption;

typedef struct Training {
    Job *job;
    const TrainOptions *options;
    ModelPorts ports;
    Vocabulary *vocab;
    Lines *source, *target;
    Corpus *corpus;
    ValidText *valid;    /* n_valid of them */
    TrainValid *figures; /* of the last validation, one a text */
    TrainSample samples[TRAINING_SAMPLES]; /* … and what it made of these lines */
    int n_samples;
    int n_valid;
    BestOption best;
    int best_text; /* whose figures decide which checkpoint is the best; -1: the mean of all */
    Mixed *mixed; /* options->mix.count of them; after training_load_data */
    Session session;
    bool session_is_open;
    Store *store;
    Split *split; /* with shards; its store of its own is freed with the training */
    Inference inference;
    TrainPrograms programs;
    TrainSettings settings;
    TrainState state;
} Training;

/* The rate that a train block tells of; `steps`: of the run, where the block does not say how long it
 * falls. */
RateSettings training_rate(const TrainSpec *spec, int64_t steps);
/* Tokens a batch, of each side; 0: sentences count. */
int64_t training_batch_tokens(const TrainOptions *options, const TrainSpec *spec);
/* Reads the model once, so that its mistakes are told before a vocabulary is trained. */
bool training_load_model(Training *training, Job *job, const TrainOptions *options);
/* Opens options->prepared, and takes the vocabulary from it; false after errors. The same for its kind,
 * for what a model with such inputs reads. (prepared.c, as are the next four) */
bool training_open_prepared(Job *job, TrainOptions *options);
bool training_prepared_kind(Job *job, TrainOptions *options, const ModelPorts *ports);
/* Whether the vocabulary is still that of the prepared data, if there is such. */
bool training_check_vocabulary(const Training *training);
/* The corpus that prepared data is. */
Corpus *training_prepared_corpus(const Training *training, const CorpusOptions *options);
/* As run.json tells of it. */
RunText training_prepared_text(const Training *training);
/* Mistakes that can be told before a vocabulary is made, which takes long; false after errors.
 * (checks.c) */
/* Passes, processor, files to be written, memory; the model is open. */
bool training_check_settings(Training *training);
/* Whether the texts fit the memory, from the sizes of their files. */
bool training_check_sizes(Training *training);
/* By what the best checkpoint is chosen (best.c). */
/* What --best comes to, with the texts of --valid. */
BestOption training_best_option(Arena *arena, const TrainOptions *options);
/* The same once the validation texts are known; false after an error. */
bool training_read_best(Training *training);
/* Settings of the best: as --best says, or as the run went so far, or BLEU; the share of wrong symbols where targets
 * are short, the loss where nothing is translated. Once programs are compiled. Adds it to the record. */
bool training_choose_best(Training *training, RunRecord *record);
/* What a run's record has of that: the measure, NULL where there is none, and TrainBest.by, or NULL. */
const TrainMeasure *training_recorded_best(const RunRecord *record, const char **by);
/* Of a run that goes on: the best so far by what decides now, from the log, where it was chosen by something else;
 * best.safetensors is then that of the best step whose params are left. False after errors. Rank 0 alone. */
bool training_judge_anew(Training *training);
/* "FILE:WEIGHT" of --mix; false after an error. */
bool training_mix(Job *job, const char *text, Mixed *mixed);
/* Texts, vocabulary, corpora; the model again, with the vocabulary's size. */
bool training_load_data(Training *training);
/* Settings, programs, params, the folder. */
bool training_prepare(Training *training);
/* Fills the record that run.json is written from; data and settings are there. False after
 * errors. (record.c) */
bool training_record(Training *training, RunRecord *record);
/* Whether the run that `was` describes may go on as `now` says: what decides its result is the
 * same, or --allow-change was given. Tells each change; *changed: there is one.
 * (changes.c) */
bool training_may_go_on(Training *training, const RunRecord *was, const RunRecord *now,
                        bool *changed);
/* The hooks of train(): each validation text's figures, and samples; the param
 * whose gradient is not finite, found by a program that is compiled then. (hooks.c) */
bool training_validate(Training *training, TrainReport *report);
const char *training_find_bad(Training *training, const Batch *batch, uint64_t stream, double *value);
void training_free(Training *training);

#endif
