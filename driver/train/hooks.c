/* What a training's loop asks for while it runs: validation, and which gradient went wrong. */
#include "driver/train/training.h"

#include "driver/run/continuation.h"
#include "driver/run/evaluation.h"
#include "driver/run/thresholds.h"
#include "driver/train/hash_lines.h"
#include "driver/train/verify.h"

#include <math.h>
#include <string.h>

/* Source tokens of a batch of a validation, which is searched with a beam of 1. */
enum { GREEDY_TOKENS = 2048 };
/* Continuations: bytes of a prompt at most, tokens behind it, and the seed of tfc generate, so that
 * every validation draws with the same numbers. */
enum { LONGEST_PROMPT = 80, CONTINUED_TOKENS = 80, SAMPLE_SEED = 1 };

/* The number of line i of n that samples are of: at equal distances, the same at each
 * validation. */
static int64_t sampled(int64_t lines, int i, int n) { return (2 * i + 1) * lines / (2 * n); }

static int samples_of(int64_t lines)
{
    return (int)(lines < TRAINING_SAMPLES ? lines : TRAINING_SAMPLES);
}

/* ---- translations ---- */

static void keep_translations(Training *t, const ValidText *valid, const Decoded *results)
{
    int64_t n = valid->corpus->n;
    t->n_samples = samples_of(n);
    for (int i = 0; i < t->n_samples; i++) {
        int64_t row = sampled(n, i, t->n_samples);
        const char *text =
            results[row].n ? inference_text(&t->inference, results[row].best, t->job->arena) : "";
        t->samples[i] = (TrainSample){.line = valid->corpus->line[row], .text = text};
    }
}

static bool judge_translations(Training *t, const ValidText *valid, TrainFigures *figures)
{
    Arena *arena = arena_new();
    DecodeSettings settings = inference_decode_settings(&t->inference);
    settings.beam = 1;
    settings.length_penalty = 0;
    Decoded *results = ARENA_ARRAY(arena, Decoded, valid->corpus->n + 1);
    bool ok =
        inference_decode(&t->inference, valid->corpus, &settings, GREEDY_TOKENS, arena, results);
    if (ok) {
        Judging judging = {0};
        inference_judge(&t->inference, inference_tokenize(&t->inference), valid->corpus,
                        corpus_targets(&valid->text), results, &judging);
        const Judgement judged = judging_finish(&judging);
        figures->bleu = judged.bleu;
        figures->line_error_rate = judged.line_error_rate;
        figures->symbol_error_rate = judged.symbol_error_rate;
    }
    if (ok && valid == t->valid)
        keep_translations(t, valid, results);
    arena_free(arena);
    return ok;
}

/* ---- continuations ---- */

/* How many bytes of a line are its first half, in whole words; of a line without blanks, in whole
 * characters, or none of a model's whose tokens are words. */
static size_t first_half(const Line *line, const Vocabulary *vocab)
{
    size_t half = line->length / 2 < LONGEST_PROMPT ? line->length / 2 : LONGEST_PROMPT, at = half;
    while (at && line->text[at] != ' ')
        at--;
    return at || vocab_is_words(vocab) ? at : utf8_start(line->text, half);
}

/* Begins a continuation of line `number`, or of the next that is not empty. */
static TrainSample begin_sample(Training *t, const Lines *lines, int64_t number, Continuation *text)
{
    while (number + 1 < lines->n && !lines->at[number].length)
        number++;
    const Line *line = &lines->at[number];
    TrainSample sample = {.line = number,
                          .prompt =
                              arena_strndup(t->job->arena, line->text, first_half(line, t->vocab))};
    if (!continuation_encode(t->vocab, sample.prompt, &text->ids))
        text->left = 0; /* nothing follows */
    return sample;
}

/* What came behind the prompt. */
static const char *text_behind(Training *t, const Continuation *text)
{
    Text whole = {0};
    size_t behind = continuation_text(t->vocab, text, NULL, &whole);
    const char *copy = whole.data ? arena_strdup(t->job->arena, whole.data + behind) : "";
    text_free(&whole);
    return copy;
}

/* Beginnings of lines of the first validation text are gone on with as tfc generate does. */
static bool keep_continuations(Training *t)
{
    const Lines *lines = t->valid[0].text.source;
    Continuation texts[TRAINING_SAMPLES] = {0};
    t->n_samples = samples_of(lines->n);
    for (int i = 0; i < t->n_samples; i++) {
        texts[i] = (Continuation){.number = i, .left = CONTINUED_TOKENS};
        t->samples[i] = begin_sample(t, lines, sampled(lines->n, i, t->n_samples), &texts[i]);
        texts[i].prompt = texts[i].ids.count;
    }
    DecodeSettings settings = continuation_settings(&t->inference);
    settings.seed = SAMPLE_SEED;
    bool ok = continuation_run(&t->inference, &settings, NULL, texts, t->n_samples);
    for (int i = 0; i < t->n_samples; i++) {
        t->samples[i].text = ok ? text_behind(t, &texts[i]) : "";
        ids_free(&texts[i].ids);
    }
    return ok;
}

/* ---- validation ---- */

/* chooses: thresholds are chosen on the text. */
static bool measure_valid(Training *t, const ValidText *text, bool chooses, TrainValid *valid)
{
    Scores scores;
    int64_t tokens = evaluation_batch(t->options->kind);
    *valid = (TrainValid){text->name, train_no_figures()};
    if (!score_corpus(&t->inference.score, text->corpus, tokens, NULL, NULL, &scores))
        return job_no_memory(t->job);
    valid->figures.loss = score_token_loss(&scores);
    valid->figures.model_loss = scores.loss;
    if (t->predictor.n &&
        !predictor_measure(&t->predictor, t->job, text->corpus, chooses, &valid->figures, NULL))
        return false;
    if (!t->inference.has_stepper)
        return true;
    if (inference_answers(&t->inference))
        return judge_translations(t, text, &valid->figures);
    return text != t->valid || keep_continuations(t);
}

static TrainFigures mean_figures(const TrainValid *valid, int n)
{
    TrainFigures mean = {0};
    for (int i = 0; i < n; i++) {
#define FIGURE(name, ...) mean.name += valid[i].figures.name / n;
#include "runtime/train/figures.def"
#undef FIGURE
    }
    return mean;
}

bool training_validate(Training *t, TrainReport *report)
{
    int n = t->n_valid, best = t->best_text;
    TrainValid *valid = t->figures;
    const int first = best < 0 ? 0 : best; /* thresholds are chosen on it */
    bool ok = measure_valid(t, &t->valid[first], true, &valid[first]);
    for (int i = 0; ok && i < n; i++)
        ok = i == first || measure_valid(t, &t->valid[i], false, &valid[i]);
    if (!ok)
        return false;
    report->thresholds = thresholds_text(t->job->arena, &t->predictor);
    report->figures = best < 0 ? mean_figures(valid, n) : valid[best].figures;
    report->valid = valid;
    report->n_valid = n;
    report->samples = t->samples;
    report->n_samples = t->n_samples;
    return true;
}

bool training_hashed(Training *t, const StepHashes *hashes)
{
    return t->verify ? verify_step(t->verify, hashes) : hash_lines_put(t->hash_lines, hashes);
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
const char *training_find_bad(Training *t, const Batch *batch, uint64_t stream, double *value)
{
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

/* Which finite numbers an op makes a NaN of, for the message; NULL: none, such an op makes it of an
 * infinity. */
static const char *nan_reason(OpKind kind)
{
    switch (kind) {
    case OP_log:
    case OP_log1p: return ": the logarithm of a number below 0 is one";
    case OP_sqrt:
    case OP_rsqrt: return ": the root of a number below 0 is one";
    case OP_pow: return ": a power of a number below 0 is one";
    case OP_div: return ": 0 / 0 is one";
    default: return NULL;
    }
}

static bool reads(const Op *op, const Op *from)
{
    for (int i = 0; i < op->n_args; i++)
        if (op->args[i]->op == from)
            return true;
    return false;
}

/* Of a step's op the one fused within that makes a NaN; of a product the one of the region that is
 * computed with it ("dot, row(add sqrt)"); or else the op. */
static const Op *find_nan_maker(const Function *function, const Op *op, const char *name)
{
    if (op->body)
        FOR_OPS (inner, op->body)
            if (nan_reason(inner->kind))
                return inner;
    if (op->kind == OP_dot && strchr(name, ','))
        FOR_OPS (next, &function->body)
            if (next->body && reads(next, op)) {
                const Op *inner = find_nan_maker(function, next, name);
                return inner == next ? op : inner;
            }
    return op;
}

Loc training_place_of(Training *t, const TfcProgram *program, int step, const char **why)
{
    Session *session = &t->session;
    session_set_dtype(&session->options, t->options->dtype);
    bool rows = t->settings.batch.shards > 1 && !strcmp(program->name, "accumulate");
    module_drop_function(session->model->module, program->name);
    Function *function = rows ? derive_accumulate_rows(session->model->module)
                         : function_named(program->name) != FUNCTION_COUNT
                             ? session_function(session, program->name)
                             : NULL;
    const Op *const *origins;
    const TfcProgram *planned =
        function && session_lower(session, function, NULL)
            ? codegen_plan(function, t->job->arena, &origins, &t->job->diags)
            : NULL;
    if (!planned || step >= planned->n_steps ||
        strcmp(planned->steps[step].name, program->steps[step].name) != 0)
        return (Loc){0};
    const Op *op = find_nan_maker(function, origins[step], program->steps[step].name);
    const char *reason = nan_reason(op->kind);
    *why = reason ? reason : "";
    return op->loc;
}
