/* Running pairs, one at a time, for what their attention looks at. */
#include "driver/alignment.h"

#include "passes/pass.h"

bool aligner_prepare(Aligner *aligner, Inference *inference)
{
    const ModelPorts *ports = &inference->ports;
    Job *job = inference->job;
    *aligner = (Aligner){.inference = inference};
    if (inference->n_members)
        return job_error(job, "--attention is of one model: leave --with out");
    Function *forward = ports->source && ports->target
                            ? session_function(inference->session, "forward")
                            : NULL;
    if (!forward || !expose_alignment(forward, ports->source, ports->target))
        return job_error(job, "--attention: the model has no attention of its target over a source");
    aligner->program = inference_add_program(inference, forward);
    return aligner->program != NULL;
}

/* [before] ids [after], where the brackets are ids or -1 for none. */
static int32_t *framed(Arena *arena, int32_t before, const int32_t *ids, int64_t n, int32_t after,
                       int64_t *count)
{
    int32_t *all = ARENA_ARRAY(arena, int32_t, n + 2);
    *count = 0;
    if (before >= 0)
        all[(*count)++] = before;
    for (int64_t i = 0; i < n; i++)
        all[(*count)++] = ids[i];
    if (after >= 0)
        all[(*count)++] = after;
    return all;
}

bool aligner_run(Aligner *aligner, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                 Arena *arena, Alignment *out)
{
    const Inference *inference = aligner->inference;
    const TokenRules *rules = vocab_rules(inference->vocab);
    SourceFrame frame = corpus_source_frame(corpus, row);
    int64_t n_source, n_fed;
    int32_t *source = framed(arena, frame.before, corpus->source.ids.data + corpus->source.start[row],
                             rows_length(&corpus->source, row), frame.after, &n_source);
    int32_t *fed = framed(arena, rules->begin, ids, n, -1, &n_fed);
    int64_t n_target;
    *out = (Alignment){.source = source, .n_source = n_source, .n_target = n_fed};
    out->target = framed(arena, -1, ids, n, rules->end, &n_target);
    int32_t source_length = (int32_t)n_source, target_length = (int32_t)n_fed;
    Batch batch = {.shape = {1, n_source, n_source, n_fed, n_fed},
                   .source = source,
                   .source_lengths = &source_length,
                   .target = fed,
                   .target_next = fed,
                   .target_lengths = &target_length};
    if (!aligner->exec)
        aligner->exec = exec_new(aligner->program, inference->store);
    if (!aligner->exec)
        return job_error(inference->job, "out of memory");
    feed_batch(aligner->exec, &inference->feed, &batch);
    if (!exec_run(aligner->exec))
        return job_error(inference->job, "out of memory");
    out->weights = arena_copy(arena, exec_output(aligner->exec, "alignment"),
                              (size_t)(n_fed * n_source) * sizeof(float));
    return true;
}

void aligner_free(Aligner *aligner) { exec_free(aligner->exec); }
