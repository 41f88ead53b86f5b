/* One training: its options, data, programs and params. */
#ifndef DRIVER_TRAIN_STATE_H
#define DRIVER_TRAIN_STATE_H

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
    const char *best; /* "MEASURE", "TEXT" or "TEXT:MEASURE" (BestOption); NULL: see best.h */
    const char *prepared; /* a folder of tfc prepare, in place of the texts to train on */
    const Prepared *rows; /* … once it is open (data.h); NULL: texts */
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

#endif
