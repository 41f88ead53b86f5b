/* Decoding a token at a time, some at a time, or some without their logits, must give the logits
 * that forward gives at once. */
#include "check/check.h"

#include "driver/run/weights.h"

#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-4;

static const StTensor *find_made(const Variant *v, const char *name)
{
    for (size_t i = 0; name && i < v->binding.made.count; i++)
        if (!strcmp(v->binding.made.data[i].name, name))
            return &v->binding.made.data[i];
    return NULL;
}

/* The rows of a padded input [B, S] with its lengths. */
static Tokens *rows_of(Check *check, const Variant *v, const char *name)
{
    const StTensor *tensor = find_made(v, name);
    const StTensor *lengths = find_made(v, arena_printf(check->job->arena, "%s.lengths", name));
    Tokens *rows = ARENA_ARRAY(check->job->arena, Tokens, tensor->dims[0]);
    for (int64_t b = 0; b < tensor->dims[0]; b++)
        rows[b] = (Tokens){(const int32_t *)tensor->data + b * tensor->dims[1],
                           (int32_t)st_value(lengths, b)};
    return rows;
}

/* The greatest distance of rows of logits, and the greatest logit. */
typedef struct Distance {
    double apart, greatest;
} Distance;

static void add_distance(Distance *distance, const float *out, const float *expected, int32_t vocab)
{
    for (int32_t k = 0; k < vocab; k++) {
        distance->greatest = fmax(distance->greatest, fabs(expected[k]));
        distance->apart = isnan(out[k] - expected[k])
                              ? INFINITY
                              : fmax(distance->apart, fabs(out[k] - expected[k]));
    }
}

enum { ROWS = 64, TOKENS = ROWS * 64 };

/* Which of the next `width` tokens of each sentence one call is given. */
typedef enum LogitPart { ALL, ALL_BUT_LAST, LAST } LogitPart;

/* LogitChunk: those tokens, of the sentences that have some. */
typedef struct LogitChunk {
    int32_t rows[ROWS], first[ROWS], counts[ROWS], ids[TOKENS], n_rows, n_ids;
} LogitChunk;

static void take_chunk(const Tokens *targets, int32_t n, int32_t t, int32_t width, LogitPart part,
                       LogitChunk *chunk)
{
    chunk->n_rows = chunk->n_ids = 0;
    for (int32_t b = 0; b < n; b++) {
        const int32_t left = targets[b].n - t, here = left < width ? left : width;
        const int32_t from = part == LAST ? here - 1 : 0,
                      count = (part == ALL_BUT_LAST ? here - 1 : here) - from;
        if (here <= 0 || count <= 0)
            continue;
        memcpy(chunk->ids + chunk->n_ids, targets[b].ids + t + from,
               sizeof *chunk->ids * (size_t)count);
        chunk->n_ids += count;
        chunk->first[chunk->n_rows] = t + from;
        chunk->counts[chunk->n_rows] = count;
        chunk->rows[chunk->n_rows++] = b;
    }
}

/* How tokens go to the model: `width` at once; of these, all but the last without logits if
 * `feeds`. */
typedef struct Way {
    int32_t width;
    bool feeds;
} Way;

/* The stepped logits beside forward's, relative to the greatest logit; negative after an error. */
static double compare_steps(Stepper *stepper, const Sources *sources, const Tokens *targets,
                            int32_t n, Way way, const float *logits)
{
    int32_t first[ROWS], longest = 0, at = 0;
    for (int32_t b = 0; b < n && b < ROWS; b++) {
        first[b] = at;
        at += targets[b].n;
        longest = targets[b].n > longest ? targets[b].n : longest;
    }
    if (n > ROWS || at > TOKENS || !stepper->begin(stepper->self, sources, n))
        return -1;
    Distance distance = {0, 1e-30};
    LogitChunk c;
    for (int32_t t = 0; t < longest; t += way.width) {
        take_chunk(targets, n, t, way.width, ALL_BUT_LAST, &c);
        if (way.feeds && c.n_rows &&
            !stepper->feed(stepper->self, c.n_rows, c.rows, c.rows, c.counts, c.ids))
            return -1;
        take_chunk(targets, n, t, way.width, way.feeds ? LAST : ALL, &c);
        const float *out = stepper->step(stepper->self, c.n_rows, c.rows, c.rows, c.counts, c.ids);
        if (!out)
            return -1;
        for (int32_t r = 0; r < c.n_rows; r++)
            for (int32_t k = 0; k < c.counts[r]; k++, out += stepper->vocab)
                add_distance(&distance, out,
                             logits + (int64_t)(first[c.rows[r]] + c.first[r] + k) * stepper->vocab,
                             stepper->vocab);
    }
    return distance.apart / distance.greatest;
}

static bool reads(const TfcProgram *program, const char *input)
{
    for (int i = 0; i < program->n_inputs; i++)
        if (!strcmp(program->inputs[i].name, input))
            return true;
    return false;
}

/* An input of the program beside what is decoded from and the tokens so far, or NULL. */
static const char *other_input(const TfcProgram *program, const Feed *feed)
{
    for (int i = 0; i < program->n_inputs; i++) {
        const char *name = program->inputs[i].name;
        bool is_fed = !strcmp(name, feed->target) || (feed->source && !strcmp(name, feed->source));
        for (int c = 0; c < feed->n_columns; c++)
            is_fed = is_fed || !strcmp(name, feed->columns[c]);
        if (!is_fed)
            return name;
    }
    return NULL;
}

static const char row_name[] = "token by token = all at once (f32)";

/* Why the model is not decoded; NULL: it is. */
static const char *why_skipped(Check *check, Variant *v, const Inference *inference)
{
    if (!ports_predict(&inference->ports) || !reads(v->program, inference->ports.target))
        return "the model predicts no next token";
    const char *other = other_input(v->program, &inference->feed);
    if (other)
        return arena_printf(check->job->arena, "generation does not feed the input `%s`", other);
    Diagnostics why;
    if (session_decodes(&v->session, NULL, NULL, &why))
        return NULL;
    diag_add_warnings(&check->job->diags, &why);
    return "the model cannot decode token by token";
}

/* The greatest error of all ways; negative after an error. */
static double compare_ways(Check *check, Variant *v, Inference *inference, const Sources *sources,
                           int32_t n)
{
    static const Way ways[] = {{1, false}, {3, false}, {4, true}};
    const Tokens *targets = rows_of(check, v, inference->ports.target);
    const float *logits = exec_output(v->exec, inference->ports.logits);
    double error = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && error >= 0; i++) {
        double apart = compare_steps(&inference->stepper, sources, targets, n, ways[i], logits);
        error = apart < 0 ? apart : fmax(error, apart);
    }
    return error;
}

static bool check_steps(Check *check, Variant *v, Inference *inference)
{
    SyntheticOptions shape = check_shape(check, check->usual);
    if (!inference_prepare_decode(inference) ||
        !weights_initialise(check->job, v->session.model, v->store, check->seed) ||
        !variant_feed(check, v, &shape) || !variant_run(check, v))
        return false;
    const TfcProgram *encode = inference->programs.encode;
    Sources sources;
    if (encode && !tensors_sources(&v->binding, &inference->feed, encode, &sources))
        return false;
    const int32_t n = (int32_t)find_made(v, inference->ports.target)->dims[0];
    const double error = compare_ways(check, v, inference, encode ? &sources : NULL, n);
    check_row(check, row_name, error >= 0 && error <= TOLERANCE ? CHECK_OK : CHECK_FAILED,
              error < 0
                  ? "out of memory"
                  : arena_printf(check->job->arena,
                                 "logits of %d sentences, by 1, 3 and 3 + 1 tokens, worst %.1e",
                                 (int)n, error));
    return true;
}

bool check_decoding(Check *check)
{
    Variant v;
    VariantOptions options = {.function = "forward", .type = DT_F32, .opt_level = 2};
    bool ok = variant_open(check, &v, &options);
    Inference inference = {.job = check->job};
    if (ok)
        inference_init(&inference, &v.session, v.store, NULL);
    const char *skipped = ok ? why_skipped(check, &v, &inference) : NULL;
    if (skipped)
        check_row(check, row_name, CHECK_SKIPPED, skipped);
    ok = ok && (skipped || check_steps(check, &v, &inference));
    inference_free(&inference);
    variant_close(&v);
    return ok;
}
