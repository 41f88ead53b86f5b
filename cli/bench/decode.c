/* tfc bench --mode decode: a beam search of exactly target_length tokens for a batch of sentences;
 * --mode prefill: prompts of target_length tokens, and the choice of the next token. With --workers
 * each worker has such a batch at the same time. */
#include "cli/bench/bench.h"
#include "base/clock.h"
#include "cli/progress.h"
#include "driver/run/inference.h"
#include "driver/run/weights.h"
#include "driver/values/synthetic.h"

#include <inttypes.h>
#include <string.h>

static Tokens *make_texts(Arena *arena, int64_t n, int64_t length, int64_t vocab)
{
    Tokens *texts = ARENA_ARRAY(arena, Tokens, n);
    for (int64_t i = 0; i < n; i++) {
        int32_t *ids = ARENA_ARRAY(arena, int32_t, length);
        for (int64_t j = 0; j < length; j++)
            ids[j] = (int32_t)((i * 7919 + j * 104729) % vocab);
        texts[i] = (Tokens){ids, (int32_t)length};
    }
    return texts;
}

/* A batch of a step, which every worker decodes.
 *   sources   NULL: the model encodes nothing */
typedef struct DecodeStep {
    const Bench *options;
    Lengths lengths;
    const Sources *sources;
} DecodeStep;

/* Made-up sources of those lengths. False after an error. */
static bool make_sources(const Inference *inference, const Lengths *lengths, Sources *out)
{
    Binding binding = {.job = inference->job};
    const SyntheticOptions shape = {.batch = lengths->batch,
                                    .source_length = lengths->source,
                                    .target_length = lengths->target,
                                    .seed = 1};
    synthetic_inputs(&binding, inference->session->model->module, &shape);
    return tensors_sources(&binding, &inference->feed, inference->programs.encode, out);
}

static int64_t decode_task(void *context, Stepper *stepper, int64_t batch)
{
    const DecodeStep *step = context;
    const Bench *o = step->options;
    const Lengths *lengths = &step->lengths;
    (void)batch;
    const bool prefill = !strcmp(o->mode, "prefill");
    DecodeSettings settings = decode_defaults();
    settings.beam = prefill ? 1 : (int32_t)o->decoding.beam;
    settings.length_factor = 0;
    settings.length_extra = prefill ? 1 : (int32_t)lengths->target;
    settings.open_end = prefill;
    settings.bos = prefill ? -1 : 0;
    settings.until_eos = false;
    Arena *arena = arena_new();
    const int64_t vocab = stepper->vocab;
    Tokens *prompts = prefill ? make_texts(arena, lengths->batch, lengths->target, vocab) : NULL;
    Decoded *results = ARENA_ARRAY(arena, Decoded, lengths->batch);
    bool ok = decode_batch(stepper, &settings, step->sources, prompts, NULL,
                           (int32_t)lengths->batch, arena, results);
    arena_free(arena);
    return ok ? lengths->batch * lengths->target : -1;
}

bool bench_decode(Session *session, const Bench *o, Store *store, BenchMeasured *m)
{
    Job *job = session->job;
    Inference inference;
    const int64_t workers = o->common.workers ? o->common.workers : 1;
    inference_init(&inference, session, store, NULL);
    inference.workers.given = (int)workers;
    bool ok =
        inference_prepare_decode(&inference) && weights_initialise(job, session->model, store, 1);
    for (int64_t i = -o->warm_up; ok && i < o->steps; i++) {
        Lengths lengths = bench_lengths(o, &inference.ports, i);
        const double tokens = (double)(workers * lengths.batch * lengths.target);
        Sources sources;
        DecodeStep step = {o, lengths, inference.programs.encode ? &sources : NULL};
        ok = !step.sources || make_sources(&inference, &lengths, &sources);
        trace_use(i >= 0 ? m->trace : NULL);
        double start = clock_seconds();
        ok = ok &&
             (inference_run_workers(&inference, workers, decode_task, &step) || job_no_memory(job));
        double seconds = clock_seconds() - start;
        bench_end_step(session, o, m, i, seconds);
        if (i == -o->warm_up)
            m->first_rate = tokens / seconds;
        if (i < 0)
            continue;
        m->tokens += tokens;
        map_set(&m->shapes,
                arena_printf(job->arena, "%" PRId64 " %" PRId64 " %" PRId64, lengths.batch,
                             lengths.source, lengths.target),
                m);
    }
    m->planned_bytes = store_bytes(store);
    inference_free(&inference);
    return ok;
}
