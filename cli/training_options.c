/* The options of tfc train: those of the command line, and with --resume before them those
 * that the run began with. */
#define _GNU_SOURCE
#include "cli/training.h"

#include "cli/tracing.h"

#include <stdlib.h>
#include <string.h>

static const TrainOptions defaults = {.dtype = "f32",
                                      .seed = 1,
                                      .validate_every = -1,
                                      .save_every = -1,
                                      .report_every = -1,
                                      .keep = -1,
                                      .average = -1,
                                      .patience = -1};

/* false: *status is the exit status. */
static bool parse(Job *job, int argc, char **argv, TrainOptions *o, Arguments *arguments,
                  int *status)
{
    const Option options[] = {
        {"source", "FILE", OPTION_TEXT, &o->source, 0, "source text, one sentence a line"},
        {"target", "FILE", OPTION_TEXT, &o->target, 0, "target text, as many lines"},
        {"text", "FILE", OPTION_TEXT, &o->text, 0, "the text of a model with one input"},
        {"lines", NULL, OPTION_FLAG, &o->lines, 0,
         "each line of --text stands alone, with an end token"},
        {"valid-source", "FILE", OPTION_TEXT, &o->valid_source, 0, "to validate on: sources"},
        {"valid-target", "FILE", OPTION_TEXT, &o->valid_target, 0, "… and targets"},
        {"valid-text", "FILE", OPTION_TEXT, &o->valid_text, 0, "… or the one text"},
        {"no-bleu", NULL, OPTION_FLAG, &o->no_bleu, 0, "validate by the loss alone"},
        {"vocab", "V", OPTION_TEXT, &o->vocab, 0,
         "a SentencePiece model, auto:N to train one, words:FILE, words:auto, chars:auto"},
        {"out", "RUN", OPTION_TEXT, &o->out, 0,
         "folder for model, vocabulary, checkpoints, log.jsonl"},
        {"resume", NULL, OPTION_FLAG, &o->resume, 0,
         "go on from RUN/last.safetensors, bit for bit, with the options that the run began with"},
        {"allow-change", NULL, OPTION_FLAG, &o->allow_change, 0,
         "go on though model, data or settings are others than they were"},
        {"steps", "N", OPTION_INT, &o->steps, 1, "updates in all"},
        {"minutes", "M", OPTION_NUMBER, &o->minutes, 0,
         "stop after so many minutes (of this session)"},
        {"seed", "S", OPTION_INT, &o->seed, 0,
         "of initial values, dropout and the order of the data (1)"},
        {"dtype", "f32|bf16", OPTION_CHOICE, &o->dtype, 0,
         "type of the products; params stay f32 (f32)"},
        OPTION_MEMORY(&o->memory),
        {"threads", "N", OPTION_INT, &o->threads, 1, "threads (all processors)"},
        OPTION_GEMM(job),
        OPTION_CPU(job),
        OPTION_PASSES(job),
        {"batch-tokens", "N", OPTION_INT, &o->batch_tokens, 1, "tokens a batch, of each side"},
        {"batch-sentences", "N", OPTION_INT, &o->batch_sentences, 1, "sentences a batch"},
        {"accumulate", "N", OPTION_INT, &o->accumulate, 1, "batches an update"},
        {"max-length", "N", OPTION_INT, &o->max_length, 1,
         "leave out longer sentences; window of a text"},
        OPTION_LINE_LIMIT(&o->line_limit),
        {"validate-every", "N", OPTION_INT, &o->validate_every, 0,
         "steps; 0: only at the end (500)"},
        {"save-every", "N", OPTION_INT, &o->save_every, 0, "steps; 0: at validations only (500)"},
        {"report-every", "N", OPTION_INT, &o->report_every, 1, "steps (100)"},
        {"keep", "N", OPTION_INT, &o->keep, 1, "how many step-N.safetensors stay (5)"},
        {"average", "N", OPTION_INT, &o->average, 0, "at the end, average the last N checkpoints"},
        {"patience", "N", OPTION_INT, &o->patience, 0,
         "stop after N validations without a better one"},
        {"check-numerics", NULL, OPTION_FLAG, &o->check_numerics, 0,
         "name the first operation that makes a NaN"},
        {"json-summary", "FILE", OPTION_TEXT, &o->json_summary, 0,
         "write the last figures as JSON"},
        OPTION_TRACE(&o->trace),
        {"set", "NAME=VALUE", OPTION_LIST, &o->settings, 0, "override a const of the model"},
    };
    const Usage usage = {
        "train", "MODEL.tfg",
        "Trains a model on text. Options that the model's train { } block sets too are\n"
        "stronger than it. SIGINT, SIGTERM and SIGHUP finish the step, save, and exit with 3.\n"
        "tfc train RUN --resume goes on with a run; options that are given are compared.",
        0, 1};
    *o = defaults;
    return options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, arguments,
                         status) == OPTIONS_GO;
}

/* ---- what a run remembers ---- */

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name))
        names++;
    return *names != NULL;
}

/* Of this call alone, not of the run. */
static const char *const passing[] = {"out",   "resume",       "allow-change",
                                      "trace", "json-summary", NULL};
static const char *const files[] = {"source",       "target",     "text", "valid-source",
                                    "valid-target", "valid-text", NULL};

static bool is_last(const Arguments *arguments, size_t i)
{
    const GivenOption *given = arguments->given.data;
    for (size_t k = i + 1; k < arguments->given.count; k++)
        if (!strcmp(given[k].name, given[i].name))
            return false;
    return true;
}

/* What --resume is to repeat. Files by absolute paths: it may be called from elsewhere. */
static TextList words_to_keep(Job *job, const TextList *settings, const Arguments *arguments)
{
    TextList words = {0};
    for (size_t i = 0; i < arguments->given.count; i++) {
        const GivenOption *option = &arguments->given.data[i];
        if (is_among(option->name, passing) || option->kind == OPTION_LIST ||
            !is_last(arguments, i))
            continue;
        vec_push(job->arena, words, arena_printf(job->arena, "--%s", option->name));
        char *real = is_among(option->name, files) ? realpath(option->value, NULL) : NULL;
        if (option->value)
            vec_push(job->arena, words, real ? arena_strdup(job->arena, real) : option->value);
        free(real);
    }
    for (size_t i = 0; i < settings->count; i++) {
        vec_push(job->arena, words, "--set");
        vec_push(job->arena, words, settings->data[i]);
    }
    return words;
}

/* The value behind a word such as "--vocab"; NULL without. */
static const char *word_value(const TextList *words, const char *word)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        if (!strcmp(words->data[i], word))
            return words->data[i + 1];
    return NULL;
}

/* "tfc train RUN --resume" is the run --out RUN, without a model; an exit status. */
static int name_run(TrainOptions *o, const Arguments *arguments)
{
    o->model = arguments->count ? arguments->words[0] : NULL;
    if (!o->model || !is_run_folder(o->model))
        return EXIT_DONE;
    if (!o->resume)
        return cli_usage_error("train: %s is the folder of a run; --resume goes on with it",
                               o->model);
    if (o->out && strcmp(o->out, o->model))
        return cli_usage_error("train: %s and --out %s are two runs", o->model, o->out);
    o->out = o->model;
    o->model = NULL;
    return EXIT_DONE;
}

/* Parses again, with the run's options before those given; an exit status. Without a model
 * the run's own copy is meant. */
static int recall(Job *job, int argc, char **argv, TrainOptions *o, Arguments *arguments)
{
    const TrainOptions now = *o;
    RunRecord *record = ARENA_NEW(job->arena, RunRecord);
    if (!run_record_read(job, now.out, record))
        return EXIT_INPUT;
    const char *vocab = word_value(&record->arguments, "--vocab");
    bool goes_on = file_exists(arena_printf(job->arena, "%s/last.safetensors", now.out));
    if (goes_on && now.vocab && vocab && strcmp(now.vocab, vocab))
        return cli_usage_error("train: the vocabulary of a run stays: %s began with --vocab %s, "
                               "not %s; leave the option out",
                               now.out, vocab, now.vocab);
    int n = 0, status;
    char **words = ARENA_ARRAY(job->arena, char *, record->arguments.count + (size_t)argc + 1);
    words[n++] = argv[0];
    for (size_t i = 0; i < record->arguments.count; i++)
        words[n++] = arena_strdup(job->arena, record->arguments.data[i]);
    for (int i = 1; i < argc; i++)
        words[n++] = argv[i];
    if (!parse(job, n, words, o, arguments, &status))
        return status;
    o->settings = merge_settings(job->arena, &o->settings, &(TextList){0});
    o->out = now.out;
    o->record = goes_on ? record : NULL;
    o->model = now.model;
    if (!o->model) {
        const SessionOptions own = run_session_options(job, o->out, record, &o->settings);
        o->model = own.path;
        o->library = own.library;
    }
    return EXIT_DONE;
}

bool training_options(Job *job, int argc, char **argv, TrainOptions *o, int *status)
{
    Arguments arguments;
    if (!parse(job, argc, argv, o, &arguments, status) || (*status = name_run(o, &arguments)))
        return false;
    if (o->resume && o->out && is_run_folder(o->out) &&
        (*status = recall(job, argc, argv, o, &arguments)))
        return false;
    vec_push(job->arena, o->command, "tfc");
    for (int i = 0; i < argc; i++)
        vec_push(job->arena, o->command, argv[i]);
    o->arguments = words_to_keep(job, &o->settings, &arguments);
    return true;
}
