/* Predicting with a run: which function, which inputs, which names its classes have. */
#include "driver/run/prediction.h"

#include "driver/run/evaluation.h"
#include "passes/clone.h"
#include "passes/pass.h"
#include "runtime/data/label_thresholds.h"
#include "runtime/data/measures.h"
#include "runtime/model/predicted_values.h"

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

const char class_unused[] = "<unused>";

/* The classes of a prediction: the labels of its column, or else the tokens of a vocabulary of that
 * size. More classes than labels have no names. */
static const char *const *class_names(Job *job, const Predictor *p, const Prediction *prediction)
{
    const int64_t n = prediction->n_classes;
    const ColumnSpec *spec = prediction->label >= 0 ? &p->given->specs[prediction->label] : NULL;
    const Vocabulary *vocab =
        prediction->hidden < 0
            ? p->inference->vocab
            : column_vocab(&p->given->specs[prediction->hidden], p->inference->vocab);
    if (spec && !spec->labels)
        return NULL;
    if (!spec)
        return vocab && n == vocab_size(vocab) && !vocab_is_empty(vocab)
                   ? token_names(job->arena, vocab)
                   : NULL;
    const char **names = ARENA_ARRAY(job->arena, const char *, n + 1);
    for (int64_t i = 0; i < n; i++)
        names[i] = class_unused;
    if (spec->first)
        names[0] = "<blank>";
    for (size_t i = 0; i < spec->labels->words.count; i++)
        names[(size_t)spec->first + i] = spec->labels->words.data[i];
    return names;
}

/* Whether a column could say what is right: the prediction does not read it, it lies along the same
 * side or is CTC's, and has as many classes; or as many numbers. */
static bool may_label(const Predictor *p, const Prediction *prediction, int column)
{
    const ColumnSpec *spec = &p->given->specs[column];
    if (function_reads(p->function, spec->input) || spec->kind == COLUMN_TEXT)
        return false;
    if (spec->many || prediction->thresholds)
        return spec->many && prediction->thresholds && spec->width == prediction->width;
    if (!prediction->classes)
        return spec->kind == COLUMN_FLOATS && spec->missing == MISSING_REFUSED &&
               spec->side == prediction->side && spec->width == prediction->width;
    return spec->kind != COLUMN_FLOATS && spec->width == 1 &&
           prediction->width == prediction->n_classes && spec->below == prediction->n_classes &&
           (spec->is_ctc ? prediction->side >= 0 : spec->side == prediction->side);
}

/* The column whose field the model calls as the prediction, which no input can be called as; or,
 * for classes, the only one that could say what is right. -1: there is none. */
static int find_label(const Predictor *p, const Prediction *prediction)
{
    const ModelPorts *ports = &p->inference->ports;
    int found = -1, n = 0;
    for (int c = 0; c < p->given->n; c++) {
        if (!may_label(p, prediction, c))
            continue;
        if (!strcmp(ports_field(ports->columns[c]), prediction->name))
            return c;
        if (prediction->classes && !n++)
            found = c;
    }
    return n == 1 ? found : -1;
}

/* The column of text whose hidden tokens the loss compares with classes like these; -1: none. */
static int find_hidden(const Predictor *p, const Prediction *prediction)
{
    for (int c = 0;
         c < p->given->n && prediction->classes && prediction->label < 0 && !prediction->thresholds;
         c++) {
        const ColumnSpec *spec = &p->given->specs[c];
        if (p->inference->feed.hidden[c] && spec->side == prediction->side &&
            prediction->width == prediction->n_classes && spec->below == prediction->n_classes)
            return c;
    }
    return -1;
}

/* The first axis behind a row's, or a position's. */
static int axis_of_values(const Module *module, const Type *type)
{
    return type->rank > 1 && symbol_is_ragged(module, type->dims[1].symbol) ? 2 : 1;
}

bool predictions_check(Job *job, const Function *function)
{
    FOR_OPS (op, &function->body) {
        const Type *type = op->kind == OP_output ? &op->args[0]->type : NULL;
        for (int axis = type ? axis_of_values(function->module, type) : 0;
             type && axis < type->rank; axis++) {
            if (dim_is_const(type->dims[axis]))
                continue;
            diag_error(
                &job->diags, op->loc,
                "`predict %s` has the dimension `%s` behind its rows and positions, and a "
                "prediction has a constant number of values for each: predict what is made of "
                "them, such as their mean, or a row for each pair",
                op_string(op, ATTR_name),
                function->module->symbols.data[type->dims[axis].symbol].name);
            return false;
        }
    }
    return true;
}

int64_t prediction_labels(const Predictor *p, const Prediction *prediction)
{
    const ColumnSpec *spec = prediction->label < 0 ? NULL : &p->given->specs[prediction->label];
    const int64_t listed = spec && spec->labels ? (int64_t)spec->labels->words.count : INT64_MAX;
    return listed < prediction->n_classes ? listed : prediction->n_classes;
}

static void add_prediction(Predictor *p, Job *job, const Op *output)
{
    const Type *type = &output->args[0]->type;
    const Module *module = p->function->module;
    const bool many = !strcmp(op_string(output, ATTR_predict), "many"),
               classes = many || !strcmp(op_string(output, ATTR_predict), "classes");
    const int first = axis_of_values(module, type);
    Prediction *prediction = &p->all[p->n++];
    *prediction = (Prediction){
        .name = op_string(output, ATTR_name), .classes = classes, .side = -1, .width = 1};
    if (first == 2)
        prediction->side = feed_side(&p->feed, module->symbols.data[type->dims[1].symbol].name);
    for (int axis = first; axis < type->rank; axis++)
        prediction->width *= type->dims[axis].size;
    prediction->n_classes = classes ? type->dims[type->rank - 1].size : 1;
    if (many) {
        prediction->thresholds = ARENA_ARRAY(job->arena, float, prediction->n_classes + 1);
        for (int64_t i = 0; i < prediction->n_classes; i++)
            prediction->thresholds[i] = (float)SETS_THRESHOLD;
    }
    prediction->label = find_label(p, prediction);
    prediction->mark[0] =
        many && prediction->label >= 0 ? p->given->specs[prediction->label].many : '|';
    prediction->hidden = find_hidden(p, prediction);
    prediction->is_ctc = prediction->label >= 0 && p->given->specs[prediction->label].is_ctc;
    if (classes)
        prediction->names = class_names(job, p, prediction);
}

/* Drops all predictions but one. False after an error: there is none of that name. */
static bool choose_prediction(Function *function, Job *job, const char *only)
{
    VEC(const char *) names = {0};
    bool found = false;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_output) {
            vec_push(job->arena, names, op_string(op, ATTR_name));
            found = found || !strcmp(op_string(op, ATTR_name), only);
        }
    if (!found && names.count)
        return job_error(job, "--only %s: the model does not predict this%s", only,
                         text_known(job->arena, "'", only, names.data, (int)names.count));
    FOR_OPS (op, &function->body)
        if (op->kind == OP_output && strcmp(op_string(op, ATTR_name), only) != 0)
            block_remove(&function->body, op);
    remove_dead(function);
    return true;
}

/* Whether inputs that are read lie along the ragged dimension, or along those that it is made
 * of. */
static bool is_fed_along(const Function *function, int symbol)
{
    const DimFormula *formula = &function->module->symbols.data[symbol].formula;
    bool fed = formula->n > 0;
    for (int i = 0; i < formula->n; i++)
        fed = fed && (!symbol_is_ragged(function->module, formula->terms[i].symbol) ||
                      is_fed_along(function, formula->terms[i].symbol));
    if (formula->n)
        return fed;
    FOR_OPS (op, &function->body)
        if (op->kind == OP_input && op_result(op)->type.rank > 1 &&
            op_result(op)->type.dims[1].symbol == symbol)
            return true;
    return false;
}

/* Whether inputs give all ragged dimensions of what is predicted their lengths. */
static bool check_dimensions(const Predictor *p, Job *job)
{
    const Module *module = p->function->module;
    FOR_OPS (op, &p->function->body)
        for (int r = 0; r < op->n_results; r++)
            for (int d = 0; d < op->results[r].type.rank; d++) {
                const int symbol = op->results[r].type.dims[d].symbol;
                if (symbol == NO_SYMBOL || !symbol_is_ragged(module, symbol) ||
                    is_fed_along(p->function, symbol))
                    continue;
                diag_error(&job->diags, op->loc,
                           "what is predicted has the dimension `%s`, but reads no input along it, "
                           "which would give its length",
                           module->symbols.data[symbol].name);
                return false;
            }
    return true;
}

static bool find_predictions(Predictor *p, Job *job)
{
    int n = 0;
    if (!predictions_check(job, p->function))
        return false;
    FOR_OPS (op, &p->function->body)
        n += op->kind == OP_output;
    p->all = ARENA_ARRAY(job->arena, Prediction, n + 1);
    FOR_OPS (op, &p->function->body)
        if (op->kind == OP_output)
            add_prediction(p, job, op);
    if (n && !function_has(p->function, OP_input))
        return job_error(job, "%s: what it predicts reads no input, and so no record",
                         p->inference->session->model->path);
    return n > 0 ? check_dimensions(p, job)
                 : job_error(
                       job,
                       "%s predicts nothing: `predict NAME = …` in the model says what, such as "
                       "`predict class = softmax(logits)`",
                       p->inference->session->model->path);
}

/* ---- what is read ---- */

static CorpusKind kind_read(const Predictor *p, const ModelPorts *ports)
{
    bool source = ports->source && function_reads(p->function, ports->source);
    bool target = (ports->target && function_reads(p->function, ports->target)) ||
                  (ports->next && function_reads(p->function, ports->next));
    if (p->run_kind == CORPUS_RECORDS)
        return CORPUS_RECORDS;
    return (source ? HAS_SOURCE | (p->run_kind & IS_ALONE) : 0) | (target ? HAS_TARGET : 0);
}

/* The columns that the function reads, and only those are fed. */
static void keep_columns(Predictor *p, Job *job)
{
    const DataColumns *all = p->given;
    p->columns =
        (DataColumns){ARENA_ARRAY(job->arena, ColumnSpec, MOST_COLUMNS),
                      ARENA_ARRAY(job->arena, const char *, MOST_COLUMNS),
                      ARENA_ARRAY(job->arena, const char *, MOST_COLUMNS), all->formulas, 0};
    p->feed.n_columns = 0;
    for (int c = 0; c < all->n; c++) {
        const char *hidden = p->feed.hidden[c];
        if (!function_reads(p->function, all->specs[c].input) &&
            !(hidden && function_reads(p->function, hidden)))
            continue;
        p->columns.specs[p->columns.n++] = all->specs[c];
        p->feed.hidden[p->feed.n_columns] = hidden;
        p->feed.columns[p->feed.n_columns++] = all->specs[c].input;
    }
}

void predictor_read(Predictor *p, Job *job, Inference *inference, const DataColumns *columns,
                    CorpusKind kind, Function *function)
{
    *p = (Predictor){.inference = inference,
                     .given = columns,
                     .run_kind = kind,
                     .function = function,
                     .feed = inference->feed};
    p->kind = kind_read(p, &inference->ports);
    keep_columns(p, job);
}

bool predictor_read_sources(Predictor *p, Job *job, const RunFolder *run)
{
    const Inference *inference = &run->inference;
    if (!inference->encode)
        return job_error(job, "%s: the model reads nothing that a text could be decoded from",
                         run->path);
    predictor_read(p, job, (Inference *)inference, &run->columns, run->kind, inference->encode);
    if (inference->shortlist && p->kind != CORPUS_SOURCES)
        return job_error(job, SHORTLIST_OF_LINES, run->path);
    for (int i = 0; i < run->n_with; i++) {
        const Inference *with = &run->with[i].inference;
        for (int c = 0; c < with->ports.n_columns && with->encode; c++) {
            const char *input = op_string(with->ports.columns[c], ATTR_name);
            if (function_reads(with->encode, input) && columns_find(&p->columns, input) < 0)
                return job_error(job, "%s reads a column for `%s`, which %s does not",
                                 run->with[i].path, input, run->path);
        }
    }
    return run_check_columns(job, run);
}

bool predictor_find(Predictor *p, Job *job, Inference *inference, const DataColumns *columns,
                    CorpusKind kind, const char *only)
{
    Function *function = derive_predict(inference->session->model->module);
    if (only && !choose_prediction(function, job, only))
        return false;
    predictor_read(p, job, inference, columns, kind, function);
    p->only = only;
    return find_predictions(p, job);
}

bool predictor_prepare(Predictor *p, Job *job, Inference *inference, const DataColumns *columns,
                       CorpusKind kind, const char *only)
{
    if (!predictor_find(p, job, inference, columns, kind, only))
        return false;
    p->program = inference_add_program(inference, p->function);
    return p->program != NULL;
}

static bool predicts_same(const Predictor *p, const Predictor *other)
{
    bool same = p->n == other->n;
    for (int i = 0; same && i < p->n; i++) {
        const Prediction *a = &p->all[i], *b = &other->all[i];
        same = !strcmp(a->name, b->name) && a->classes == b->classes && a->side == b->side &&
               a->width == b->width && a->n_classes == b->n_classes && a->is_ctc == b->is_ctc &&
               !a->thresholds == !b->thresholds;
    }
    return same;
}

bool predictor_add_members(Predictor *p, Job *job, RunFolder *run)
{
    if (!run->n_with)
        return true;
    p->members = ARENA_ARRAY(job->arena, Predictor, run->n_with);
    for (int i = 0; i < run->n_with; i++) {
        RunFolder *with = &run->with[i];
        Predictor *member = &p->members[i];
        if (!predictor_prepare(member, job, &with->inference, &with->columns, with->kind, p->only))
            return false;
        bool same = predicts_same(p, member) && member->kind == p->kind;
        for (int c = 0; same && c < member->columns.n; c++)
            same = columns_find(&p->columns, member->columns.specs[c].input) >= 0;
        if (!same)
            return job_error(job,
                             "%s and %s cannot be averaged: they predict or read something "
                             "else",
                             run->path, with->path);
    }
    return run_check_columns(job, run);
}

bool predicts(const Module *module)
{
    FOR_OPS (op, &module_function(module, "model")->body)
        if (op->kind == OP_output && op_attr(op, ATTR_predict))
            return true;
    return false;
}

CorpusOptions predictor_options(const Predictor *p)
{
    return (CorpusOptions){.kind = p->kind,
                           .keep_all = true,
                           .pass_empty = true,
                           .max_length = inference_said_length(p->inference),
                           .same_lengths = p->kind == CORPUS_PAIRS && feed_shares_lengths(&p->feed),
                           .columns = p->columns.specs,
                           .n_columns = p->columns.n,
                           .formulas = p->columns.formulas};
}

Corpus *predictor_corpus(const Predictor *p, Job *job, const CorpusText *text, int64_t first,
                         int64_t n, CorpusTold *told)
{
    const CorpusOptions options = predictor_options(p);
    return corpus_encode_part(&job->diags, p->inference->vocab, &options, text, first, n, told);
}

void predictor_tell(const Predictor *p, Job *job, const CorpusText *text, const CorpusTold *told)
{
    const CorpusOptions options = predictor_options(p);
    corpus_tell(&job->diags, &options, text, told);
}

/* ---- computing ---- */

int64_t predicted_words(const Prediction *p, const Corpus *corpus, int64_t row,
                        const int32_t **firsts)
{
    return p->is_ctc ? -1 : corpus_words(corpus, row, p->side, firsts);
}

/* Values that the program computes of a row, and those of them that are predicted. */
static int64_t computed_values(const Prediction *p, const Corpus *corpus, int64_t row)
{
    return p->width * (p->side < 0 ? 1 : corpus_side_length(corpus, row, p->side));
}

static int64_t row_values(const Prediction *p, const Corpus *corpus, int64_t row)
{
    const int32_t *firsts;
    const int64_t words = predicted_words(p, corpus, row, &firsts);
    return words >= 0 ? p->width * words : computed_values(p, corpus, row);
}

int64_t predictor_values(const Predictor *p, const Corpus *corpus, int64_t row)
{
    int64_t values = 0;
    for (int k = 0; k < p->n; k++)
        values += row_values(&p->all[k], corpus, row);
    return values;
}

static void place_rows(const Predictor *p, const Corpus *corpus, Arena *arena, Predicted *results)
{
    for (int k = 0; k < p->n; k++) {
        const Prediction *prediction = &p->all[k];
        int64_t *start = ARENA_ARRAY(arena, int64_t, corpus->n + 1);
        for (int64_t i = 0; i < corpus->n; i++)
            start[i + 1] = start[i] + row_values(prediction, corpus, i);
        results[k] = (Predicted){ARENA_ARRAY(arena, float, start[corpus->n] + 1), start};
    }
}

/* RowValues: the values of a row as floats, where the program has them otherwise. */
typedef struct RowValues {
    float *values;
    int64_t room;
} RowValues;

/* The row's predicted values: in the program's, from `first` on, or copied. */
static const float *row_floats(const Prediction *p, const TfcPort *port, const void *data,
                               int64_t first, const Corpus *corpus, int64_t row, RowValues *copy)
{
    const int32_t *firsts = NULL;
    const int64_t words = predicted_words(p, corpus, row, &firsts), n = row_values(p, corpus, row);
    if (port->type == TFC_F32 && words < 0)
        return (const float *)data + first;
    if (copy->room < n || !copy->values) {
        copy->room = n;
        copy->values = memory_resized(copy->values, (size_t)(n + 1) * sizeof(float));
    }
    if (n)
        predicted_take(port, data, first, p->width, words < 0 ? NULL : firsts, n / p->width,
                       copy->values);
    return copy->values;
}

static void take_batch(const Predictor *p, Exec *exec, const Corpus *corpus, const Batch *batch,
                       RowValues *copy, PredictedRow *act, void *context)
{
    for (int k = 0; k < p->n; k++) {
        const void *data = exec_output(exec, p->all[k].name);
        int64_t at = 0;
        for (int64_t b = 0; b < batch->shape.rows; b++) {
            const int64_t row = batch->row[b];
            act(context, corpus, row, k,
                row_floats(&p->all[k], &p->program->outputs[k], data, at, corpus, row, copy),
                row_values(&p->all[k], corpus, row));
            at += computed_values(&p->all[k], corpus, row);
        }
    }
}

static int64_t at_least_one(int64_t n) { return n < 1 ? 1 : n; }

static BatchOptions batches_of(const Predictor *p)
{
    BatchOptions options = {.tokens = EVALUATION_BATCH, .hides = p->hides};
    int64_t row = 0, position = 0; /* values */
    for (int k = 0; k < p->n; k++)
        *(p->all[k].side < 0 ? &row : &position) += p->all[k].width;
    if (row)
        options.sentences = at_least_one(PREDICTED_VALUES / row);
    if (position * options.tokens > PREDICTED_VALUES)
        options.tokens = at_least_one(PREDICTED_VALUES / position);
    return options;
}

bool predictor_each(Predictor *p, Job *job, const Corpus *corpus, const Feed *feed,
                    PredictedRow *act, void *context)
{
    const BatchOptions options = batches_of(p);
    Batches *batches = batches_new(corpus, &options, 0);
    Batch batch = {0};
    RowValues copy = {0};
    if (!p->exec)
        p->exec = exec_new(p->program, p->inference->store);
    bool ok = p->exec && feed_reserve(p->exec, p->program, feed, batches);
    for (int64_t i = 0; ok && i < batches_count(batches); i++) {
        batches_fill(batches, i, &batch);
        feed_batch(p->exec, feed, &batch);
        ok = exec_run(p->exec);
        if (ok)
            take_batch(p, p->exec, corpus, &batch, &copy, act, context);
    }
    free(copy.values);
    batch_free(&batch);
    batches_free(batches);
    return ok || job_no_memory(job);
}

void predictor_close(Predictor *p)
{
    for (int i = 0; p->members && i < p->inference->n_members; i++)
        predictor_close(&p->members[i]);
    exec_free(p->exec);
    p->exec = NULL;
}

static void add_row(void *context, const Corpus *corpus, int64_t row, int p, const float *values,
                    int64_t n)
{
    Predicted *results = context;
    float *sum = results[p].values + results[p].start[row];
    for (int64_t i = 0; i < n; i++)
        sum[i] += values[i];
}

static void keep_row(void *context, const Corpus *corpus, int64_t row, int p, const float *values,
                     int64_t n)
{
    Predicted *results = context;
    memcpy(results[p].values + results[p].start[row], values, (size_t)n * sizeof *values);
}

bool predictor_run(Predictor *p, Job *job, const Corpus *corpus, Arena *arena, Predicted *results)
{
    const int n = p->members ? p->inference->n_members : 0;
    place_rows(p, corpus, arena, results);
    bool ok = predictor_each(p, job, corpus, &p->feed, keep_row, results);
    for (int i = 0; ok && i < n; i++) {
        const Feed feed = feed_of_corpus(&p->members[i].inference->feed, corpus);
        ok = predictor_each(&p->members[i], job, corpus, &feed, add_row, results);
    }
    for (int k = 0; ok && n && k < p->n; k++)
        for (int64_t i = 0; i < results[k].start[corpus->n]; i++)
            results[k].values[i] /= (float)(n + 1);
    return ok;
}
