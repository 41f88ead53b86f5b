/* tfc train: what its options must give, and the order of things; the loop itself is
 * runtime/train. */
#define _GNU_SOURCE
#include "cli/training.h"

#include "cli/options.h"
#include "cli/tracing.h"
#include "driver/run_lock.h"

#include <stdio.h>
#include <string.h>

/* Which texts the model wants, from its inputs, and whether they were given. */
static bool check_texts(Job *job, TrainOptions *o, const ModelPorts *ports)
{
    bool pairs = ports->source && ports->target;
    o->kind = pairs            ? CORPUS_PAIRS
              : !ports->target ? CORPUS_SENTENCES
              : o->lines       ? CORPUS_LINES
                               : CORPUS_STREAM;
    if (!ports->source && !ports->target)
        return job_error(job, "%s: the model has no input of tokens [B, S~] to train on", o->model);
    if (pairs && (!o->source || !o->target))
        return job_error(job, "%s translates from '%s' to '%s': --source and --target are needed",
                         o->model, ports->source, ports->target);
    if (!pairs && !o->text)
        return job_error(job, "%s reads one text: --text is needed", o->model);
    if ((pairs && o->text) || (!pairs && (o->source || o->target)))
        return job_error(job,
                         pairs
                             ? "%s: --text is for models with one input; this one has '%s' and '%s'"
                             : "%s: --source and --target are for models with two inputs",
                         o->model, ports->source, ports->target);
    if (pairs && !o->valid_source != !o->valid_target)
        return job_error(job, "--valid-source and --valid-target go together");
    return true;
}

/* What contradicts itself before any file is read; 0 if nothing does. */
static int check_usage(Job *job, const TrainOptions *o)
{
    if (!o->model && !o->resume)
        return cli_usage_error("train: expected MODEL.tfg; see tfc train --help");
    if (!o->out)
        return cli_usage_error("train: --out is needed: the folder to write the run to");
    if (o->resume && !file_exists(o->out))
        return cli_usage_error("train: there is nothing to resume: %s is not there", o->out);
    if (o->resume && !o->model)
        return cli_usage_error("train: there is nothing to resume: %s has no run.json", o->out);
    if (!o->vocab)
        return cli_usage_error(
            "train: --vocab is needed: FILE, auto:8000, words:FILE, words:auto or "
            "chars:auto");
    if (o->validate_every > 0 && !o->valid_source && !o->valid_target && !o->valid_text)
        return cli_usage_error("train: --validate-every has nothing to validate on: "
                               "--valid-source and --valid-target, or --valid-text, are needed");
    if (!o->resume && file_exists(arena_printf(job->arena, "%s/last.safetensors", o->out)))
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
static int run_training(Job *job, TrainOptions *o)
{
    Trace *trace;
    if (!tracing_open(job, o->trace, false, &trace))
        return EXIT_INPUT;
    trace_use(trace);
    Training training;
    RunLock lock = {.fd = -1};
    bool ok = training_load_model(&training, job, o) && check_texts(job, o, &training.ports) &&
              run_lock_take(job, o->out, &lock) && load_data(&training) && prepare(&training);
    cli_flush(job);
    int status = ok ? training_run(&training) : EXIT_INPUT;
    if (!tracing_close(job, o->trace, trace) && status == EXIT_DONE)
        status = EXIT_INPUT;
    training_free(&training);
    run_lock_free(&lock);
    return status;
}

int command_train(Job *job, int argc, char **argv)
{
    TrainOptions o;
    int status;
    if (!training_options(job, argc, argv, &o, &status) || (status = check_usage(job, &o)))
        return status;
    if (o.threads)
        exec_set_threads((int)o.threads);
    status = run_training(job, &o);
    cli_flush(job);
    return status;
}
