/* What a training writes into run.json: its options, and all else that decides its result. On
 * resume each difference is reported by name, and refused without --allow-change. */
#define _GNU_SOURCE
#include "driver/train/training.h"

#include "base/file.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "codegen/codegen.h"
#include "codegen/processor.h"
#include "driver/run/run_model.h"
#include "driver/session/about.h"
#include "driver/session/tuning.h"
#include "driver/train/best.h"
#include "frontend/frontend.h"
#include "ir/text.h"
#include "runtime/data/sentencepiece.h"
#include "runtime/text/hf/characters.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
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

/* A fact of trainings whose gradients are rounded alone. */
static const char rounded_gradients[] = "gradients between ranks";

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
        add_fact(t, record, rounded_gradients, o->gradients);
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

/* ---- differences on resume ---- */

typedef struct Changes {
    Training *t;
    int n;
} Changes;

static void tell_at(Changes *c, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void tell_at(Changes *c, Loc loc, const char *format, ...)
{
    Job *job = c->t->job;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(job->arena, format, args);
    va_end(args);
    c->n++;
    if (c->t->options->allow_change)
        diag_warning(&job->diags, loc, "%s", text);
    else
        diag_error(&job->diags, loc, "%s", text);
}
#define tell(c, ...) tell_at(c, (Loc){0}, __VA_ARGS__)

/* ---- the model ---- */

static const char *setting_name(const Changes *c, const char *setting)
{
    return arena_strndup(c->t->job->arena, setting, strcspn(setting, "="));
}

static void compare_settings(Changes *c, const TextList *was, const TextList *now)
{
    for (size_t i = 0; i < now->count; i++) {
        const char *name = setting_name(c, now->data[i]), *value = setting_value(now, name),
                   *old = setting_value(was, name);
        if (!old)
            tell(c, "the const %s was as the model has it and is now %s", name, value);
        else if (strcmp(old, value))
            tell(c, "the const %s was %s and is now %s", name, old, value);
    }
    for (size_t i = 0; i < was->count; i++) {
        const char *name = setting_name(c, was->data[i]);
        if (!setting_value(now, name))
            tell(c, "the const %s was %s and is now as the model has it", name,
                 setting_value(was, name));
    }
}

/* The patterns of an option, with blanks between them; "" without. */
static const char *patterns_text(Arena *arena, const TextList *words, const char *option)
{
    const char *text = "";
    for (size_t i = 0; i + 1 < words->count; i++)
        if (!strcmp(words->data[i], option))
            text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", words->data[++i]);
    return text;
}

/* Which params train. */
static void compare_patterns(Changes *c, const RunRecord *was, const RunRecord *now)
{
    static const char *const options[] = {"--freeze", "--only"};
    for (int i = 0; i < 2; i++) {
        Arena *arena = c->t->job->arena;
        const char *before = patterns_text(arena, &was->arguments, options[i]);
        const char *after = patterns_text(arena, &now->arguments, options[i]);
        if (strcmp(before, after))
            tell(c, "%s: it was %s and is now %s", options[i], *before ? before : "not given",
                 *after ? after : "not given");
    }
}

/* Tells the first line that differs, if one does. */
static void compare_file(Changes *c, const Source *file, const Source *copy)
{
    const char *a = copy->text, *b = file->text;
    for (int line = 1; *a || *b; line++) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n)) {
            Loc loc = {.source = file, .line = line, .column = 1, .length = (int)(m ? m : 1)};
            if (*a)
                tell_at(c, loc, "the model was another: line %d of %s is '%.*s'", line, copy->path,
                        (int)n, a);
            else
                tell_at(c, loc, "the model was another: %s has no line %d", copy->path, line);
            return;
        }
        a += n + (a[n] != 0);
        b += m + (b[m] != 0);
    }
}

static void compare_files(Changes *c)
{
    Training *t = c->t;
    Job *job = t->job;
    for (size_t i = 0; i < t->session.model->files.count; i++) {
        const Source *file = t->session.model->files.data[i];
        const char *path =
            file_in(job->arena, t->options->home, model_file_place(t->session.model, file));
        const Source *copy = NULL;
        if (file_exists(path))
            copy = job_read(job, t->options->home, path, MODEL_MAX_BYTES);
        if (copy)
            compare_file(c, file, copy);
    }
}

/* The graphs differ: by what? */
static void explain_model(Changes *c, const RunRecord *was, const RunRecord *now)
{
    int before = c->n;
    compare_settings(c, &was->settings, &now->settings);
    compare_patterns(c, was, now);
    compare_files(c);
    const char *changed =
        c->n == before ? run_model_changed(c->t->job, c->t->session.model, was) : NULL;
    if (changed)
        tell(c, "%s was changed since the run began: put it back, or train it with another -o",
             changed);
    else if (c->n == before)
        tell(
            c,
            "the model's graph was another: this version of tfc makes another one of the same text");
}

/* ---- everything else ---- */

/* Whether the rate's schedule is the same but for its last step. */
static bool ends_elsewhere(const RunFact *fact, const char *old)
{
    static const char last[] = "steps = ";
    const char *a = strstr(fact->value, last), *b = strstr(old, last);
    return !strcmp(fact->name, "rate") && a && b && a - fact->value == b - old &&
           !strncmp(fact->value, old, (size_t)(b - old));
}

/* The numbers of another version of tfc. */
static void tell_numbers(Changes *c, const RunRecord *was, const char *old, const char *new)
{
    Arena *arena = c->t->job->arena;
    const char *by = arena_printf(arena, "tfc %s%s%s", was->version ? was->version : "unknown",
                                  was->commit ? ", commit " : "", was->commit ? was->commit : "");
    tell(c,
         "numbers: they were %s (%s), and this build computes those of version %s: its next steps "
         "would have other bits than that build's",
         old ? arena_printf(arena, "those of version %s", old) : "of before they had versions", by,
         new);
}

/* A fact that may be another, since the bits are the same: a note says so. */
static bool is_noted(Changes *c, const RunFact *fact, const char *old, const RunRecord *was,
                     const RunRecord *now)
{
    const char *bits = run_record_fact(was, "bits"), *numbers = run_record_fact(was, "numbers");
    const bool same_numbers = numbers && !strcmp(numbers, run_record_fact(now, "numbers"));
    Diagnostics *diags = &c->t->job->diags;
    if (!strcmp(fact->name, "bits") && !old)
        return true; /* of an earlier build, which the numbers tell of */
    if (!strcmp(fact->name, "version")) {
        if (same_numbers)
            diag_remark(diags, (Loc){0},
                        "the run was begun by tfc %s and goes on with %s, which computes the same "
                        "bits",
                        old, fact->value);
        return true;
    }
    if (strcmp(fact->name, "cpu") || !bits || strcmp(bits, COMMON_BITS) ||
        strcmp(run_record_fact(now, "bits"), COMMON_BITS))
        return false;
    diag_remark(diags, (Loc){0}, "the run computed on %s, and goes on on %s: the bits are the same",
                old, fact->value);
    return true;
}

static void compare_facts(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->facts.count; i++) {
        const RunFact *fact = &now->facts.data[i];
        const char *old = run_record_fact(was, fact->name);
        if ((old && !strcmp(old, fact->value)) || is_noted(c, fact, old, was, now))
            continue;
        if (!strcmp(fact->name, "numbers")) {
            tell_numbers(c, was, old, fact->value);
            continue;
        }
        if (old && !strcmp(fact->name, "model"))
            explain_model(c, was, now);
        else
            tell(
                c, "%s: it was %s and is now %s%s", fact->name, old ? old : "not recorded",
                fact->value,
                old && ends_elsewhere(fact, old)
                    ? ": its schedule ends where --steps says, so the next steps would take the rates of "
                      "the other schedule"
                    : "");
    }
    const char *rounded = run_record_fact(was, rounded_gradients);
    if (rounded && !run_record_fact(now, rounded_gradients))
        tell(c, "%s: it was %s and is now f32", rounded_gradients, rounded);
}

/* Another version may cut texts, or make vocabularies, otherwise: the run keeps its vocabulary, and
 * the texts' ids are compared in any case (train_config). */
static void note_libraries(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->libraries.count; i++) {
        const RunFact *library = &now->libraries.data[i];
        const char *old = run_record_library(was, library->name);
        if (old && strcmp(old, library->value))
            diag_remark(&c->t->job->diags, (Loc){0},
                        "%s was %s when the run began, and is %s: texts may be cut otherwise",
                        library->name, old, library->value);
    }
}

/* The text of `record` that text i of `other` is to be compared with: of the same option, which may
 * be given several times, and as many before it; NULL: there is none. */
static const RunText *find_text(const RunRecord *record, const RunRecord *other, size_t i)
{
    const char *option = other->texts.data[i].option;
    int before = 0;
    for (size_t k = 0; k < i; k++)
        before += !strcmp(other->texts.data[k].option, option);
    for (size_t k = 0; k < record->texts.count; k++)
        if (!strcmp(record->texts.data[k].option, option) && !before--)
            return &record->texts.data[k];
    return NULL;
}

static void compare_texts(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->texts.count; i++) {
        const RunText *text = &now->texts.data[i], *old = find_text(was, now, i);
        if (!old)
            tell(c, "--%s %s: the run began without it", text->option, text->file);
        else if (strcmp(old->sha256, text->sha256))
            tell(c,
                 "--%s %s: it was %s%s%" PRId64 " line%s and %" PRId64
                 " bytes (sha256 %.12s…) and is now %" PRId64 " line%s and %" PRId64
                 " bytes (%.12s…)",
                 text->option, text->file, strcmp(old->file, text->file) ? old->file : "",
                 strcmp(old->file, text->file) ? " with " : "", old->lines,
                 text_plural(old->lines, "", "s"), old->bytes, old->sha256, text->lines,
                 text_plural(text->lines, "", "s"), text->bytes, text->sha256);
    }
    for (size_t i = 0; i < was->texts.count; i++)
        if (!find_text(now, was, i))
            tell(c, "--%s: it was %s and is not given now", was->texts.data[i].option,
                 was->texts.data[i].file);
}

/* The command as it was typed, with quotes where a word needs them. */
static const char *typed_command(const Training *t)
{
    Arena *arena = t->job->arena;
    const TextList *words = &t->options->command;
    const char *text = "";
    for (size_t i = 0; i < words->count; i++)
        text = arena_printf(arena, "%s%s%s", text, *text ? " " : "",
                            text_shell_word(arena, words->data[i]));
    return text;
}

bool training_may_go_on(Training *t, const RunRecord *was, const RunRecord *now, bool *changed)
{
    Changes c = {.t = t};
    compare_facts(&c, was, now);
    compare_texts(&c, was, now);
    note_libraries(&c, was, now);
    *changed = c.n > 0;
    if (!c.n || t->options->allow_change)
        return true;
    diag_note(
        &t->job->diags, (Loc){0},
        "with this, %s would not %s; to go on all the same, with the model and settings of now, "
        "type: %s --allow-change",
        t->options->home, t->options->verify ? "be repeated" : "go on as it began",
        typed_command(t));
    return false;
}
