/* Preparing and running a training. */
#define _GNU_SOURCE
#include "cli/training.h"

#include "driver/weights.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    DEFAULT_EVERY = 500,
    DEFAULT_REPORT = 100,
    DEFAULT_KEEP = 5,
    DEFAULT_STEPS = 100000,
    DEFAULT_BATCH_TOKENS = 4096,
    VALID_TOKENS = 2048,
    VALID_STREAM_TOKENS = 8192
};

/* ---- settings: the command is stronger than the model, the model than defaults ---- */

static int64_t choose(int64_t option, int64_t model, int64_t otherwise)
{
    return option >= 0 ? option : model > 0 ? model : otherwise;
}

static RateSettings rate_settings(const TrainSpec *spec, int64_t steps)
{
    static const RateKind kinds[] = {[RATE_CONSTANT] = RATE_KIND_CONSTANT,
                                     [RATE_NOAM] = RATE_KIND_NOAM,
                                     [RATE_INVERSE_SQRT] = RATE_KIND_INVERSE_SQRT,
                                     [RATE_LINEAR] = RATE_KIND_LINEAR,
                                     [RATE_COSINE] = RATE_KIND_COSINE};
    return (RateSettings){.kind = kinds[spec->schedule],
                          .d_model = spec->rate_d_model,
                          .factor = spec->rate_factor,
                          .peak = spec->rate_peak,
                          .final = spec->rate_final,
                          .warmup = spec->warmup,
                          .steps = spec->rate_steps > 0 ? spec->rate_steps : steps};
}

static void make_settings(Training *t)
{
    const TrainOptions *o = t->options;
    const TrainSpec *spec = &t->session.model->train;
    TrainSettings *s = &t->settings;
    *s = (TrainSettings){
        .seconds = o->minutes * 60, .folder = o->out, .check_numerics = o->check_numerics};
    s->steps = o->steps ? o->steps : spec->steps;
    if (!s->steps && !o->minutes)
        s->steps = DEFAULT_STEPS;
    s->rate = rate_settings(spec, s->steps);
    s->batch = (BatchOptions){.tokens = o->batch_tokens,
                              .sentences = o->batch_sentences,
                              .shuffle = true,
                              .seed = (uint64_t)o->seed};
    if (!s->batch.tokens && !s->batch.sentences) {
        s->batch.tokens = spec->batch_tokens;
        s->batch.sentences = spec->batch_sentences;
    }
    if (!s->batch.tokens && !s->batch.sentences)
        s->batch.tokens = DEFAULT_BATCH_TOKENS;
    s->accumulate = o->accumulate ? o->accumulate : spec->accumulate > 0 ? spec->accumulate : 1;
    s->validate_every = choose(o->validate_every, spec->validate_every, DEFAULT_EVERY);
    s->save_every = choose(o->save_every, spec->save_every, DEFAULT_EVERY);
    s->report_every = choose(o->report_every, spec->report_every, DEFAULT_REPORT);
    s->keep = choose(o->keep, spec->keep, DEFAULT_KEEP);
    s->average = choose(o->average, spec->average, 0);
    s->patience = choose(o->patience, spec->patience, 0);
}

/* ---- programs and params ---- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* As large in every number as any batch of the first epoch: others have hardly larger ones. */
static bool bound_batches(Training *t, BatchShape *bound)
{
    Batches *batches = batches_new(t->corpus, &t->settings.batch, 0);
    if (!batches)
        return job_error(t->job, "out of memory");
    for (int64_t i = 0; i < batches_count(batches); i++) {
        BatchShape shape = batches_shape(batches, i);
        bound->rows = larger(bound->rows, shape.rows);
        bound->source_total = larger(bound->source_total, shape.source_total);
        bound->source_longest = larger(bound->source_longest, shape.source_longest);
        bound->target_total = larger(bound->target_total, shape.target_total);
        bound->target_longest = larger(bound->target_longest, shape.target_longest);
    }
    batches_free(batches);
    return true;
}

/* What is compiled from now on takes at most --memory, with `beside` (or NULL), which runs
 * by turns with it. */
static bool limit_memory(Training *t, const TfcProgram *beside)
{
    const Module *module = t->session.model->module;
    const Feed *feed = &t->programs.feed;
    int n_dims = (int)module->symbols.count;
    DimSize *dims = ARENA_ARRAY(t->job->arena, DimSize, n_dims + 1);
    BatchShape bound = {0};
    if (!t->options->memory)
        return true;
    if (!bound_batches(t, &bound))
        return false;
    for (int d = 0; d < n_dims; d++) {
        const char *name = module->symbols.data[d].name;
        dims[d] = (DimSize){name, bound.rows, bound.rows};
        if (feed->source_dim && !strcmp(name, feed->source_dim))
            dims[d] = (DimSize){name, bound.source_longest, bound.source_total};
        else if (feed->target_dim && !strcmp(name, feed->target_dim))
            dims[d] = (DimSize){name, bound.target_longest, bound.target_total};
    }
    t->session.options.memory = (MemoryLimit){t->options->memory, dims, n_dims, beside};
    return true;
}

/* Training computes in the type asked for, validation in f32, as tfc eval does: a run
 * may be resumed, and compared, in either type. */
static bool compile_programs(Training *t)
{
    TrainPrograms *p = &t->programs;
    p->feed = feed_of(t->session.model->module, &t->ports);
    session_set_dtype(&t->session.options, t->options->dtype);
    if (t->settings.accumulate == 1) {
        if (!limit_memory(t, NULL))
            return false;
        p->step = session_compile(&t->session, session_function(&t->session, "train_step"));
    } else {
        p->update = session_compile(&t->session, session_function(&t->session, "update"));
        if (!p->update || !limit_memory(t, p->update))
            return false;
        p->accumulate = session_compile(&t->session, session_function(&t->session, "accumulate"));
    }
    t->session.options.memory = (MemoryLimit){0};
    session_set_dtype(&t->session.options, "f32");
    const TfcProgram *all[] = {p->step, p->accumulate, p->update};
    for (int i = 0; i < 3; i++) {
        bool needed = (i == 0) == (t->settings.accumulate == 1);
        if (needed && !all[i])
            return false;
        if (needed && !store_add_program(t->store, all[i]))
            return job_error(t->job, "out of memory");
    }
    inference_init(&t->inference, &t->session, t->store, t->vocab);
    if (!t->valid)
        return true;
    bool decodes = t->options->kind == CORPUS_PAIRS && t->ports.logits && !t->options->no_bleu;
    return inference_prepare_score(&t->inference) &&
           (!decodes || inference_prepare_decode(&t->inference));
}

/* The run's checkpoint; its tensors are all there are, so nothing is initialised. */
static bool load_run(Training *t, bool changed)
{
    const TrainOptions *o = t->options;
    const char *last = run_path(t->job->arena, o->out, "last.safetensors");
    uint64_t config = train_config(&t->settings, t->corpus);
    if (!checkpoint_load(&t->job->diags, t->job->arena, last, t->store, &t->state))
        return false;
    if (t->state.config != config && !changed)
        return job_error(t->job, "%s is not of the training that %s/run.json tells of", last,
                         o->out);
    t->state.config = config;
    t->state.seed = (uint64_t)o->seed;
    return true;
}

/* A folder that is gone on with keeps its model unless that has changed. */
static bool write_folder(Training *t, const RunRecord *record, bool changed)
{
    const char *out = t->options->out;
    return t->options->record && !changed
               ? run_record_write(t->job, out, record)
               : run_folder_write(t->job, out, &t->session, t->vocab, record);
}

bool training_prepare(Training *t)
{
    const TrainOptions *o = t->options;
    RunRecord record;
    bool changed = false;
    make_settings(t);
    if (!training_record(t, &record) ||
        (o->record && !training_may_go_on(t, o->record, &record, &changed)) || !compile_programs(t))
        return false;
    t->state =
        (TrainState){.seed = (uint64_t)o->seed, .config = train_config(&t->settings, t->corpus)};
    return (o->record ? load_run(t, changed)
                      : weights_initialise(t->job, t->store, (uint64_t)o->seed)) &&
           write_folder(t, &record, changed);
}

/* ---- hooks ---- */

static void on_planned(void *user, int64_t slab_bytes, int64_t store_bytes_)
{
    Training *t = user;
    JitStats stats = jit_stats(t->session.jit);
    fprintf(stderr, "%s: %" PRId64 " rows of text, %d tokens in the vocabulary\n",
            t->options->model, t->corpus->n, (int)vocab_size(t->vocab));
    fprintf(stderr,
            "compiled in %.1f s (%d kernels, %d from the cache); memory at most %s: %s of params "
            "and optimizer, %s of activations\n",
            t->session.compile_seconds, stats.kernels_compiled + stats.kernels_cached,
            stats.kernels_cached,
            bytes_text(slab_bytes + store_bytes_), bytes_text(store_bytes_),
            bytes_text(slab_bytes));
    if (stats.cache_note)
        fprintf(stderr, "compiled programs are not kept: %s\n", stats.cache_note);
    if (t->state.step)
        fprintf(stderr, "going on from step %" PRId64 "\n", t->state.step);
}

static void on_report(void *user, const TrainReport *report, bool due)
{
    Training *t = user;
    double valid_loss = t->last.valid_loss, valid_bleu = t->last.valid_bleu;
    progress_report(&t->progress, report, due);
    if (forecast_step(&t->forecast, report->step, wall_seconds())) {
        progress_clear(&t->progress);
        cli_flush(t->job);
    }
    if (!due)
        return;
    t->last = *report;
    if (!report->validated) {
        t->last.valid_loss = valid_loss;
        t->last.valid_bleu = valid_bleu;
    }
}

static bool valid_bleu(Training *t, double *bleu)
{
    Arena *arena = arena_new();
    DecodeSettings settings = inference_decode_settings(&t->inference);
    settings.beam = 1;
    settings.length_penalty = 0;
    Decoded *results = ARENA_ARRAY(arena, Decoded, t->valid->n + 1);
    bool ok = inference_decode(&t->inference, t->valid, &settings, VALID_TOKENS, arena, results);
    Bleu counts = {0};
    for (int64_t i = 0; ok && i < t->valid->n; i++) {
        const char *output =
            results[i].n ? inference_text(&t->inference, results[i].best, arena) : "";
        const char *reference =
            inference_reference(&t->inference, &t->valid_target->at[t->valid->line[i]], arena);
        bleu_add(&counts, inference_tokenize(&t->inference), output, &reference, 1);
    }
    *bleu = bleu_score(&counts);
    arena_free(arena);
    return ok;
}

static bool on_validate(void *user, double *loss, double *bleu)
{
    Training *t = user;
    Scores scores;
    int64_t tokens = t->options->kind == CORPUS_STREAM ? VALID_STREAM_TOKENS : VALID_TOKENS;
    *bleu = NAN;
    if (!score_corpus(&t->inference.score, t->valid, tokens, NULL, &scores))
        return job_error(t->job, "out of memory while validating");
    *loss = scores.tokens ? -scores.log_probability / (double)scores.tokens : NAN;
    return !t->inference.has_stepper || valid_bleu(t, bleu);
}

/* The first value of a gradient that is not finite, or NULL. */
static const float *find_bad(Exec *exec, const char *output)
{
    const float *values = exec_output(exec, output);
    int64_t n = exec_output_count(exec, output);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return &values[i];
    return NULL;
}

static const char *name_bad(Training *t, const TfcProgram *program, Exec *exec, double *value)
{
    static const char prefix[] = "grad.";
    for (int32_t i = 0; i < program->n_outputs; i++) {
        const char *output = program->outputs[i].name;
        bool is_gradient = !strncmp(output, prefix, sizeof prefix - 1);
        const float *bad = is_gradient ? find_bad(exec, output) : NULL;
        if (bad) {
            *value = *bad;
            return arena_strdup(t->job->arena, output + sizeof prefix - 1);
        }
    }
    return NULL;
}

/* Compiles what nobody needs until something has gone wrong: the gradients as outputs. */
static const char *on_bad_gradient(void *user, const Batch *batch, uint64_t stream, double *value)
{
    Training *t = user;
    session_set_dtype(&t->session.options, t->options->dtype);
    const TfcProgram *program =
        session_compile(&t->session, derive_gradient(t->session.model->module, true));
    Exec *exec = program ? exec_new(program, t->store) : NULL;
    if (!exec)
        return NULL;
    feed_batch(exec, &t->programs.feed, batch);
    exec_set_rng(exec, t->state.seed, stream);
    const char *name = exec_run(exec) ? name_bad(t, program, exec, value) : NULL;
    exec_free(exec);
    return name;
}

/* ---- running ---- */

static volatile sig_atomic_t stop_asked;
static void ask_to_stop(int signal)
{
    (void)signal;
    stop_asked = 1;
}

/* The second signal of a kind ends the program at once. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESETHAND | SA_RESTART},
                     was;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &was) && was.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* nobody reads the progress any more: the training goes on */
}

static bool write_summary(Training *t, const char *ended)
{
    if (!t->options->json_summary)
        return true;
    Text text = {0}, line = {0};
    t->last.validated = t->valid != NULL;
    runlog_print(&t->last, &line);
    text_add(&text,
             "%.*s, \"best_step\": %" PRId64 ", \"compile_seconds\": %.3f, "
             "\"resident_peak_bytes\": %" PRId64 ", \"ended\": \"%s\"}\n",
             (int)line.length - 1, line.data, t->state.best_step, t->session.compile_seconds,
             peak_resident_bytes(), ended);
    bool ok = file_write_all(&t->job->diags, t->options->json_summary, text.data, text.length);
    text_free(&text);
    text_free(&line);
    return ok;
}

static void tell_end(const Training *t, TrainEnd end)
{
    if (end == TRAIN_INTERRUPTED)
        fprintf(stderr, "interrupted at step %" PRId64 " and saved; --resume goes on\n",
                t->state.step);
    else if (end == TRAIN_DONE && t->settings.patience > 0 && t->state.bad >= t->settings.patience)
        fprintf(stderr,
                "stopped at step %" PRId64 ": %" PRId64 " validations without a better one; the "
                "best was at step %" PRId64 "\n",
                t->state.step, t->state.bad, t->state.best_step);
    else if (end == TRAIN_DONE)
        fprintf(stderr, "done at step %" PRId64 " after %s\n", t->state.step,
                duration_text(t->state.seconds));
}

int training_run(Training *t)
{
    t->last = (TrainReport){.step = t->state.step,
                            .epoch = t->state.epoch,
                            .loss = NAN,
                            .rate = NAN,
                            .gradient_norm = NAN,
                            .tokens_per_second = NAN,
                            .seconds = t->state.seconds,
                            .valid_loss = NAN,
                            .valid_bleu = NAN};
    TrainHooks hooks = {.user = t,
                        .planned = on_planned,
                        .report = on_report,
                        .validate = t->valid ? on_validate : NULL,
                        .find_bad_gradient = on_bad_gradient};
    const TrainOptions *o = t->options;
    forecast_init(&t->forecast, t->job, &t->settings,
                  !o->steps && !o->minutes && !t->session.model->train.steps, t->state.step);
    cli_flush(t->job);
    progress_init(&t->progress, t->settings.steps);
    t->settings.stop = &stop_asked;
    catch_signals();
    TrainEnd end =
        train(&t->job->diags, &t->programs, &t->settings, &hooks, t->corpus, t->store, &t->state);
    progress_clear(&t->progress);
    tell_end(t, end);
    static const char *const ended[] = {"done", "interrupted", "failed"};
    bool written = write_summary(t, ended[end]);
    cli_flush(t->job);
    if (end == TRAIN_FAILED || !written)
        return EXIT_INPUT;
    return end == TRAIN_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_DONE;
}
