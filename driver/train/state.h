/* One training: its options, data, programs and params. */
#ifndef DRIVER_TRAIN_STATE_H
#define DRIVER_TRAIN_STATE_H

#include "base/file.h"
#include "driver/corpus/table_files.h"
#include "driver/corpus/text_files.h"
#include "driver/run/column_words.h"
#include "driver/run/folder.h"
#include "driver/run/grown_rows.h"
#include "driver/run/inference.h"
#include "driver/run/prediction_measures.h"
#include "runtime/data/prepared.h"

typedef struct TrainOptions {
    const char *model;
    TextFiles texts, valid_texts; /* training texts; the validation text without a name */
    const char *languages;        /* "en,de": of translation memories */
    TextList valid;               /* "NAME=FILE": more validation texts */
    const char *best;     /* "MEASURE", "TEXT" or "TEXT:MEASURE" (BestOption); NULL: see best.h */
    const char *prepared; /* a folder of tfc prepare, in place of training texts; or NULL */
    const Prepared *rows; /* `prepared` once it is open (data.h); NULL: texts */
    TextList mix;         /* "FILE:WEIGHT": data that is mixed in (CorpusPart, PreparedPart) */
    TextList columns;     /* "INPUT=FIELD": fields of tables */
    VocabularyChoice vocab;
    const char *out, *dtype;
    const char *gradients;    /* between ranks: f32 or bf16 */
    const char *weights;      /* initial params; NULL: the model's initial values */
    const char *json_summary; /* a file that the caller writes; NULL: none */
    const char *hashes;       /* the file of HashLines, with `verify` read; NULL: none */
    const char *verify;       /* the run that is repeated, and only read (verify.h); NULL: none */
    const char *begin;   /* its checkpoint to begin after; NULL: it is repeated from the start */
    const char *home;    /* with a record: the folder that has model and vocabulary */
    const char *commit;  /* that tfc was built from */
    const char *library; /* of the model, if that is a run's copy; NULL: the standard one */
    FileReach reach;     /* of the files that the model names (FrontendOptions) */
    bool resume, allow_change, allow_unknown, lines, no_bleu, check_numerics;
    CorpusKind kind;
    int64_t seed;
#define TRAIN_SETTING(name, ...) int64_t name; /* -1: as the model says */
#include "base/training_settings.def"
    int64_t memory;     /* bytes; 0: no limit */
    int64_t line_limit; /* bytes of a line; 0: LINE_LIMIT */
    double minutes;     /* 0: no limit */
    TextList settings;  /* "NAME=VALUE" of --set */
    /* patterns of params: that do not train; the only ones that train; that weights may lack */
    TextList freeze, only, fresh;
    TextList command, arguments; /* for run.json: as typed, and what --resume repeats */
    const RunRecord *record;     /* of the run being resumed or repeated; NULL: a new run */
    const Ranks *ranks;          /* that train together; NULL: one process */
} TrainOptions;

/* Whether the training begins after a checkpoint, and not at its first step. */
static inline bool training_goes_on(const TrainOptions *o)
{
    return o->record && (!o->verify || o->begin);
}

/* ValidText: a validation text: pairs, lines or records. */
typedef struct ValidText {
    /* of --valid; NULL: the text of --valid-source, --valid-data or --valid-text */
    const char *name;
    CorpusText text;
    Corpus *corpus;
} ValidText;

/* Most lines of the first validation text that are samples in the log: their translations, or a
 * language model's continuations of their beginnings. */
enum { TRAINING_SAMPLES = 6 };

/* Mixed: the data of a --mix.
 *   prepared   NULL: `text` */
typedef struct Mixed {
    const char *path;
    double weight;
    const Prepared *prepared;
    CorpusText text;
} Mixed;

/* BestOption: the value of --best.
 *   text      NAME of a --valid, or TRAIN_MEAN; NULL: the text without a name, else the mean
 *   measure   NULL: none was given */
typedef struct BestOption {
    const char *text;
    const TrainMeasure *measure;
} BestOption;

/* Training: params_new: what the params of --weights need not fit, once the vocabulary is there.
 * run_from: the folder of the run that --weights names, perhaps among files; NULL: none. tokens:
 * the rules of the vocabulary's tokens. */
typedef struct Training {
    Job *job;
    const TrainOptions *options;
    ModelPorts ports;
    Vocabulary *vocab;
    DataColumns columns;
    NewParams params_new;
    const char *run_from;
    TextList tokens;
    TextList fields_found; /* "INPUT=FIELDS" of patterns of fields */
    TableFields fields;    /* that are read, of a table */
    CorpusText text;
    Corpus *corpus;
    ValidText *valid;                      /* n_valid of them */
    TrainValid *figures;                   /* of the last validation, one for each text */
    TrainSample samples[TRAINING_SAMPLES]; /* of the last validation, n_samples of them */
    int n_samples;
    int n_valid;
    BestOption best;
    int best_text; /* index in `valid`: its figures decide which checkpoint is best; -1: the mean */
    Mixed *mixed;  /* options->mix.count of them; after training_load_data */
    PreparedPart *parts; /* the same for the corpus, where that is prepared data */
    Session session;
    bool session_is_open;
    Store *store;
    struct HashLines *hash_lines; /* NULL: none; so is verify */
    struct Verify *verify;
    Split *split; /* with shards; its own store is freed with the training */
    Inference inference;
    Predictor predictor; /* of validations; n 0: nothing that the model predicts is measured */
    TrainPrograms programs;
    TrainSettings settings;
    TrainState state;
} Training;

#endif
