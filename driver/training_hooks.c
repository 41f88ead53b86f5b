/* What a training's loop asks for while it runs: validation, and which gradient went wrong. */
#include "driver/training.h"

#include <math.h>
#include <string.h>

enum { VALID_TOKENS = 2048, VALID_STREAM_TOKENS = 8192 };

/* The texts of the first validation, of lines at equal distances: the same at each. */
static void keep_samples(Training *t, const ValidText *valid, const Decoded *results)
{
    int64_t n = valid->corpus->n;
    t->n_samples = (int)(n < TRAINING_SAMPLES ? n : TRAINING_SAMPLES);
    for (int i = 0; i < t->n_samples; i++) {
        int64_t row = (2 * i + 1) * n / (2 * t->n_samples);
        const char *text = results[row].n ? inference_text(&t->inference, results[row].best, t->job->arena) : "";
        t->samples[i] = (TrainSample){valid->corpus->line[row], text};
    }
}

static bool valid_bleu(Training *t, const ValidText *valid, double *bleu)
{
    Arena *arena = arena_new();
    DecodeSettings settings = inference_decode_settings(&t->inference);
    settings.beam = 1;
    settings.length_penalty = 0;
    Decoded *results = ARENA_ARRAY(arena, Decoded, valid->corpus->n + 1);
    bool ok = inference_decode(&t->inference, valid->corpus, &settings, VALID_TOKENS, arena, results);
    Bleu counts = {0};
    for (int64_t i = 0; ok && i < valid->corpus->n; i++) {
        const char *output =
            results[i].n ? inference_text(&t->inference, results[i].best, arena) : "";
        const char *reference =
            inference_reference(&t->inference, &valid->target->at[valid->corpus->line[i]], arena);
        bleu_add(&counts, inference_tokenize(&t->inference), output, &reference, 1);
    }
    if (ok && valid == t->valid)
        keep_samples(t, valid, results);
    *bleu = bleu_score(&counts);
    arena_free(arena);
    return ok;
}

static bool measure(Training *t, const ValidText *text, TrainValid *valid)
{
    Scores scores;
    int64_t tokens = t->options->kind == CORPUS_STREAM ? VALID_STREAM_TOKENS : VALID_TOKENS;
    *valid = (TrainValid){.name = text->name, .bleu = NAN};
    if (!score_corpus(&t->inference.score, text->corpus, tokens, NULL, NULL, &scores))
        return job_error(t->job, "out of memory while validating");
    valid->loss = scores.tokens ? -scores.log_probability / (double)scores.tokens : NAN;
    return !t->inference.has_stepper || valid_bleu(t, text, &valid->bleu);
}

bool training_validate(Training *t, TrainReport *report)
{
    int n = t->n_valid, best = training_best(t);
    TrainValid *valid = t->figures;
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = measure(t, &t->valid[i], &valid[i]);
    if (!ok)
        return false;
    TrainValid mean = {0};
    for (int i = 0; i < n; i++) {
        mean.loss += valid[i].loss / n;
        mean.bleu += valid[i].bleu / n;
    }
    const TrainValid *tells = best < 0 ? &mean : &valid[best];
    report->valid_loss = tells->loss;
    report->valid_bleu = tells->bleu;
    report->valid = valid;
    report->n_valid = n;
    report->samples = t->samples;
    report->n_samples = t->n_samples;
    return true;
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
