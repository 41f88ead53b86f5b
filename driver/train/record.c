/* What a training writes into run.json: its options, and all else that decides its result. */
#include "driver/train/training.h"

#include "base/numbers.h"
#include "base/sha256.h"
#include "codegen/processor.h"
#include "driver/session/about.h"
#include "driver/session/tuning.h"
#include "driver/train/best.h"
#include "ir/text.h"
#include "runtime/data/sentencepiece.h"
#include "runtime/text/hf/characters.h"

#include <inttypes.h>
#include <string.h>

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
    const char *hash = sha256_text(arena, text.data, text.length);
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
    return arena_printf(arena, "%s(beta1 = %g, beta2 = %g, eps = %g), %s", word, spec.beta1,
                        spec.beta2, spec.eps, clip);
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

/* "label of kind (3 labels, 0123456789abcdef), …": the columns, their fields and labels. */
static const char *describe_columns(const Training *t)
{
    Arena *arena = t->job->arena;
    const char *text = "";
    for (int c = 0; c < t->columns.n; c++) {
        const ColumnSpec *spec = &t->columns.specs[c];
        text = arena_printf(arena, "%s%s%s of %s", text, *text ? ", " : "", spec->input,
                            t->fields.names[t->fields.columns[c]]);
        if (spec->labels)
            text = arena_printf(arena, "%s (%zu labels, %016" PRIx64 ")", text,
                                spec->labels->words.count, labels_hash(spec->labels));
        if (spec->vocab)
            text = arena_printf(arena, "%s (%d tokens, %016" PRIx64 ")", text,
                                (int)vocab_size(spec->vocab), vocab_hash(spec->vocab));
    }
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
    if (batch->distinct)
        text = arena_printf(arena, "%s, distinct", text);
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

/* "common", or why the bits are this processor's own; NULL after an error. */
static const char *describe_bits(const Training *t, const TargetOptions *target,
                                 const char *products)
{
    Arena *arena = t->job->arena;
    const Processor *kind = codegen_kind(target, arena, &t->job->diags);
    const char *own =
        kind ? processor_own_bits(kind, !strcmp(products, "native"), t->job->emulates_fma,
                                  !strcmp(t->options->dtype, "bf16"))
             : NULL;
    return !kind ? NULL : own ? arena_printf(arena, "its own: %s", own) : COMMON_BITS;
}

static bool add_facts(Training *t, RunRecord *record)
{
    const TrainOptions *o = t->options;
    const Job *job = t->job;
    Arena *arena = job->arena;
    const BestOption best = training_best_option(arena, o);
    TargetOptions target = {.cpu = job->cpu, .emulates_fma = job->emulates_fma, .opt_level = 2};
    const char *processor = codegen_processor(&target, arena, &t->job->diags);
    const char *products = processor ? describe_products(t) : NULL;
    const char *bits = products ? describe_bits(t, &target, products) : NULL;
    if (!bits)
        return false;
    add_fact(t, record, "version", TFC_VERSION);
    add_fact(t, record, "numbers", arena_printf(arena, "%d", NUMBERS_VERSION));
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
        add_fact(t, record, ROUNDED_GRADIENTS, o->gradients);
    add_fact(t, record, "accumulate", arena_printf(arena, "%" PRId64, t->settings.accumulate));
    add_fact(t, record, "max_length",
             arena_printf(arena, "%" PRId64, t->corpus->options.max_length));
    add_fact(t, record, "kind of text", corpus_kind_words[o->kind]);
    if (t->columns.n)
        add_fact(t, record, "columns", describe_columns(t));
    add_fact(t, record, "seed", arena_printf(arena, "%" PRId64, o->seed));
    add_fact(t, record, "dtype", o->dtype);
    add_fact(t, record, "cpu", processor);
    add_fact(t, record, "bits", bits);
    add_fact(t, record, "gemm", job->gemm ? job->gemm : "native");
    add_fact(t, record, "products", products);
    add_fact(t, record, "passes", job->passes ? job->passes : "all");
    return true;
}

/* Each file of the text. False after an error. */
static bool add_text(const Training *t, RunRecord *record, const char *option, const Lines *lines)
{
    bool ok = true;
    for (int k = 0; ok && lines && k < lines->n_parts; k++)
        ok = add_text(t, record, option, lines->parts[k]);
    if (!ok || !lines || lines->n_parts)
        return ok;
    const Source *source = lines->source;
    Arena *arena = t->job->arena;
    RunText text = {.option = option,
                    .file = file_absolute(&t->job->diags, arena, source->path),
                    .sha256 = sha256_text(arena, source->text, source->length),
                    .bytes = (int64_t)source->length,
                    .lines = lines->n};
    vec_push(arena, record->texts, text);
    return text.file != NULL;
}

/* Texts as `files` name them; prefix "valid-": to validate on. */
static bool add_texts(const Training *t, RunRecord *record, const TextFiles *files,
                      const char *prefix, const CorpusText *text)
{
    const char *first = files->data.count ? "data" : files->text.count ? "text" : "source";
    const char *option = arena_printf(t->job->arena, "%s%s", prefix, first),
               *target = arena_printf(t->job->arena, "%starget", prefix);
    return add_text(t, record, option, corpus_lines(text)) &&
           (!files->source.count || add_text(t, record, target, text->target));
}

static RunText prepared_text(const char *option, const Prepared *rows)
{
    return (RunText){.option = option,
                     .file = rows->folder,
                     .sha256 = rows->sha256,
                     .bytes = rows->bytes,
                     .lines = rows->rows};
}

static bool has_argument(const TextList *arguments, const char *text)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (!strcmp(arguments->data[i], text))
            return true;
    return false;
}

/* What is trained on, mixed in and validated on. False after an error. */
static bool add_all_texts(const Training *t, RunRecord *record)
{
    const TrainOptions *o = t->options;
    bool ok = true;
    if (o->rows)
        vec_push(t->job->arena, record->texts, prepared_text("prepared", o->rows));
    else
        ok = add_texts(t, record, &o->texts, "", &t->text);
    for (size_t i = 0; ok && i < o->mix.count; i++)
        if (t->mixed[i].prepared)
            vec_push(t->job->arena, record->texts, prepared_text("mix", t->mixed[i].prepared));
        else
            ok = add_text(t, record, "mix", corpus_lines(&t->mixed[i].text));
    for (int i = 0; ok && i < t->n_valid; i++) {
        const ValidText *valid = &t->valid[i];
        ok = valid->name ? add_text(t, record, "valid", corpus_lines(&valid->text))
                         : add_texts(t, record, &o->valid_texts, "valid-", &valid->text);
    }
    return ok;
}

/* ---- who took part, and with what ---- */

/* The libraries that texts are read with; SentencePiece where it makes the vocabulary, or once did.
 * False after an error. */
static bool add_libraries(Training *t, RunRecord *record)
{
    static const char sentencepiece[] = "SentencePiece";
    const TrainOptions *o = t->options;
    Job *job = t->job;
    const bool made = o->record ? run_record_library(o->record, sentencepiece) != NULL
                                : !o->rows && o->vocab.spec && vocab_needs_text(o->vocab.spec) &&
                                      vocab_spec_is_pieces(o->vocab.spec);
    vec_push(job->arena, record->libraries, ((RunFact){"utf8proc", char_library()}));
    vec_push(job->arena, record->libraries, ((RunFact){"PCRE2", pattern_library()}));
    if (made && !sp_load(&job->diags))
        return false;
    if (made)
        vec_push(job->arena, record->libraries, ((RunFact){sentencepiece, sp_version()}));
    return true;
}

bool training_record(Training *t, RunRecord *record)
{
    const TrainOptions *o = t->options;
    RunRecord from = o->record ? *o->record : (RunRecord){0};
    if (!o->record && t->run_from && !run_record_read(t->job, t->run_from, &from))
        return false;
    *record = (RunRecord){
        .version = TFC_VERSION,
        .commit = o->commit,
        .model = o->record && o->library ? o->record->model : o->model,
        .processor = about_processor(t->job->arena),
        .training = arena_printf(t->job->arena, "%" PRIu64, train_config(&t->settings, t->corpus)),
        .kind = o->kind,
        .settings = t->session.options.settings,
        .tokens = o->record ? o->record->tokens : t->tokens,
        .generation = from.generation,
        .command = o->command,
        .arguments = o->arguments,
        .files = o->record ? o->record->files : (RunFacts){0}};
    if (o->ranks && o->shards < 0) { /* so that another number of ranks, or one process, goes on */
        vec_push(t->job->arena, record->arguments, "--shards");
        vec_push(t->job->arena, record->arguments,
                 arena_printf(t->job->arena, "%" PRId64, t->settings.batch.shards));
    }
    const char *how =
        o->record || o->rows ? NULL : vocabulary_normalization(&o->vocab, o->kind == CORPUS_PAIRS);
    if (how && !o->vocab.normalize) { /* what was chosen where nobody said */
        vec_push(t->job->arena, record->arguments, "--normalize");
        vec_push(t->job->arena, record->arguments, how);
    }
    for (size_t i = 0; i < o->columns.count; i++) /* also those of the run that it began from */
        if (!has_argument(&o->arguments, o->columns.data[i])) {
            vec_push(t->job->arena, record->arguments, "--column");
            vec_push(t->job->arena, record->arguments, o->columns.data[i]);
        }
    for (size_t i = 0; i < t->fields_found.count; i++) {
        vec_push(t->job->arena, record->arguments, "--column");
        vec_push(t->job->arena, record->arguments, t->fields_found.data[i]);
    }
    if (!add_all_texts(t, record) || !add_facts(t, record) || !add_libraries(t, record))
        return false;
    if (o->record) {
        record->processors = o->record->processors;
        record->changed = o->record->changed;
    }
    run_record_add_processor(t->job->arena, record, run_record_processor(t->job->arena, record));
    return true;
}
