/* What a training writes into run.json: what it was told to do, and all that decides its
 * result. */
#define _GNU_SOURCE
#include "driver/session/about.h"
#include "driver/train/training.h"

#include "base/sha256.h"
#include "driver/session/tuning.h"
#include "ir/text.h"
#include "ir/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *hash_text(Arena *arena, const void *data, size_t size)
{
    Sha256 sha;
    char *text = arena_alloc(arena, 2 * SHA256_BYTES + 1);
    sha256_init(&sha);
    sha256_add(&sha, data, size);
    sha256_finish_text(&sha, text);
    return text;
}

static void add_fact(const Training *t, RunRecord *record, const char *name, const char *value)
{
    vec_push(t->job->arena, record->facts, ((RunFact){name, value}));
}

/* The graph that is trained, whatever the text it came from: params and function. How params
 * begin is left out, for a run that goes on has them. */
static const char *describe_model(const Training *t)
{
    const Module *module = t->session.model->module;
    Arena *arena = t->job->arena;
    Text text = {0};
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        text_add(&text, "%s %s %s %d\n", info->name, ir_type_text(module, &info->type, arena),
                 tir_roles[info->role], info->decay);
    }
    ir_print_function(module_function(module, "model"), &text);
    const char *hash = hash_text(arena, text.data, text.length);
    text_free(&text);
    return hash;
}

static const char *describe_optimizer(const Training *t)
{
    const OptimizerSpec spec = session_optimizer(&t->session);
    Arena *arena = t->job->arena;
    const char *clip =
        arena_printf(arena, "weight_decay = %g, clip_norm = %g", spec.weight_decay, spec.clip_norm);
    const char *word = optimizer_words()[spec.kind];
    if (spec.kind == OPTIMIZER_SGD)
        return arena_printf(arena, "%s(momentum = %g), %s", word, spec.momentum, clip);
    return arena_printf(arena, "%s(beta1 = %g, beta2 = %g, eps = %g), %s", word,
                        spec.beta1, spec.beta2, spec.eps, clip);
}

static const char *describe_rate(const Training *t)
{
    const RateSettings *rate = &t->settings.rate;
    Arena *arena = t->job->arena;
    const char *text = schedule_words()[rate->kind];
    if (rate->kind == RATE_NOAM)
        return arena_printf(arena, "%s(d_model = %g, factor = %g, warmup = %" PRId64 ")", text,
                            rate->d_model, rate->factor, rate->warmup);
    text = arena_printf(arena, "%s(peak = %g, warmup = %" PRId64, text, rate->peak, rate->warmup);
    if (rate_falls(rate))
        text = arena_printf(arena, "%s, final = %g, steps = %s", text, rate->final,
                            rate->steps ? arena_printf(arena, "%" PRId64, rate->steps)
                                        : "as time allows");
    return arena_printf(arena, "%s)", text);
}

/* "0.5, 2": what is mixed in by what weight; the texts themselves stand under data. */
static const char *describe_mix(const Training *t)
{
    Arena *arena = t->job->arena;
    const char *text = "";
    for (size_t i = 0; i < t->options->mix.count; i++)
        text = arena_printf(arena, "%s%s%g", text, *text ? ", " : "", t->mixed[i].weight);
    return text;
}

static const char *describe_batch(const Training *t)
{
    const BatchOptions *batch = &t->settings.batch;
    Arena *arena = t->job->arena;
    const char *text = "";
    if (batch->tokens)
        text = arena_printf(arena, "%" PRId64 " tokens", batch->tokens);
    if (batch->sentences)
        text = arena_printf(arena, "%s%s%" PRId64 " sentences", text, *text ? ", " : "",
                            batch->sentences);
    if (batch->shards > 1)
        text = arena_printf(arena, "%s, %" PRId64 " shards", text, batch->shards);
    return text;
}

/* A run that goes on multiplies as it did, whatever is measured by now, if this machine can. */
static const char *describe_products(Training *t)
{
    Job *job = t->job;
    const char *was = t->options->record ? run_record_fact(t->options->record, "products") : NULL;
    TfcChoice choice;
    if (was && session_gemm(job) == GEMM_AUTO && tuning_from_text(was, &choice))
        job->choice = arena_copy(job->arena, &choice, sizeof choice);
    return session_choice(job, &choice) ? tuning_text(job->arena, job->gemm, &choice) : NULL;
}

static bool add_facts(Training *t, RunRecord *record)
{
    const TrainOptions *o = t->options;
    const Job *job = t->job;
    Arena *arena = job->arena;
    const BestOption best = training_best_option(arena, o);
    TargetOptions target = {.cpu = job->cpu, .opt_level = 2};
    const char *processor = codegen_processor(&target, arena, &t->job->diags);
    const char *products = processor ? describe_products(t) : NULL;
    if (!products)
        return false;
    add_fact(t, record, "version", TFC_VERSION);
    add_fact(t, record, "model", describe_model(t));
    add_fact(t, record, "optimizer", describe_optimizer(t));
    add_fact(t, record, "rate", describe_rate(t));
    add_fact(t, record, "vocabulary",
             arena_printf(arena, "%d tokens, %016" PRIx64, (int)vocab_size(t->vocab),
                          vocab_hash(t->vocab)));
    add_fact(t, record, "batch", describe_batch(t));
    if (o->mix.count)
        add_fact(t, record, "mix", describe_mix(t));
    if (best.text)
        add_fact(t, record, "best", best.text);
    if (t->settings.rounded_gradients)
        add_fact(t, record, "gradients between ranks", o->gradients);
    add_fact(t, record, "accumulate", arena_printf(arena, "%" PRId64, t->settings.accumulate));
    add_fact(t, record, "max_length",
             arena_printf(arena, "%" PRId64, t->corpus->options.max_length));
    add_fact(t, record, "kind of text", corpus_kind_name(o->kind));
    add_fact(t, record, "seed", arena_printf(arena, "%" PRId64, o->seed));
    add_fact(t, record, "dtype", o->dtype);
    add_fact(t, record, "cpu", processor);
    add_fact(t, record, "gemm", job->gemm ? job->gemm : "auto");
    add_fact(t, record, "products", products);
    add_fact(t, record, "passes", job->passes ? job->passes : "all");
    return true;
}

/* Each file of the text. */
static void add_text(const Training *t, RunRecord *record, const char *option, const Lines *lines)
{
    for (int k = 0; lines && k < lines->n_parts; k++)
        add_text(t, record, option, lines->parts[k]);
    if (!lines || lines->n_parts)
        return;
    const Source *source = lines->source;
    Arena *arena = t->job->arena;
    char *real = realpath(source->path, NULL);
    RunText text = {.option = option,
                    .file = arena_strdup(arena, real ? real : source->path),
                    .sha256 = hash_text(arena, source->text, source->length),
                    .bytes = (int64_t)source->length,
                    .lines = lines->n};
    free(real);
    vec_push(arena, record->texts, text);
}

/* Texts as `files` name them; prefix "valid-": to validate on. */
static void add_texts(const Training *t, RunRecord *record, const TextFiles *files, const char *prefix,
                      const Lines *source, const Lines *target)
{
    const char *first = files->data.count ? "data" : files->text.count ? "text" : "source";
    add_text(t, record, arena_printf(t->job->arena, "%s%s", prefix, first), source);
    if (files->source.count)
        add_text(t, record, arena_printf(t->job->arena, "%starget", prefix), target);
}

bool training_record(Training *t, RunRecord *record)
{
    const TrainOptions *o = t->options;
    *record = (RunRecord){.version = TFC_VERSION,
                          .model = o->record && o->library ? o->record->model : o->model,
                          .processor = about_processor(t->job->arena),
                          .kind = o->kind,
                          .settings = t->session.options.settings,
                          .tokens = o->record ? o->record->tokens : o->vocab.tokens,
                          .command = o->command,
                          .arguments = o->arguments};
    if (o->ranks && o->shards < 0) { /* so that another number of ranks, or one process, goes on */
        vec_push(t->job->arena, record->arguments, "--shards");
        vec_push(t->job->arena, record->arguments,
                 arena_printf(t->job->arena, "%" PRId64, t->settings.batch.shards));
    }
    const char *how = o->record || o->rows ? NULL : vocabulary_normalization(&o->vocab, o->kind == CORPUS_PAIRS);
    if (how && !o->vocab.normalize) { /* what was chosen where nobody said */
        vec_push(t->job->arena, record->arguments, "--normalize");
        vec_push(t->job->arena, record->arguments, how);
    }
    if (o->rows)
        vec_push(t->job->arena, record->texts, training_prepared_text(t));
    else
        add_texts(t, record, &o->texts, "", t->source, t->target);
    for (size_t i = 0; i < o->mix.count; i++)
        add_text(t, record, "mix", t->mixed[i].source);
    for (int i = 0; i < t->n_valid; i++) {
        const ValidText *valid = &t->valid[i];
        if (valid->name)
            add_text(t, record, "valid", valid->source);
        else
            add_texts(t, record, &o->valid_texts, "valid-", valid->source, valid->target);
    }
    return add_facts(t, record);
}
