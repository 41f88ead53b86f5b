/* tfc train: options, and the order of things; the loop itself is runtime/train. */
#define _GNU_SOURCE
#include "cli/training.h"

#include "cli/tracing.h"

#include <stdio.h>
#include <string.h>

/* Which texts the model wants, from its inputs, and whether they were given. */
static bool check_texts(Cli *cli, TrainOptions *o, const ModelPorts *ports)
{
    bool pairs = ports->source && ports->target;
    o->kind = pairs            ? CORPUS_PAIRS
              : !ports->target ? CORPUS_SENTENCES
              : o->lines       ? CORPUS_LINES
                               : CORPUS_STREAM;
    if (!ports->source && !ports->target)
        return cli_error(cli, "%s: the model has no input of tokens [B, S~] to train on", o->model);
    if (pairs && (!o->source || !o->target))
        return cli_error(cli, "%s translates from '%s' to '%s': --source and --target are needed",
                         o->model, ports->source, ports->target);
    if (!pairs && !o->text)
        return cli_error(cli, "%s reads one text: --text is needed", o->model);
    if ((pairs && o->text) || (!pairs && (o->source || o->target)))
        return cli_error(cli,
                         pairs
                             ? "%s: --text is for models with one input; this one has '%s' and '%s'"
                             : "%s: --source and --target are for models with two inputs",
                         o->model, ports->source, ports->target);
    if (pairs && !o->valid_source != !o->valid_target)
        return cli_error(cli, "--valid-source and --valid-target go together");
    return true;
}

/* What contradicts itself before any file is read; 0 if nothing does. */
static int check_usage(Cli *cli, const TrainOptions *o)
{
    if (!o->out)
        return cli_usage_error("train: --out is needed: the folder to write the run to");
    if (!o->vocab && !o->resume)
        return cli_usage_error(
            "train: --vocab is needed: FILE, auto:8000, words:FILE, words:auto or "
            "chars:auto");
    bool exists = file_exists(arena_printf(cli->arena, "%s/last.safetensors", o->out));
    if (o->resume && !exists)
        return cli_usage_error(
            "train: there is nothing to resume: %s/last.safetensors is not there", o->out);
    if (!o->resume && exists)
        return cli_usage_error(
            "train: %s holds a training already; --resume goes on with it, another "
            "--out begins a new one",
            o->out);
    return 0;
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
static int run_training(Cli *cli, TrainOptions *o)
{
    Trace *trace;
    if (!tracing_open(cli, o->trace, false, &trace))
        return EXIT_INPUT;
    trace_use(trace);
    Training training;
    bool ok = training_load_model(&training, cli, o) && check_texts(cli, o, &training.ports) &&
              load_data(&training) && prepare(&training);
    cli_flush(cli);
    int status = ok ? training_run(&training) : EXIT_INPUT;
    if (!tracing_close(cli, o->trace, trace) && status == EXIT_DONE)
        status = EXIT_INPUT;
    training_free(&training);
    return status;
}

int command_train(Cli *cli, int argc, char **argv)
{
    TrainOptions o = {.dtype = "f32",
                      .seed = 1,
                      .minutes = 0,
                      .validate_every = -1,
                      .save_every = -1,
                      .report_every = -1,
                      .keep = -1,
                      .average = -1,
                      .patience = -1,
                      .max_length = 0};
    const Option options[] = {
        {"source", "FILE", OPTION_TEXT, &o.source, 0, "source text, one sentence a line"},
        {"target", "FILE", OPTION_TEXT, &o.target, 0, "target text, as many lines"},
        {"text", "FILE", OPTION_TEXT, &o.text, 0, "the text of a model with one input"},
        {"lines", NULL, OPTION_FLAG, &o.lines, 0,
         "each line of --text stands alone, with an end token"},
        {"valid-source", "FILE", OPTION_TEXT, &o.valid_source, 0, "to validate on: sources"},
        {"valid-target", "FILE", OPTION_TEXT, &o.valid_target, 0, "… and targets"},
        {"valid-text", "FILE", OPTION_TEXT, &o.valid_text, 0, "… or the one text"},
        {"no-bleu", NULL, OPTION_FLAG, &o.no_bleu, 0, "validate by the loss alone"},
        {"vocab", "V", OPTION_TEXT, &o.vocab, 0,
         "a SentencePiece model, auto:N to train one, words:FILE, words:auto, chars:auto"},
        {"out", "RUN", OPTION_TEXT, &o.out, 0,
         "folder for model, vocabulary, checkpoints, log.jsonl"},
        {"resume", NULL, OPTION_FLAG, &o.resume, 0, "go on from RUN/last.safetensors, bit for bit"},
        {"steps", "N", OPTION_INT, &o.steps, 1, "updates in all"},
        {"minutes", "M", OPTION_NUMBER, &o.minutes, 0,
         "stop after so many minutes (of this session)"},
        {"seed", "S", OPTION_INT, &o.seed, 0,
         "of initial values, dropout and the order of the data (1)"},
        {"dtype", "f32|bf16", OPTION_CHOICE, &o.dtype, 0, "type of the products; params stay f32 (f32)"},
        OPTION_MEMORY(&o.memory),
        {"threads", "N", OPTION_INT, &o.threads, 1, "threads (all processors)"},
        OPTION_GEMM(cli),
        OPTION_CPU(cli),
        OPTION_PASSES(cli),
        {"batch-tokens", "N", OPTION_INT, &o.batch_tokens, 1, "tokens a batch, of each side"},
        {"batch-sentences", "N", OPTION_INT, &o.batch_sentences, 1, "sentences a batch"},
        {"accumulate", "N", OPTION_INT, &o.accumulate, 1, "batches an update"},
        {"max-length", "N", OPTION_INT, &o.max_length, 1,
         "leave out longer sentences; window of a text"},
        {"validate-every", "N", OPTION_INT, &o.validate_every, 0,
         "steps; 0: only at the end (500)"},
        {"save-every", "N", OPTION_INT, &o.save_every, 0, "steps; 0: at validations only (500)"},
        {"report-every", "N", OPTION_INT, &o.report_every, 1, "steps (100)"},
        {"keep", "N", OPTION_INT, &o.keep, 1, "how many step-N.safetensors stay (5)"},
        {"average", "N", OPTION_INT, &o.average, 0, "at the end, average the last N checkpoints"},
        {"patience", "N", OPTION_INT, &o.patience, 0,
         "stop after N validations without a better one"},
        {"check-numerics", NULL, OPTION_FLAG, &o.check_numerics, 0,
         "name the first operation that makes a NaN"},
        {"json-summary", "FILE", OPTION_TEXT, &o.json_summary, 0, "write the last figures as JSON"},
        OPTION_TRACE(&o.trace),
        {"set", "NAME=VALUE", OPTION_LIST, &o.settings, 0, "override a const of the model"},
    };
    const Usage usage = {
        "train", "MODEL.tfg",
        "Trains a model on text. Options that the model's train { } block sets too are\n"
        "stronger than it. SIGINT and SIGTERM finish the step, save, and exit with 3.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    o.model = arguments.words[0];
    if ((status = check_usage(cli, &o)))
        return status;
    if (o.threads)
        exec_set_threads((int)o.threads);
    status = run_training(cli, &o);
    cli_flush(cli);
    return status;
}
