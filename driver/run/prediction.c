/* Predicting with a run: which function, which inputs, which names its classes have. */
#include "driver/run/prediction.h"

#include "driver/run/evaluation.h"
#include "passes/clone.h"
#include "passes/pass.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is predicted ---- */

static const char *const *token_names(Arena *arena, const Vocabulary *vocab)
{
    const int32_t n = vocab_size(vocab);
    const char **names = ARENA_ARRAY(arena, const char *, n + 1);
    for (int32_t i = 0; i < n; i++)
        names[i] = vocab_token(vocab, i);
    return names;
}

/* The names of a column's labels, the blank of CTC before them. */
static const char *const *label_names(Arena *arena, const ColumnSpec *spec)
{
    const Labels *labels = spec->labels;
    const char **names = ARENA_ARRAY(arena, const char *, labels->words.count + 2);
    names[0] = "<blank>";
    for (size_t i = 0; i < labels->words.count; i++)
        names[(size_t)spec->first + i] = labels->words.data[i];
    return names;
}

static bool has_labels(const ColumnSpec *spec, int64_t n)
{
    return spec->labels && (int64_t)spec->labels->words.count + spec->first <= n;
}

/* The classes of a prediction: the labels of the column of its name or, if one column alone has so
 * many, of that; else the tokens of a vocabulary of that size. More classes than labels have no
 * names. */
static const char *const *class_names(Job *job, const RunFolder *run, const char *name, int64_t n)
{
    const DataColumns *columns = &run->columns;
    int found = columns_find(columns, name), labelled = 0;
    if (found < 0 || !has_labels(&columns->specs[found], n))
        for (int c = 0; c < columns->n; c++)
            if (has_labels(&columns->specs[c], n) && !labelled++)
                found = c;
    if (labelled > 1)
        found = -1;
    if (found >= 0 && has_labels(&columns->specs[found], n)) {
        const ColumnSpec *spec = &columns->specs[found];
        const char *const *known = label_names(job->arena, spec);
        const char **names = ARENA_ARRAY(job->arena, const char *, n + 1);
        for (int64_t i = 0; i < n; i++)
            names[i] = i < (int64_t)spec->labels->words.count + spec->first ? known[i] : "<unused>";
        return names;
    }
    return n == vocab_size(run->vocab) && !vocab_is_empty(run->vocab)
               ? token_names(job->arena, run->vocab)
               : NULL;
}

static void add_prediction(Predictor *p, Job *job, const Op *output)
{
    const Type *type = &output->args[0]->type;
    const Module *module = p->function->module;
    const bool classes = !strcmp(op_string(output, ATTR_predict), "classes");
    const bool ragged = type->rank > 1 && symbol_is_ragged(module, type->dims[1].symbol);
    Prediction *prediction = &p->all[p->n++];
    *prediction = (Prediction){
        .name = op_string(output, ATTR_name), .classes = classes, .side = -1, .width = 1};
    if (ragged)
        prediction->side = feed_side(
            &p->feed, module->symbols.data[type->dims[1].symbol].name);
    for (int axis = ragged ? 2 : 1; axis < type->rank; axis++)
        prediction->width *= dim_is_const(type->dims[axis]) ? type->dims[axis].size : 0;
    if (classes)
        prediction->names =
            class_names(job, p->run, prediction->name, type->dims[type->rank - 1].size);
}

/* Drops all predictions but one. False after an error: there is none of that name. */
static bool choose_prediction(Predictor *p, Job *job, const char *only)
{
    VEC(const char *) names = {0};
    bool found = false;
    FOR_OPS (op, &p->function->body)
        if (op->kind == OP_output) {
            vec_push(job->arena, names, op_string(op, ATTR_name));
            found = found || !strcmp(op_string(op, ATTR_name), only);
        }
    if (!found && names.count)
        return job_error(job, "--only %s: %s", only,
                         text_known(job->arena, "'", only, names.data, (int)names.count));
    FOR_OPS (op, &p->function->body)
        if (op->kind == OP_output && strcmp(op_string(op, ATTR_name), only) != 0)
            block_remove(&p->function->body, op);
    remove_dead(p->function);
    return true;
}

static bool find_predictions(Predictor *p, Job *job)
{
    int n = 0;
    FOR_OPS (op, &p->function->body)
        n += op->kind == OP_output;
    p->all = ARENA_ARRAY(job->arena, Prediction, n + 1);
    FOR_OPS (op, &p->function->body)
        if (op->kind == OP_output)
            add_prediction(p, job, op);
    for (int i = 0; i < p->n; i++)
        if (!p->all[i].width)
            return job_error(job,
                             "%s: `predict %s` has a dimension behind its rows and positions that is "
                             "not constant",
                             p->run->session.model->path, p->all[i].name);
    return n > 0 ||
           job_error(job,
                     "%s predicts nothing: `predict NAME = …` in the model says what, such as "
                     "`predict class = softmax(logits)`",
                     p->run->session.model->path);
}

/* ---- what is read ---- */

static bool reads(const Function *function, const char *input)
{
    FOR_OPS (op, &function->body)
        if (input && op->kind == OP_input && !strcmp(op_string(op, ATTR_name), input))
            return true;
    return false;
}

static CorpusKind kind_read(const Predictor *p, const ModelPorts *ports)
{
    bool source = reads(p->function, ports->source);
    bool target = reads(p->function, ports->target) || reads(p->function, ports->next);
    if (p->run->kind == CORPUS_RECORDS || (!source && !target))
        return CORPUS_RECORDS;
    if (p->run->kind == CORPUS_SENTENCES)
        return CORPUS_SENTENCES;
    return source && target ? CORPUS_PAIRS : source ? CORPUS_SOURCES : CORPUS_LINES;
}

/* The columns that the function reads, and only those are fed. */
static void keep_columns(Predictor *p, Job *job)
{
    const DataColumns *all = &p->run->columns;
    p->columns = (DataColumns){ARENA_ARRAY(job->arena, ColumnSpec, MOST_COLUMNS),
                           ARENA_ARRAY(job->arena, const char *, MOST_COLUMNS), 0};
    p->feed.n_columns = 0;
    for (int c = 0; c < all->n; c++) {
        if (!reads(p->function, all->specs[c].input))
            continue;
        p->columns.specs[p->columns.n++] = all->specs[c];
        p->feed.columns[p->feed.n_columns++] = all->specs[c].input;
    }
}

bool predictor_prepare(Predictor *p, Job *job, RunFolder *run, const char *only)
{
    Inference *inference = &run->inference;
    *p = (Predictor){.run = run,
                     .function = derive_predict(run->session.model->module),
                     .feed = inference->feed};
    if (only && !choose_prediction(p, job, only))
        return false;
    p->kind = kind_read(p, &inference->ports);
    keep_columns(p, job);
    if (!find_predictions(p, job))
        return false;
    p->program = inference_add_program(inference, p->function);
    return p->program != NULL;
}

Corpus *predictor_corpus(const Predictor *p, Job *job, const CorpusText *text, int64_t first,
                         int64_t n)
{
    const CorpusOptions options = {.kind = p->kind,
                                   .keep_all = true,
                                   .max_length = inference_said_length(&p->run->inference),
                                   .same_lengths = p->kind == CORPUS_PAIRS &&
                                                   feed_shares_lengths(&p->feed),
                                   .columns = p->columns.specs,
                                   .n_columns = p->columns.n};
    return corpus_encode_part(&job->diags, p->run->vocab, &options, text, first, n);
}

/* ---- computing ---- */

static void place_rows(const Predictor *p, const Corpus *corpus, Arena *arena, Predicted *results)
{
    for (int k = 0; k < p->n; k++) {
        const Prediction *prediction = &p->all[k];
        int64_t *start = ARENA_ARRAY(arena, int64_t, corpus->n + 1);
        for (int64_t i = 0; i < corpus->n; i++) {
            const int64_t places =
                prediction->side < 0 ? 1 : corpus_side_length(corpus, i, prediction->side);
            start[i + 1] = start[i] + places * prediction->width;
        }
        results[k] = (Predicted){ARENA_ARRAY(arena, float, start[corpus->n] + 1), start};
    }
}

/* Copies the outputs of a batch to its rows. */
static void take_batch(const Predictor *p, Exec *exec, const Batch *batch, Predicted *results)
{
    for (int k = 0; k < p->n; k++) {
        const void *values = exec_output(exec, p->all[k].name);
        const bool integers = p->program->outputs[k].type == TFC_I32;
        int64_t at = 0;
        for (int64_t b = 0; b < batch->shape.rows; b++) {
            const int64_t row = batch->row[b], first = results[k].start[row];
            for (int64_t i = first; i < results[k].start[row + 1]; i++, at++)
                results[k].values[i] =
                    integers ? (float)((const int32_t *)values)[at] : ((const float *)values)[at];
        }
    }
}

bool predictor_run(const Predictor *p, Job *job, const Corpus *corpus, Arena *arena,
                   Predicted *results)
{
    Batches *batches = batches_new(corpus, &(BatchOptions){.tokens = EVALUATION_BATCH}, 0);
    Exec *exec = exec_new(p->program, p->run->store);
    Batch batch = {0};
    bool ok = exec && feed_reserve(exec, p->program, &p->feed, batches);
    place_rows(p, corpus, arena, results);
    for (int64_t i = 0; ok && i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        feed_batch(exec, &p->feed, &batch);
        ok = exec_run(exec);
        if (ok)
            take_batch(p, exec, &batch, results);
    }
    batch_free(&batch);
    exec_free(exec);
    batches_free(batches);
    return ok || job_no_memory(job);
}
