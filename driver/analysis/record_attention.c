/* Running records, one at a time, for the weights of all heads. */
#include "driver/analysis/record_attention.h"

#include "driver/analysis/attention.h"

#include <inttypes.h>

/* ---- sides ---- */

/* The input that names a side's positions: source or target, else a text, else labels, else any
 * column; NULL: none that is read lies along it. */
static const char *input_along(const Predictor *p, int side, int *column)
{
    const ModelPorts *ports = &p->inference->ports;
    const char *input = side == SIDE_SOURCE   ? ports->source
                        : side == SIDE_TARGET ? ports->target
                                              : NULL;
    *column = -1;
    if (input && function_reads(p->function, input))
        return input;
    for (int c = 0; c < p->columns.n; c++)
        if (p->columns.specs[c].side == side &&
            (*column < 0 || p->columns.specs[c].kind < p->columns.specs[*column].kind))
            *column = c;
    return *column < 0 ? NULL : p->columns.specs[*column].input;
}

bool record_attender_prepare(RecordAttender *a, Job *job, Inference *inference,
                             const DataColumns *columns, CorpusKind kind, unsigned kinds)
{
    Module *module = inference->session->model->module;
    Function *function =
        predicts(module) ? derive_predict(module) : session_function(inference->session, "forward");
    AttentionSide sides[MOST_SIDES];
    AttentionOutput *outputs;
    int column;
    *a = (RecordAttender){0};
    if (!function)
        return false;
    predictor_read(&a->predictor, job, inference, columns, kind, function);
    for (int side = 0; side < MOST_SIDES; side++) {
        const char *input = input_along(&a->predictor, side, &column);
        if (!input)
            continue;
        sides[a->n_sides] = (AttentionSide){.input = input};
        a->of_side[a->n_sides++] = side;
    }
    a->n = expose_attentions(function, sides, a->n_sides, kinds, &outputs);
    a->outputs = outputs;
    if (!a->n)
        return attention_missing(job, kinds);
    /* once more: the attentions alone may read less */
    predictor_read(&a->predictor, job, inference, columns, kind, function);
    for (size_t i = 0; i < a->n_sides; i++)
        a->is_read[i] = input_along(&a->predictor, a->of_side[i], &a->column[i]) != NULL;
    a->predictor.program = inference_add_program(inference, function);
    return a->predictor.program != NULL;
}

/* ---- tokens ---- */

/* Of a position's value; NULL: it has no name. */
static const char *name_of(const RecordAttender *a, const ColumnSpec *spec, const int32_t *values,
                           int64_t position)
{
    const Vocabulary *vocab = a->predictor.inference->vocab;
    if (spec->width != 1)
        return NULL;
    const int64_t id = values[position];
    if (spec->kind == COLUMN_TEXT)
        return vocab_token(column_vocab(spec, vocab), (int32_t)id);
    if (spec->kind == COLUMN_LABELS && id >= spec->first &&
        id - spec->first < (int64_t)spec->labels->words.count)
        return spec->labels->words.data[id - spec->first];
    return NULL;
}

static void name_side(const RecordAttender *a, const Corpus *corpus, const Batch *batch, size_t i,
                      Arena *arena, RecordMaps *maps)
{
    const Vocabulary *vocab = a->predictor.inference->vocab;
    const int side = a->of_side[i], column = a->column[i];
    const ColumnSpec *spec = column < 0 ? NULL : &a->predictor.columns.specs[column];
    const int64_t n = batch->shape.side[side].total;
    const char **tokens = ARENA_ARRAY(arena, const char *, n + 1);
    for (int64_t t = 0; t < n; t++) {
        const char *name = spec ? name_of(a, spec, batch->columns[column], t)
                           : side == SIDE_SOURCE
                               ? vocab_token(vocab_source(vocab), batch->source[t])
                               : vocab_token(vocab, batch->target[t]);
        tokens[t] = name ? name : arena_printf(arena, "%" PRId64, t + 1);
    }
    maps->tokens[i] = tokens;
    maps->n[i] = n;
    maps->n_end[i] =
        spec ? column_frame(spec, vocab).end >= 0
             : side == SIDE_SOURCE && corpus_source_ends(corpus, batch->row[0]).after >= 0;
}

/* ---- running ---- */

static bool run_row(RecordAttender *a, const Corpus *corpus, const Batch *batch, Arena *arena,
                    RecordMaps *maps)
{
    feed_batch(a->exec, &a->predictor.feed, batch);
    if (!exec_run(a->exec))
        return false;
    for (size_t i = 0; i < a->n_sides; i++)
        if (a->is_read[i])
            name_side(a, corpus, batch, i, arena, maps);
    maps->weights = ARENA_ARRAY(arena, const float *, a->n);
    for (size_t i = 0; i < a->n; i++) {
        const AttentionOutput *o = &a->outputs[i];
        maps->weights[i] = attention_by_heads(exec_output(a->exec, o->output), o->heads,
                                              maps->n[o->queries], maps->n[o->keys], arena);
    }
    return true;
}

bool record_attender_run(RecordAttender *a, Job *job, const Corpus *corpus, Arena *arena,
                         RecordMaps *maps)
{
    Batches *batches = batches_new(corpus, &(BatchOptions){.sentences = 1}, 0);
    Batch batch = {0};
    a->exec = exec_new(a->predictor.program, a->predictor.inference->store);
    bool ok = a->exec != NULL;
    for (int64_t i = 0; ok && i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        ok = run_row(a, corpus, &batch, arena, &maps[batch.row[0]]);
    }
    batch_free(&batch);
    batches_free(batches);
    return ok || job_no_memory(job);
}

void record_attender_free(RecordAttender *a) { exec_free(a->exec); }
