/* tfc train: what its options must give, and the order of things; the loop itself is
 * runtime/train. */
#define _GNU_SOURCE
#include "cli/options/training.h"

#include "cli/commands/commands.h"
#include "cli/commit.h"
#include "cli/ranks.h"
#include "cli/tracing.h"
#include "driver/run/lock.h"
#include "driver/train/best.h"
#include "driver/train/data.h"
#include "driver/train/ranks.h"
#include "driver/train/training.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALID_TEXTS = TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT };
enum { TRAIN_TEXTS = VALID_TEXTS | TEXTS_PREPARED };

/* A model whose inputs are columns reads tables alone. */
static bool check_table(Job *job, const TrainOptions *o)
{
    bool is_given = o->texts.data.count > 0 || o->rows;
    const TextFiles *all[] = {&o->texts, &o->valid_texts};
    for (int i = 0; i < 2; i++)
        if (all[i]->source.count || all[i]->target.count || all[i]->text.count)
            is_given = false;
    if (o->lines || o->languages)
        return cli_refuse(job, "%s reads a table: %s is not for it", o->model,
                          o->lines ? "--lines" : "--languages");
    return is_given ||
           cli_refuse(
               job,
               "%s reads columns of a table: give it as --data FILE or --prepared FOLDER, and what "
               "to validate on as --valid-data FILE",
               o->model);
}

/* Which texts the model wants, from its inputs, and whether they were given. */
static bool check_texts(Job *job, TrainOptions *o, const Training *training)
{
    const ModelPorts *ports = &training->ports;
    const bool has_text = columns_have_text(ports, &training->columns);
    o->kind = ports_kind(ports, o->lines);
    if (has_text && !o->vocab.spec && !o->rows && o->weights && is_run_folder(o->weights))
        return cli_refuse(job, "--vocab is missing: --vocab %s takes that run's", o->weights);
    if (!common_check_vocabulary(job, o->model, has_text, o->rows != NULL, &o->vocab))
        return false;
    if (o->rows && !training_prepared_kind(job, o, ports))
        return false;
    if (ports->is_table)
        return check_table(job, o); /* errors are counted on CTC's labels */
    const BestOption best = training_best_option(job->arena, o);
    if (best.measure && best.measure->needs == NEEDS_TRANSLATIONS && o->no_bleu)
        return cli_refuse(
            job, "--best %s is counted on translations, and --no-bleu leaves them out", o->best);
    if (o->columns.count && !(ports->source && ports->target))
        return cli_refuse(job, "--column: no input of %s is fed by a column of a table", o->model);
    if (!pair_columns_of(job, ports->source, ports->target, &o->columns, &o->texts.columns))
        return false;
    o->valid_texts.columns = o->texts.columns;
    if (!ports->source && !ports->target)
        return job_error(job, "%s: the model has no input of tokens [B, S~] to train on", o->model);
    const bool pairs = o->kind == CORPUS_PAIRS;
    const char *misfit = text_files_misfit(job->arena, &o->valid_texts, "valid-", VALID_TEXTS,
                                           o->model, pairs, false);
    if (!misfit)
        misfit = text_files_columns_mistake(job->arena, &o->texts, &o->valid_texts,
                                            o->mix.count ? &o->mix : &o->valid);
    if (!misfit)
        misfit =
            text_files_misfit(job->arena, &o->texts, "", TRAIN_TEXTS, o->model, pairs, !o->rows);
    text_files_look(job, &o->texts, "", TRAIN_TEXTS);
    text_files_look(job, &o->valid_texts, "valid-", VALID_TEXTS);
    return !misfit || cli_refuse(job, "%s", misfit);
}

/* A message about an option that has no effect beside the others, or without one that is missing;
 * NULL: there is none. */
static const char *options_in_vain(Job *job, const TrainOptions *o)
{
    if (o->fresh.count && !o->weights)
        return "--new names params that --weights FILE may lack: --weights is not given";
    TextList named = o->valid;
    for (size_t i = 0; i < o->mix.count; i++)
        vec_push(job->arena, named, o->mix.data[i]);
    return text_files_in_vain(job->arena, &o->texts, o->lines, o->languages, &o->valid_texts,
                              &named);
}

#define VALID_NEEDED \
    "--valid-source and --valid-target, --valid-data, --valid or --valid-text are needed"

#define HOLDS_TRAINING \
    "%s holds a training already; --resume continues it, another -o begins a new one"

/* Whether the folder of a training that begins has one. */
static bool holds_training(Job *job, const TrainOptions *o)
{
    return !o->resume && (run_params(job, o->out) || run_newest_step(job, o->out));
}

/* What contradicts itself before any file is read; 0 if nothing does. */
static int check_usage(Job *job, const TrainOptions *o)
{
    if (!o->model && !o->resume)
        return cli_usage_error("expected MODEL.tfg; see tfc train --help");
    if (o->resume && !o->out && !file_exists(o->model))
        return cli_usage_error(
            "there is nothing to resume: %s is not there; name the folder that tfc train -o has written",
            o->model);
    if (!o->out && !o->verify)
        return cli_usage_error("-o RUN is needed: the folder to write the run to");
    if (o->resume && !file_exists(o->out))
        return cli_usage_error(
            "there is nothing to resume: %s is not there; name the folder that tfc train -o has written",
            o->out);
    if (o->resume && !o->model)
        return cli_usage_error("there is nothing to resume: %s has no run.json", o->out);
    if (o->prepared && vocabulary_is_chosen(&o->vocab))
        return cli_usage_error("the vocabulary is that of %s: leave %s out", o->prepared,
                               o->vocab.spec           ? "--vocab"
                               : o->vocab.source       ? "--source-vocab"
                               : o->vocab.tokens.count ? "--token"
                                                       : "--normalize");
    if (o->vocab.normalize && !vocabulary_normalization(&o->vocab, false))
        return cli_usage_error(NORMALIZE_IN_VAIN);
    const char *mistake = o->prepared && text_files_given(&o->texts)
                              ? "--prepared is in place of --source and --target, --data and --text"
                              : text_files_mistake(job->arena, &o->texts, "", TRAIN_TEXTS);
    if (!mistake)
        mistake = text_files_mistake(job->arena, &o->valid_texts, "valid-", VALID_TEXTS);
    if (!mistake && !o->resume && !o->verify) /* a run may have been begun with such */
        mistake = options_in_vain(job, o);
    if (mistake)
        return cli_usage_error("%s", mistake);
    bool validates = text_files_given(&o->valid_texts) || o->valid.count;
    if (o->validate_every > 0 && !validates)
        return cli_usage_error("--validate-every has nothing to validate on: " VALID_NEEDED);
    if (o->patience > 0 && !validates)
        return cli_usage_error("--patience %lld has no validations to count: " VALID_NEEDED,
                               (long long)o->patience);
    if (o->best && !validates && (mistake = training_best_mistake(job->arena, o)))
        return cli_usage_error("%s", mistake);
    if (o->best && !validates)
        return cli_usage_error("--best %s has nothing to validate on: " VALID_NEEDED, o->best);
    if (o->out && !run_lock_is_taken(o->out) &&
        holds_training(job, o)) /* taken: run_lock_take says so */
        return cli_usage_error(HOLDS_TRAINING, o->out);
    return 0;
}

/* Takes the folder, and looks once more: another process may have trained there meanwhile. */
static bool take_folder(Job *job, const TrainOptions *o, RunLock *lock)
{
    return run_lock_take(job, OWN_RUN, o->out, lock) &&
           (!holds_training(job, o) || job_error(job, HOLDS_TRAINING, o->out));
}

static bool load_data(Training *training)
{
    int64_t begin = trace_begin();
    bool ok = training_load_data(training);
    trace_end("load data", begin);
    return ok;
}

static bool prepare(Training *training)
{
    int64_t begin = trace_begin();
    bool ok = training_prepare(training);
    trace_end("prepare", begin);
    return ok;
}

/* Everything between the options and the exit status. */
static int run_training(Job *job, TrainOptions *o, const char *trace_file, Ranks *ranks)
{
    Trace *trace;
    if (!tracing_open_ranks(job, trace_file, ranks, &trace))
        return EXIT_INPUT;
    trace_use(trace);
    Training training;
    RunLock lock = {.fd = -1};
    bool ok = training_load_model(&training, job, o) && check_texts(job, o, &training) &&
              training_ranks_choose(job, ranks) &&
              (ranks_mine(ranks) || take_folder(job, o, &lock)) && load_data(&training) &&
              prepare(&training);
    cli_flush(job);
    int status = ok ? training_run(&training) : cli_finish(job, false);
    bool together = status == EXIT_DONE || status == EXIT_INTERRUPTED;
    if (!together && ranks_mine(ranks))
        trace_file = NULL;
    if (!tracing_close(job, trace_file, trace, together ? ranks : NULL) && status == EXIT_DONE)
        status = EXIT_INPUT;
    training_free(&training);
    run_lock_free(&lock);
    return status;
}

/* The folder of a run that is repeated, if none is given; an exit status. */
static int make_folder(Job *job, TrainOptions *o, const char **temporary)
{
    const char *place = getenv("TMPDIR");
    char *path = arena_printf(job->arena, "%s/tfc-verify-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(path))
        return diag_errno(&job->diags, "make", path, errno), EXIT_INPUT;
    o->out = *temporary = path;
    return EXIT_DONE;
}

static int run_train(Job *job, void *record, const Arguments *arguments)
{
    TrainCommand *command = record;
    int status = training_options(job, arguments, command);
    command->o.commit = tfc_commit;
    if (!status)
        status = check_usage(job, &command->o);
    if (!status)
        status = cli_ranks_open(job, &command_train, command, arguments);
    if (!status && !(command->o.prepared ? training_open_prepared(job, &command->o)
                                         : vocabulary_take_rules(job, &command->o.vocab)))
        status = EXIT_INPUT;
    command->o.ranks = command->common.ranks;
    if (!status && command->o.verify && command->o.ranks)
        status = cli_usage_error("--verify repeats a run in one process, which computes the same "
                                 "bits: leave mpirun out");
    const char *temporary = NULL;
    if (!status && !command->o.out)
        status = make_folder(job, &command->o, &temporary);
    if (!status)
        status = run_training(job, &command->o, command->common.trace, command->common.ranks);
    if (temporary)
        file_remove_tree(temporary);
    cli_flush(job);
    return cli_ranks_close(command->common.ranks, status);
}

#define LEAST_MINUTES 0.001 /* 0: no end */

/* -1: as the model says, or else what the help has in parentheses. */
static const Option options[] = {
    {"source", "FILE", FIELD(TrainCommand, o.texts.source), 0, NULL,
     "source text, one sentence a line"},
    {"target", "FILE", FIELD(TrainCommand, o.texts.target), 0, NULL,
     "target text, with as many lines as the source"},
    {"data", "FILE", FIELD(TrainCommand, o.texts.data), 0, NULL,
     "pairs " PAIRS_HELP "; "
     "for a model that reads columns, a table"},
    {"languages", "A,B", FIELD(TrainCommand, o.languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    OPTION_COLUMN(TrainCommand, o.columns),
    {"mix", "FILE:WEIGHT", FIELD(TrainCommand, o.mix), 0, NULL,
     "in each epoch, add WEIGHT times as many rows of this file as the training data has, each time "
     "the next ones: pairs or records as for --data, lines for --text --lines, or for --prepared the "
     "folder of other prepared data"},
    {"text", "FILE", FIELD(TrainCommand, o.texts.text), 0, NULL,
     "text for a model with one input, such as a language model"},
    {"lines", NULL, FIELD(TrainCommand, o.lines), 0, NULL,
     "take each line of --text as a text of its own; otherwise the text is one stream"},
    {"prepared", "FOLDER", FIELD(TrainCommand, o.prepared), 0, NULL,
     "train on what tfc prepare made of texts, which may be larger than memory"},
    {"valid-source", "FILE", FIELD(TrainCommand, o.valid_texts.source), 0, NULL,
     "sources to validate on"},
    {"valid-target", "FILE", FIELD(TrainCommand, o.valid_texts.target), 0, NULL,
     "targets to validate on, with as many lines as --valid-source"},
    {"valid-data", "FILE", FIELD(TrainCommand, o.valid_texts.data), 0, NULL,
     "pairs to validate on in one file, as for --data"},
    {"valid-text", "FILE", FIELD(TrainCommand, o.valid_texts.text), 0, NULL,
     "text to validate a model with one input on"},
    {"valid", "NAME=FILE", FIELD(TrainCommand, o.valid), 0, NULL,
     "validate also on this text, under a name: pairs as for --data, or text of a model with one "
     "input"},
    {"best", "MEASURE", FIELD(TrainCommand, o.best), 0, NULL,
     "choose the best checkpoint, and count --patience, by this measure of validations:\n"
#define FIGURE(name, measure, higher, needs, scale, decimals, unit, title, help) \
    measure ": " help "\n"
#include "runtime/train/figures.def"
#undef FIGURE
     "NAME:MEASURE or NAME measures the text of --valid NAME=FILE, mean takes the mean of all texts "
     "(bleu; errors if the median target has under four words; loss without translations; of the "
     "text without a name, else the mean)"},
    {"no-bleu", NULL, FIELD(TrainCommand, o.no_bleu), 0, NULL,
     "validate by the loss alone: no translations, no continuations"},
    {"vocab", "V", FIELD(TrainCommand, o.vocab.spec), 0, NULL,
     "a SentencePiece model, tokenizer.json, words:FILE or the folder of a run; auto:N trains a "
     "SentencePiece model of N pieces; words:auto and chars:auto are the words or characters of "
     "the texts"},
    {"source-vocab", "V", FIELD(TrainCommand, o.vocab.source), 0, NULL,
     "vocabulary of the sources, whose size is the model's const source_vocab (that of --vocab)"},
    OPTION_NORMALIZE(TrainCommand, o.vocab.normalize),
    OPTION_TOKEN(TrainCommand, o.vocab.tokens),
    {"weights", "FILE", FIELD(TrainCommand, o.weights), 0, NULL,
     "params to begin from: a run, or safetensors, by the model's weights block"},
    {"new", "PATTERN", FIELD(TrainCommand, o.fresh), 0, NULL,
     "params that --weights may lack or have in another shape, such as 'encoder.layer.*.adapter', "
     "or 'head' for other labels"},
    {"freeze", "PATTERN", FIELD(TrainCommand, o.freeze), 0, NULL,
     "params that do not train, such as 'encoder.layer.*.self'"},
    {"only", "PATTERN", FIELD(TrainCommand, o.only), 0, NULL,
     "the only params that train, such as '**.lora_*'"},
    {"output", "RUN", CALL(TrainCommand, o.out), 0, NULL,
     "folder of the run: model, vocabulary, checkpoints, log.jsonl"},
    {"resume", NULL, CALL(TrainCommand, o.resume), 0, NULL,
     "continue from RUN/last.safetensors, bit for bit, with the options that the run began with"},
    {"verify", "RUN", CALL(TrainCommand, o.verify), 0, NULL,
     "repeat RUN's training in another folder (a temporary one without -o), by the options of its "
     "record, from the start or after --weights RUN/step-N.safetensors, and compare each step with "
     "its checkpoints and the lines of --hashes FILE; status 1 names the first that differs"},
    {"allow-change", NULL, CALL(TrainCommand, o.allow_change), 0, NULL,
     "with --resume: continue though model, data or settings have changed"},
    {"allow-unknown", NULL, FIELD(TrainCommand, o.allow_unknown), 0, NULL,
     "train though over 30 % of the tokens of the texts are unknown to the vocabulary"},
    {"minutes", "M", FIELD(TrainCommand, o.minutes), LEAST_MINUTES, NULL,
     "stop after M minutes of training; with --resume, after M more minutes"},
    {"seed", "S", FIELD(TrainCommand, o.seed), 0, "1",
     "seed of initial values, dropout and the order of the data"},
    OPTION_TRAIN_PRODUCTS(TrainCommand),
    OPTION_MEMORY(TrainCommand),
    OPTION_THREADS(TrainCommand),
    OPTION_RANK_TIMEOUT(TrainCommand),
    OPTION_GEMM(TrainCommand),
    OPTION_CPU(TrainCommand),
    OPTION_FMA(TrainCommand),
    OPTION_PASSES(TrainCommand),
#define TRAIN_SETTING(name, initial, block, least, most, option, help) \
    {option, "N",  FIELD(TrainCommand, o.name),                        \
     least,  "-1", initial < least ? help : help " (" #initial ")"},
#include "base/training_settings.def"
    {"gradients", "f32|bf16", FIELD(TrainCommand, o.gradients), 0, "f32",
     "send gradients between ranks in this type; bf16 halves the bytes, but then results depend "
     "on the number of ranks"},
    OPTION_LINE_LIMIT(TrainCommand),
    {"check-numerics", NULL, FIELD(TrainCommand, o.check_numerics), 0, NULL,
     "stop at the first operation that makes a NaN, and name it"},
    {"json-summary", "FILE", OUTPUT(TrainCommand, o.json_summary), 0, NULL,
     "write the last figures as JSON"},
    {"hashes", "FILE", OUTPUT(TrainCommand, o.hashes), 0, NULL,
     "write a line of JSON after each step: hashes (XXH64) of the loss, and of each gradient and "
     "param by name; --resume continues the file, --verify compares with it"},
    OPTION_TRACE(TrainCommand),
    OPTION_SET(TrainCommand),
    OPTION_ALLOW_OUTSIDE(TrainCommand),
};

const Command command_train = {
    .name = "train",
    .summary = "train a model on text",
    .arguments = "MODEL.tfg",
    .max_arguments = 1,
    .trains = true,
    .joins_ranks = true,
    .text =
        "Trains a model on pairs of texts (--source and --target), on a text (--text) or on a table "
        "(--data), and writes a run: the folder of -o. Options override the model's train block. "
        "SIGINT, SIGTERM and SIGHUP finish the step, save, and exit with 3.\n"
        "tfc train RUN --resume continues a run; it is an error if model, text or settings have "
        "changed, unless --allow-change is given. tfc train --verify RUN repeats a run and compares. tfc train RUN -o NEW begins a new run from the "
        "params of RUN.",
    COMMAND_OPTIONS(TrainCommand, options),
    .run = run_train,
};
