/* Running sentences and pairs, one at a time, for the weights of all heads. */
#include "driver/analysis/attention.h"

#include <inttypes.h>

#include <string.h>

static int32_t *framed(Arena *arena, TextEnds ends, const int32_t *ids, int64_t n, int64_t *count)
{
    int32_t *all = ARENA_ARRAY(arena, int32_t, n + 2);
    *count = text_ends_put(ends, ids, n, all);
    return all;
}

static FramedPair framed_pair(const Inference *inference, const Corpus *corpus, int64_t row,
                              const int32_t *ids, int64_t n, Arena *arena)
{
    const TokenRules *rules = vocab_rules(inference->vocab);
    TextEnds ends = corpus_target_ends(corpus);
    FramedPair pair = {0};
    if (ends.after < 0)
        ends.after = rules->end >= 0 ? rules->end : rules->text.start;
    if (inference->ports.source)
        pair.source = framed(arena, corpus_source_ends(corpus, row),
                             corpus->source.ids.data + corpus->source.start[row],
                             rows_length(&corpus->source, row), &pair.n_source);
    if (inference->ports.target) {
        pair.fed = framed(arena, ends, ids, n, &pair.n_target);
        pair.next = pair.fed + 1;
        pair.n_target--; /* the last is not fed */
    }
    return pair;
}

/* Runs a program of the pair and of the columns of its row, which `exec` (NULL at first) holds;
 * false after an error. */
static bool framed_run(const Inference *inference, const TfcProgram *program, Exec **exec,
                       const Corpus *corpus, int64_t row, const FramedPair *pair)
{
    int32_t lengths[MOST_SIDES];
    const Feed feed = feed_of_corpus(&inference->feed, corpus);
    Batch batch = {.shape = {1,
                             {[SIDE_SOURCE] = {pair->n_source, pair->n_source},
                              [SIDE_TARGET] = {pair->n_target, pair->n_target}}},
                   .source = (int32_t *)pair->source,
                   .target = (int32_t *)pair->fed,
                   .target_next = (int32_t *)pair->fed,
                   .target_further = (int32_t *)pair->fed};
    for (int c = 0; c < feed.n_columns; c++)
        batch.columns[c] = corpus->columns[c].ids.data + corpus->columns[c].start[row];
    for (int side = 0; side < MOST_SIDES; side++) {
        lengths[side] = (int32_t)(side == SIDE_SOURCE   ? pair->n_source
                                  : side == SIDE_TARGET ? pair->n_target
                                  : feed.dims[side]     ? corpus_side_length(corpus, row, side)
                                                        : 0);
        batch.lengths[side] = &lengths[side];
    }
    if (!*exec)
        *exec = exec_new(program, inference->store);
    if (!*exec)
        return job_no_memory(inference->job);
    feed_batch(*exec, &feed, &batch);
    return exec_run(*exec) || job_no_memory(inference->job);
}

bool attender_prepare(Attender *attender, Inference *inference, unsigned kinds)
{
    const ModelPorts *ports = &inference->ports;
    Job *job = inference->job;
    *attender = (Attender){.inference = inference};
    if (inference->n_members)
        return job_error(job, "attention is of one model: leave --with out");
    Function *forward = session_function(inference->session, "forward");
    if (!forward)
        return false;
    const AttentionSide sides[] = {{ports->source, false}, {ports->target, true}};
    AttentionOutput *outputs;
    attender->n = expose_attentions(forward, sides, 2, kinds, &outputs);
    attender->outputs = outputs;
    if (!attender->n)
        return attention_missing(job, kinds);
    attender->program = inference_add_program(inference, forward);
    return attender->program != NULL;
}

const float *attention_by_heads(const float *stored, int64_t heads, int64_t queries, int64_t keys,
                                Arena *arena)
{
    float *weights = ARENA_ARRAY(arena, float, 1 + heads * queries * keys);
    for (int64_t h = 0; h < heads; h++)
        for (int64_t q = 0; q < queries; q++)
            memcpy(weights + (h * queries + q) * keys, stored + (q * heads + h) * keys,
                   (size_t)keys * sizeof *weights);
    return weights;
}

bool attender_run(Attender *attender, const Corpus *corpus, int64_t row, const int32_t *ids,
                  int64_t n, Arena *arena, AttentionMaps *out)
{
    out->pair = framed_pair(attender->inference, corpus, row, ids, n, arena);
    out->weights = ARENA_ARRAY(arena, const float *, attender->n);
    if (!framed_run(attender->inference, attender->program, &attender->exec, corpus, row,
                    &out->pair))
        return false;
    for (size_t i = 0; i < attender->n; i++) {
        const AttentionOutput *o = &attender->outputs[i];
        out->weights[i] = attention_by_heads(exec_output(attender->exec, o->output), o->heads,
                                             attention_queries(&out->pair, o->kind),
                                             attention_keys(&out->pair, o->kind), arena);
    }
    return true;
}

void attender_free(Attender *attender) { exec_free(attender->exec); }

int64_t attention_queries(const FramedPair *pair, AttentionKind kind)
{
    return kind == ATTENTION_ENCODER ? pair->n_source : pair->n_target;
}

int64_t attention_keys(const FramedPair *pair, AttentionKind kind)
{
    return kind == ATTENTION_DECODER ? pair->n_target : pair->n_source;
}

/* ---- the mean of heads ---- */

bool aligner_prepare(Aligner *aligner, Inference *inference)
{
    *aligner = (Aligner){.inference = inference};
    if (inference->n_members)
        return job_error(inference->job, "--attention is of one model: leave --with out");
    aligner->program =
        inference_add_program(inference, session_function(inference->session, "alignment"));
    return aligner->program != NULL;
}

bool aligner_run(Aligner *aligner, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                 Arena *arena, Alignment *out)
{
    FramedPair pair = framed_pair(aligner->inference, corpus, row, ids, n, arena);
    *out = (Alignment){.source = pair.source,
                       .n_source = pair.n_source,
                       .target = pair.next,
                       .n_target = pair.n_target};
    if (!framed_run(aligner->inference, aligner->program, &aligner->exec, corpus, row, &pair))
        return false;
    out->weights = arena_copy(arena, exec_output(aligner->exec, "alignment"),
                              (size_t)(pair.n_target * pair.n_source) * sizeof(float));
    return true;
}

void aligner_free(Aligner *aligner) { exec_free(aligner->exec); }

bool attention_missing(Job *job, unsigned kinds)
{
    return job_error(job, kinds == 1u << ATTENTION_CROSS
                              ? "the model has no attention of its target over a source"
                              : "the model has no attention that is a softmax of tokens over "
                                "tokens");
}

bool attention_refuse(Job *job, const char *option, int64_t number, int64_t n, const char *whose,
                      const char *what, const char *that)
{
    const char *most = n > 1 ? arena_printf(job->arena, " to %" PRId64, n - 1) : "";
    return job_error(job, "%s %" PRId64 ": %s has %" PRId64 " %s%s%s: give 0%s", option, number,
                     whose, n, what, text_plural(n, "", "s"), that, most);
}
