/* One training from the command line: its options, data, programs and hooks. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "base/file.h"
#include "cli/forecast.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "driver/inference.h"
#include "driver/run_folder.h"

typedef struct TrainOptions {
    const char *model, *source, *target, *text, *valid_source, *valid_target, *valid_text;
    const char *vocab, *out, *dtype, *json_summary, *trace;
    const char *library; /* of the model, where that is a run's copy; NULL: the standard one */
    bool resume, allow_change, lines, no_bleu, check_numerics;
    CorpusKind kind;
    int64_t steps, seed, threads, batch_tokens, batch_sentences, accumulate, max_length;
    int64_t memory; /* bytes; 0: no limit */
    int64_t line_limit; /* bytes of a line; 0: LINE_LIMIT */
    int64_t validate_every, save_every, report_every, keep, average,
        patience; /* -1: as the model says */
    double minutes;
    TextList settings;
    TextList command, arguments; /* for run.json: as typed, and what --resume repeats */
    const RunRecord *record;     /* of the run that is gone on with; NULL: a run begins */
} TrainOptions;

typedef struct Training {
    Job *job;
    const TrainOptions *options;
    ModelPorts ports;
    Vocabulary *vocab;
    Lines *source, *target, *valid_source, *valid_target;
    Corpus *corpus, *valid;
    Session session;
    bool session_is_open;
    Store *store;
    Inference inference;
    TrainPrograms programs;
    TrainSettings settings;
    TrainState state;
    Progress progress;
    Forecast forecast;
    TrainReport last; /* the last report that was due, with the last validation's figures */
} Training;

/* Reads the options, with --resume those of the run before them. False: *status is the exit
 * status. (training_options.c) */
bool training_options(Job *job, int argc, char **argv, TrainOptions *options, int *status);
/* Reads the model once, so that its mistakes are told before a vocabulary is trained. */
bool training_load_model(Training *training, Job *job, const TrainOptions *options);
/* What can be told before a vocabulary is made, which takes long; false after errors:
 * of the model, while it is open, passes, processor, what is to be written, and memory;
 * the sizes of the texts; their lines, once they are read. (training_checks.c) */
bool training_check_settings(Training *training);
bool training_check_sizes(Training *training);
bool training_check_lines(Training *training);
/* Texts, vocabulary, corpora; the model again, with the vocabulary's size. */
bool training_load_data(Training *training);
/* Settings, programs, params, the folder. */
bool training_prepare(Training *training);
/* What run.json is to say of this training, once its data and settings are there. False
 * after errors. (training_record.c) */
bool training_record(Training *training, RunRecord *record);
/* Whether the run may go on as `now` says: nothing that decides its result is another than
 * it was, or --allow-change was given. Each change is told. (training_changes.c) */
bool training_may_go_on(Training *training, const RunRecord *was, const RunRecord *now,
                        bool *changed);
/* Trains; an exit status. */
int training_run(Training *training);
void training_free(Training *training);

#endif
