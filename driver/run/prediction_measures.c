/* Measuring predictions: what each counts as, and the figures of the counts. */
#include "driver/run/prediction_measures.h"

#include "base/portable_math.h"

#include "runtime/data/hiding.h"
#include "runtime/decode/ctc.h"
#include "runtime/decode/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a prediction is measured as. */
typedef enum Task {
    TASK_NONE,
    TASK_CLASSES,
    TASK_TAGS,
    TASK_HIDDEN,
    TASK_SETS,
    TASK_SEQUENCES,
    TASK_NUMBERS
} Task;

static Task task_of(const Prediction *p)
{
    if (p->label < 0)
        return p->hidden < 0 ? TASK_NONE : TASK_HIDDEN;
    if (!p->classes)
        return p->side < 0 && p->width == 1 ? TASK_NUMBERS : TASK_NONE;
    if (p->thresholds)
        return TASK_SETS;
    return p->is_ctc ? TASK_SEQUENCES : p->side < 0 ? TASK_CLASSES : TASK_TAGS;
}

static bool is_vector(const Prediction *p)
{
    return !p->classes && p->side < 0 && p->width > 1 && p->label < 0;
}

/* The first two vectors of the same width; false: there are none. */
static bool find_pair(const Predictor *predictor, int pair[2])
{
    for (int a = 0; a < predictor->n; a++)
        for (int b = a + 1; b < predictor->n; b++)
            if (is_vector(&predictor->all[a]) && is_vector(&predictor->all[b]) &&
                predictor->all[a].width == predictor->all[b].width) {
                pair[0] = a;
                pair[1] = b;
                return true;
            }
    return false;
}

/* The first prediction of that task; -1: there is none. */
static int find_task(const Predictor *predictor, Task task)
{
    for (int p = 0; p < predictor->n; p++)
        if (task_of(&predictor->all[p]) == task)
            return p;
    return -1;
}

static bool marks_spans(const Predictor *predictor)
{
    const int p = find_task(predictor, TASK_TAGS);
    const Prediction *tags = p < 0 ? NULL : &predictor->all[p];
    return tags && tags->names && tags_have_spans(tags->names, tags->width);
}

bool predictor_measures(const Predictor *predictor, int measure)
{
    int pair[2];
    switch (measure) {
    case MEASURE_accuracy:
        return find_task(predictor, TASK_CLASSES) >= 0 || find_task(predictor, TASK_TAGS) >= 0 ||
               find_task(predictor, TASK_HIDDEN) >= 0;
    case MEASURE_macro_f1:
        return find_task(predictor, TASK_CLASSES) >= 0 || find_task(predictor, TASK_SETS) >= 0;
    case MEASURE_micro_f1:
    case MEASURE_exact:
    case MEASURE_average_precision: return find_task(predictor, TASK_SETS) >= 0;
    case MEASURE_span_f1: return marks_spans(predictor);
    case MEASURE_line_error_rate:
    case MEASURE_symbol_error_rate: return find_task(predictor, TASK_SEQUENCES) >= 0;
    case MEASURE_spearman: return find_task(predictor, TASK_NUMBERS) >= 0;
    case MEASURE_recall: return find_pair(predictor, pair);
    default: return false;
    }
}

/* ---- counting ---- */

/* Measuring: the prediction of each task, and what has been counted of it.
 *   classes … numbers   predictions by their numbers; -1: none
 *   rows, before        of all corpora; of those before the current one
 *   hides               the texts of this pass do
 *   chooses             thresholds are chosen on these corpora
 *   vectors             of the pair: of n_vectors rows at equal distances
 *   keeps_records       of `judged`
 *   arena               its own, unless `judged` outlives it
 *   ids                 of a row's positions, with room for `room` */
struct Measuring {
    Predictor *predictor;
    Job *job;
    int classes, tags, hidden, sets, sequences, numbers;
    int pair[2];
    int64_t rows, before;
    bool has_pair, ok, hides;
    bool chooses;
    ClassCounts class_counts, hidden_counts;
    SetCounts set_counts;
    Hiding *hiding;
    TagCounts tag_counts;
    ErrorCounts error_counts;
    NumberPairs number_pairs;
    float *vectors[2];
    int64_t n_vectors;
    Judged *judged;
    bool keeps_records;
    Arena *arena, *own;
    int32_t *ids;
    int64_t room;
};

static int32_t *room_for(Measuring *m, int64_t n)
{
    if (m->room < n || !m->ids) {
        m->ids = memory_resized(m->ids, (size_t)(n + 1) * sizeof *m->ids);
        m->room = n;
    }
    return m->ids;
}

/* A row of the column that says what is right, of what has values. */
static const int32_t *labels_of(Measuring *m, const Corpus *corpus, int64_t row, int p, int64_t *n)
{
    const Prediction *prediction = &m->predictor->all[p];
    const Rows *rows = &corpus->columns[prediction->label];
    const int32_t *firsts, *labels = rows->ids.data + rows->start[row];
    const int64_t words = predicted_words(prediction, corpus, row, &firsts);
    *n = words < 0 ? rows_length(rows, row) : words;
    if (words < 0)
        return labels;
    int32_t *of_words = room_for(m, 2 * words) + words;
    for (int64_t i = 0; i < words; i++)
        of_words[i] = labels[firsts[i]];
    return of_words;
}

/* row: of all corpora. */
static void judge(const Measuring *m, JudgedTask *task, int64_t row, const int32_t *ids, int64_t n,
                  double loss, double value)
{
    if (!m->keeps_records)
        return;
    task->rows[task->n++] = (JudgedRow){row, (int64_t)task->ids.count, n, loss, value};
    for (int64_t i = 0; i < n; i++)
        ids_push(&task->ids, ids[i]);
}

static void count_class(Measuring *m, int64_t row, int32_t label, const float *values, int64_t n)
{
    const int32_t predicted = (int32_t)pick_greatest(values, n);
    classes_add(&m->class_counts, label, predicted);
    if (m->judged)
        judge(m, &m->judged->classes, m->before + row, &predicted, 1,
              -portable_log((double)values[label]), (double)values[predicted]);
}

static void count_tags(Measuring *m, int64_t row, const int32_t *labels, const float *values,
                       int64_t n, int64_t width)
{
    int32_t *ids = room_for(m, n);
    double loss = 0;
    for (int64_t i = 0; i < n; i++) {
        ids[i] = (int32_t)pick_greatest(values + i * width, width);
        loss -= portable_log((double)values[i * width + labels[i]]);
    }
    tags_add(&m->tag_counts, labels, ids, n);
    for (int64_t i = 0; m->judged && i < n; i++)
        classes_add(&m->judged->tags.counts, labels[i], ids[i]);
    if (m->judged)
        judge(m, &m->judged->tags, m->before + row, ids, n, n ? loss / (double)n : 0, NAN);
}

/* Of the tokens that the batch hid, since measuring uses a row for the first time. */
static void count_hidden(Measuring *m, const Corpus *corpus, int64_t row, const float *values)
{
    const Prediction *p = &m->predictor->all[m->hidden];
    const Rows *rows = &corpus->columns[p->hidden];
    const int64_t n = rows_length(rows, row);
    int32_t *ids = room_for(m, 2 * n), *labels = ids + n;
    memcpy(ids, rows->ids.data + rows->start[row], (size_t)n * sizeof *ids);
    hiding_row(m->hiding, corpus_number(corpus, row), 0, ids, n, labels);
    for (int64_t i = 0; i < n; i++)
        if (labels[i] >= 0)
            classes_add(&m->hidden_counts, labels[i],
                        pick_greatest(values + i * p->width, p->width));
}

/* The best path: in each frame the greatest probability, or its logarithm. */
static void count_sequence(Measuring *m, int64_t row, const int32_t *labels, int64_t n_labels,
                           const float *values, int64_t n, int64_t width)
{
    const int64_t before = m->error_counts.edits;
    double probability;
    int32_t found;
    const CtcFrames frames = {values, (int32_t)n, (int32_t)width, CTC_LOSS_BLANK};
    int32_t *ids = room_for(m, n);
    if (ctc_best_path(&frames, ids, &found, &probability) == CTC_OK)
        errors_add(&m->error_counts, ids, found, labels, n_labels);
    else
        m->ok = job_error(m->job, "%s", ctc_message(CTC_BAD_NUMBERS));
    if (m->ok && m->judged)
        judge(m, &m->judged->sequences, m->before + row, ids, found,
              (double)(m->error_counts.edits - before), NAN);
}

static void count_number(Measuring *m, int64_t row, const int32_t *bits, float predicted)
{
    float label;
    memcpy(&label, bits, sizeof label);
    numbers_add(&m->number_pairs, label, predicted);
    if (m->judged)
        judge(m, &m->judged->numbers, m->before + row, NULL, 0,
              fabs((double)predicted - (double)label), (double)predicted);
}

/* Which of n rows at equal distances among all a row is; -1: none of them. */
static int64_t place_of_row(int64_t row, int64_t rows, int64_t n)
{
    const int64_t place = (row * n + rows - 1) / rows;
    return place < n && place * rows / n == row ? place : -1;
}

static void take_vector(Measuring *m, int side, int64_t row, const float *values, int64_t n)
{
    const int64_t place = place_of_row(m->before + row, m->rows, m->n_vectors);
    if (place >= 0)
        memcpy(m->vectors[side] + place * n, values, (size_t)n * sizeof *values);
}

static void count_row(void *context, const Corpus *corpus, int64_t row, int p, const float *values,
                      int64_t n)
{
    Measuring *m = context;
    const Prediction *prediction = &m->predictor->all[p];
    int64_t n_labels = 0;
    const int32_t *labels = prediction->label < 0 ? NULL : labels_of(m, corpus, row, p, &n_labels);
    if (m->hides) {
        if (p == m->hidden)
            count_hidden(m, corpus, row, values);
        return;
    }
    if (p == m->classes)
        count_class(m, row, labels[0], values, n);
    if (p == m->tags)
        count_tags(m, row, labels, values, n_labels, prediction->width);
    if (p == m->sets)
        sets_add(&m->set_counts, labels, values);
    if (p == m->sequences)
        count_sequence(m, row, labels, n_labels, values, n / prediction->width, prediction->width);
    if (p == m->numbers)
        count_number(m, row, labels, values[0]);
    for (int side = 0; m->has_pair && side < 2; side++)
        if (p == m->pair[side])
            take_vector(m, side, row, values, n);
}

/* ---- figures ---- */

static bool begin_judged(Measuring *m)
{
    Arena *arena = m->job->arena;
    const int of[] = {m->classes, m->tags, m->sequences, m->numbers, m->has_pair ? m->pair[0] : -1};
    JudgedTask *tasks[] = {&m->judged->classes, &m->judged->tags, &m->judged->sequences,
                           &m->judged->numbers, &m->judged->vectors};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        if (of[i] < 0)
            continue;
        tasks[i]->prediction = &m->predictor->all[of[i]];
        tasks[i]->rows = m->keeps_records ? ARENA_ARRAY(arena, JudgedRow, m->rows + 1) : NULL;
    }
    const int64_t n_tags = m->tags < 0 ? 0 : m->predictor->all[m->tags].width;
    return !n_tags || classes_begin(&m->judged->tags.counts, arena, &m->job->diags, n_tags,
                                    n_tags <= CLASSES_MOST_TABLE);
}

static bool begin(Measuring *m)
{
    const Predictor *p = m->predictor;
    Arena *arena = m->arena;
    Diagnostics *diags = &m->job->diags;
    m->classes = find_task(p, TASK_CLASSES);
    m->tags = find_task(p, TASK_TAGS);
    m->hidden = p->members ? -1 : find_task(p, TASK_HIDDEN); /* each hides tokens of its own */
    m->sets = find_task(p, TASK_SETS);
    if (m->sets >= 0)
        sets_begin(&m->set_counts, p->all[m->sets].width);
    m->sequences = find_task(p, TASK_SEQUENCES);
    m->numbers = find_task(p, TASK_NUMBERS);
    m->has_pair = find_pair(p, m->pair);
    m->n_vectors = m->rows < RECALL_MOST ? m->rows : RECALL_MOST;
    for (int side = 0; m->has_pair && side < 2; side++)
        m->vectors[side] =
            memory_zeroed((size_t)(m->n_vectors * p->all[m->pair[0]].width), sizeof(float));
    if (m->numbers >= 0)
        numbers_reserve(&m->number_pairs, m->rows);
    const int64_t n_classes = m->classes < 0 ? 0 : p->all[m->classes].width;
    if (m->judged && !begin_judged(m))
        return false;
    if (n_classes && !classes_begin(&m->class_counts, arena, diags, n_classes,
                                    m->judged && n_classes <= CLASSES_MOST_TABLE))
        return false;
    if (m->hidden >= 0) {
        const ColumnSpec *spec = &p->given->specs[p->all[m->hidden].hidden];
        m->hiding = hiding_new(spec, column_vocab(spec, p->inference->vocab), 0);
        if (!classes_begin(&m->hidden_counts, arena, diags, p->all[m->hidden].width, false))
            return false;
    }
    if (m->tags < 0)
        return true;
    const Prediction *tags = &p->all[m->tags];
    const char **none = ARENA_ARRAY(arena, const char *, tags->width + 1);
    for (int64_t i = 0; i < tags->width; i++)
        none[i] = "O";
    return tags_begin(&m->tag_counts, arena, diags, tags->names ? tags->names : none, tags->width);
}

static double mean_recall(const Measuring *m)
{
    const int64_t n = m->n_vectors, width = m->predictor->all[m->pair[0]].width;
    int64_t *forth = ARENA_ARRAY(m->arena, int64_t, n + 1);
    int64_t *back = ARENA_ARRAY(m->arena, int64_t, n + 1);
    retrieval_ranks(m->vectors[0], m->vectors[1], n, width, exec_threads(), forth, back);
    for (int64_t i = 0; m->judged && i < n; i++)
        judge(m, &m->judged->vectors, i * m->rows / n, NULL, 0,
              (double)(forth[i] > back[i] ? forth[i] : back[i]), NAN);
    return (retrieval_recall(forth, n, 1) + retrieval_recall(back, n, 1)) / 2;
}

/* Figures of sets, at thresholds that may be chosen first. */
static void take_set_figures(Measuring *m, TrainFigures *out)
{
    const Prediction *prediction = &m->predictor->all[m->sets];
    SetMatch *of = ARENA_ARRAY(m->arena, SetMatch, prediction->width + 1);
    if (m->chooses)
        sets_choose(&m->set_counts, prediction->thresholds);
    const SetFigures figures = sets_figures(
        &m->set_counts, prediction_labels(m->predictor, prediction), prediction->thresholds, of);
    out->micro_f1 = figures.micro_f1;
    out->macro_f1 = figures.macro_f1;
    out->exact = figures.exact;
    out->average_precision = figures.average_precision;
    if (m->judged)
        m->judged->sets = (JudgedSets){prediction, prediction_labels(m->predictor, prediction), of};
}

static void take_figures(Measuring *m, TrainFigures *out)
{
    if (m->hidden >= 0)
        out->accuracy = classes_accuracy(&m->hidden_counts);
    if (m->tags >= 0)
        out->accuracy = tags_accuracy(&m->tag_counts);
    if (m->tags >= 0 && m->tag_counts.has_spans)
        out->span_f1 = match_f1(&m->tag_counts.spans);
    if (m->classes >= 0) {
        out->accuracy = classes_accuracy(&m->class_counts);
        out->macro_f1 = classes_macro_f1(&m->class_counts);
    }
    if (m->sets >= 0)
        take_set_figures(m, out);
    if (m->sequences >= 0) {
        out->symbol_error_rate = errors_token_rate(&m->error_counts);
        out->line_error_rate = errors_sequence_rate(&m->error_counts);
    }
    if (m->numbers >= 0)
        out->spearman = numbers_spearman(&m->number_pairs);
    if (m->has_pair)
        out->recall = mean_recall(m);
}

/* ---- interface ---- */

static void free_measuring(Measuring *m)
{
    predictor_close(m->predictor);
    numbers_free(&m->number_pairs);
    sets_free(&m->set_counts);
    hiding_free(m->hiding);
    free(m->vectors[0]);
    free(m->vectors[1]);
    free(m->ids);
    arena_free(m->own);
    free(m);
}

Measuring *measuring_begin(Predictor *predictor, Job *job, int64_t rows, Judged *judged,
                           bool keeps_records)
{
    Measuring *m = memory_zeroed(1, sizeof *m);
    *m = (Measuring){.predictor = predictor,
                     .job = job,
                     .rows = rows,
                     .ok = true,
                     .judged = judged,
                     .keeps_records = keeps_records,
                     .own = judged ? NULL : arena_new()};
    m->arena = m->own ? m->own : job->arena;
    if (judged)
        *judged = (Judged){0};
    if (begin(m))
        return m;
    free_measuring(m);
    return NULL;
}

/* Counts all rows; of an ensemble by the means of what its members predict. */
static bool count_rows(Measuring *m, const Corpus *corpus)
{
    Predictor *p = m->predictor;
    if (!p->members)
        return predictor_each(p, m->job, corpus, &p->inference->feed, count_row, m);
    Arena *arena = arena_new();
    Predicted *means = ARENA_ARRAY(arena, Predicted, p->n);
    const bool ok = predictor_run(p, m->job, corpus, arena, means);
    for (int64_t row = 0; ok && row < corpus->n; row++)
        for (int k = 0; k < p->n; k++) {
            const int64_t *start = &means[k].start[row];
            if (start[1] > start[0])
                count_row(m, corpus, row, k, means[k].values + start[0], start[1] - start[0]);
        }
    arena_free(arena);
    return ok;
}

/* Hidden tokens are found in texts that hide them; all else is predicted of whole texts, as `tfc
 * predict` does. */
bool measuring_add(Measuring *m, const Corpus *corpus)
{
    const bool wanted[] = {m->classes >= 0 || m->tags >= 0 || m->sets >= 0 || m->sequences >= 0 ||
                               m->numbers >= 0 || m->has_pair,
                           m->hidden >= 0};
    for (int hides = 0; hides < 2 && m->ok; hides++) {
        m->predictor->hides = m->hides = hides;
        m->ok = !wanted[hides] || (count_rows(m, corpus) && m->ok);
    }
    m->predictor->hides = false;
    m->before += corpus->n;
    return m->ok;
}

bool measuring_end(Measuring *m, bool ok, TrainFigures *out)
{
    if (!m)
        return ok;
    if (ok)
        take_figures(m, out);
    if (m->judged) {
        m->judged->classes.counts = m->class_counts;
        m->judged->tags.spans = m->tag_counts;
    }
    free_measuring(m);
    return ok;
}

bool predictor_measure(Predictor *predictor, Job *job, const Corpus *corpus, bool chooses,
                       TrainFigures *out, Judged *judged)
{
    Measuring *m = measuring_begin(predictor, job, corpus->n, judged, judged != NULL);
    if (m)
        m->chooses = chooses;
    return measuring_end(m, m && measuring_add(m, corpus), out);
}

void judged_free(Judged *judged)
{
    ids_free(&judged->classes.ids);
    ids_free(&judged->tags.ids);
    ids_free(&judged->sequences.ids);
}
