/* Decoding a corpus: its batches go to workers. */
#include "driver/run/inference.h"

#include "runtime/exec/trace.h"

#include <string.h>

typedef struct DecodedCorpus {
    const Inference *inference;
    const Corpus *corpus;
    const DecodeSettings *settings;
    const Batches *batches;
    Arena **arenas; /* of each batch: its results */
    Decoded *results;
} DecodedCorpus;

/* Of a row with a source; its answer is empty. */
static bool has_no_source(const Corpus *corpus, int64_t row)
{
    return corpus->source.n && !rows_length(&corpus->source, row);
}

/* Whether the model or a member encodes along the side. */
static bool encodes_side(const Inference *inference, int side)
{
    bool found = false;
    for (int m = 0; m <= inference->n_members && !found; m++) {
        const Inference *member = m ? inference->members[m - 1] : inference;
        const TfcProgram *encode = member->programs.encode;
        const char *dim = member->feed.dims[side];
        for (int i = 0; encode && dim && i < encode->n_dims; i++)
            found = found || !strcmp(encode->dims[i].name, dim);
    }
    return found;
}

/* Results do not depend on what else lies in a row, such as the length of its reference. */
static Sources sources_of(const Inference *inference, const Batch *batch)
{
    Sources sources = feed_sources_of(batch);
    for (int side = SIDE_TARGET; side < MOST_SIDES; side++)
        if (!encodes_side(inference, side))
            sources.lengths[side] = NULL;
    return sources;
}

/* Returns the tokens of the batch's results and sources; -1: memory ran out. */
static int64_t decode_rows(const DecodedCorpus *d, Stepper *stepper, const Batch *batch,
                           Arena *arena)
{
    const Tokens *given = d->inference->prefixes;
    int64_t n = batch->shape.rows, tokens = 0;
    Arena *scratch = arena_new();
    const Sources sources = sources_of(d->inference, batch);
    int64_t *numbers = ARENA_ARRAY(scratch, int64_t, n + 1);
    Decoded *decoded = ARENA_ARRAY(scratch, Decoded, n + 1);
    Tokens *prefixes = ARENA_ARRAY(scratch, Tokens, n + 1);
    DecodeSettings settings = *d->settings;
    if (given)
        settings.prefixes = prefixes;
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = d->corpus->line[batch->row[i]];
        if (given)
            prefixes[i] = given[numbers[i]];
    }
    bool ok = decode_batch(stepper, &settings, &sources, NULL, numbers, (int32_t)n, arena, decoded);
    for (int64_t i = 0; ok && i < n; i++) {
        bool is_empty = has_no_source(d->corpus, batch->row[i]);
        d->results[batch->row[i]] = is_empty ? (Decoded){0} : decoded[i];
        tokens += sources_longest(&sources, (int32_t)i) + (decoded[i].n ? decoded[i].best->n : 0);
    }
    arena_free(scratch);
    return ok ? tokens : -1;
}

static int64_t decode_task(void *context, Stepper *stepper, int64_t i)
{
    const DecodedCorpus *d = context;
    Batch batch = {0};
    int64_t begin = trace_begin();
    batches_fill(d->batches, i, &batch);
    trace_end("load batch", begin);
    begin = trace_begin();
    d->arenas[i] = arena_new();
    int64_t tokens = decode_rows(d, stepper, &batch, d->arenas[i]);
    trace_end("decode batch", begin);
    batch_free(&batch);
    return tokens;
}

static void free_arena(void *arena) { arena_free(arena); }

bool inference_decode(Inference *inference, const Corpus *corpus, const DecodeSettings *settings,
                      int64_t batch_tokens, Arena *arena, Decoded *results)
{
    inference->given = feed_of_corpus(&inference->feed, corpus);
    for (int i = 0; i < inference->n_members; i++)
        inference->members[i]->given = feed_of_corpus(&inference->members[i]->feed, corpus);
    BatchOptions options = {.tokens = batch_tokens};
    Batches *batches = batches_new(corpus, &options, 0);
    int64_t n = batches ? batches_count(batches) : 0;
    DecodedCorpus decoded = {.inference = inference,
                             .corpus = corpus,
                             .settings = settings,
                             .batches = batches,
                             .arenas = ARENA_ARRAY(arena, Arena *, n + 1),
                             .results = results};
    bool ok = batches && inference_run_workers(inference, n, decode_task, &decoded);
    for (int64_t i = 0; i < n; i++)
        if (decoded.arenas[i])
            memory_need(arena_own(arena, decoded.arenas[i], free_arena));
    batches_free(batches);
    return ok || job_no_memory(inference->job);
}

bool inference_no_numbers(const Inference *inference, const char *what)
{
    Job *job = inference->job;
    const char *type = session_dtype(&inference->session->options);
    return job_error(job, "%s: the model gives no numbers: %s", what,
                     strcmp(type, "f32")
                         ? arena_printf(job->arena,
                                        "weights or activations are too large for %s, or damaged; "
                                        "try --dtype f32",
                                        type)
                         : "weights are too large, or damaged");
}

bool inference_check_numbers(const Inference *inference, const Corpus *corpus,
                             const Decoded *results)
{
    for (int64_t i = 0; i < corpus->n; i++)
        if (!has_no_source(corpus, i) && !decoded_has_numbers(&results[i]))
            return inference_no_numbers(inference, arena_printf(inference->job->arena, "line %lld",
                                                                (long long)corpus->line[i] + 1));
    return true;
}
