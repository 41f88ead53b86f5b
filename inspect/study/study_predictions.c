/* Study of a run that reads tables and predicts: confusions of classes and tags, how well each
 * class and each type of span is found, and the records that are predicted worst. */
#include "inspect/study/cells.h"
#include "inspect/study/study.h"
#include "driver/run/evaluation.h"
#include "driver/run/prediction_measures.h"
#include "driver/run/thresholds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 24, MOST_WORST = 12, MOST_CELL = 240, MOST_WRONG = 8 };

static const char *class_name(Job *job, const Prediction *p, int64_t id)
{
    return p->names ? p->names[id] : arena_printf(job->arena, "%" PRId64, id);
}

static RunTable *new_table(Job *job, RunView *view)
{
    vec_push(job->arena, view->tables, ((RunTable){0}));
    return &view->tables.data[view->tables.count - 1];
}

/* ---- classes ---- */

/* RankedCount: a class and its errors, as label and as prediction. */
typedef struct RankedCount {
    int64_t id, errors;
} RankedCount;

static int compare_errors(const void *a, const void *b)
{
    const RankedCount *x = a, *y = b;
    return x->errors != y->errors ? (x->errors < y->errors) - (x->errors > y->errors)
                                  : (x->id > y->id) - (x->id < y->id);
}

static int compare_ids(const void *a, const void *b)
{
    const RankedCount *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* The classes that occur, in their order: if there are more than MOST_CLASSES, those with the most
 * errors. Returns how many; *all: how many occur. */
static int64_t choose_classes(Job *job, const MatchCount *of, int64_t n, RankedCount **chosen,
                              int64_t *all)
{
    RankedCount *ranked = ARENA_ARRAY(job->arena, RankedCount, n + 1);
    *all = 0;
    for (int64_t i = 0; i < n; i++)
        if (of[i].labels || of[i].predictions)
            ranked[(*all)++] = (RankedCount){i, of[i].labels + of[i].predictions - 2 * of[i].right};
    const int64_t kept = *all < MOST_CLASSES ? *all : MOST_CLASSES;
    if (kept < *all)
        qsort(ranked, (size_t)*all, sizeof *ranked, compare_errors);
    qsort(ranked, (size_t)kept, sizeof *ranked, compare_ids);
    *chosen = ranked;
    return kept;
}

/* All classes that are not chosen are one row and one column, "others". */
static void add_matrix(Job *job, const JudgedTask *task, const char *what, RunView *view)
{
    const ClassCounts *counts = &task->counts;
    RankedCount *chosen;
    int64_t all;
    const int64_t kept = choose_classes(job, counts->of, counts->n, &chosen, &all),
                  n = kept + (kept < all);
    if (!counts->table || !n)
        return;
    int64_t *place = ARENA_ARRAY(job->arena, int64_t, counts->n + 1),
            *cells = ARENA_ARRAY(job->arena, int64_t, n *n);
    const char **names = ARENA_ARRAY(job->arena, const char *, n + 1);
    names[kept] = "others";
    for (int64_t i = 0; i < counts->n; i++)
        place[i] = kept;
    for (int64_t i = 0; i < kept; i++) {
        place[chosen[i].id] = i;
        names[i] = class_name(job, task->prediction, chosen[i].id);
    }
    for (int64_t label = 0; label < counts->n; label++)
        for (int64_t p = 0; p < counts->n; p++)
            if (counts->table[label * counts->n + p])
                cells[place[label] * n + place[p]] += counts->table[label * counts->n + p];
    const char *note = arena_printf(
        job->arena, "A row for each label, a column for each prediction, in %s.%s", what,
        kept < all ? " Shown are the classes with the most errors; those within others may be "
                     "right or wrong."
                   : "");
    vec_push(job->arena, view->matrices,
             ((RunMatrix){arena_printf(job->arena, "Confusions of %s", task->prediction->name),
                          note, names, cells, n}));
}

/* Of classes or types of spans: how many there are, and how well they are found. */
static void add_matches(Job *job, const char *title, const char *what, const MatchCount *of,
                        const char *const *names, int64_t n, RunView *view)
{
    RankedCount *chosen;
    int64_t all;
    const int64_t kept = choose_classes(job, of, n, &chosen, &all);
    RunTable *table = new_table(job, view);
    REPORT_HEADS(job, table, title,
                 kept < all
                     ? arena_printf(job->arena,
                                    "%" PRId64 " of %" PRId64 ": those with the most errors.", kept,
                                    all)
                     : NULL,
                 "", what, "predicted", "precision", "recall", "F1");
    for (int64_t i = 0; i < kept; i++) {
        const MatchCount *count = &of[chosen[i].id];
        report_cell(job, table,
                    names ? names[chosen[i].id]
                          : arena_printf(job->arena, "class %" PRId64, chosen[i].id));
        report_count(job, table, count->labels);
        report_count(job, table, count->predictions);
        report_percent(job, table, count->right, count->predictions);
        report_percent(job, table, count->right, count->labels);
        report_number(job, table, match_f1(count), 3);
    }
}

/* ---- records ---- */

static int compare_losses(const void *a, const void *b)
{
    const JudgedRow *x = a, *y = b;
    return x->loss != y->loss ? (x->loss < y->loss) - (x->loss > y->loss)
                              : (x->row > y->row) - (x->row < y->row);
}

/* What a person reads of a record: at most MOST_CELL bytes of whole characters. */
static const char *cell_text(Job *job, const Line *line)
{
    const size_t length =
        line->length > MOST_CELL ? utf8_start(line->text, MOST_CELL) : line->length;
    const char *text = arena_strndup(job->arena, line->text, length);
    return length < line->length ? arena_printf(job->arena, "%s…", text) : text;
}

/* Word i between blanks; NULL: there is none. */
static const char *word_at(Arena *arena, const Line *line, int64_t i)
{
    const char *at = line->text, *end = at + line->length;
    for (;; i--) {
        while (at < end && *at == ' ')
            at++;
        const char *from = at;
        while (at < end && *at != ' ')
            at++;
        if (at == from || !i)
            return at == from ? NULL : arena_strndup(arena, from, (size_t)(at - from));
    }
}

/* Fields: what is shown of the records: the columns of words and labels that are read. */
typedef struct Fields {
    const CorpusText *text;
    const char *heads[MOST_COLUMNS + 2];
    const Lines *lines[MOST_COLUMNS + 2];
    int n;
} Fields;

static void add_field(Fields *fields, const char *head, const Lines *lines)
{
    if (!lines || lines->tensor)
        return;
    fields->heads[fields->n] = head;
    fields->lines[fields->n++] = lines;
}

static Fields fields_of(const Predictor *predictor, const CorpusText *text)
{
    Fields fields = {.text = text};
    const ModelPorts *ports = &predictor->inference->ports;
    if (ports->source && function_reads(predictor->function, ports->source))
        add_field(&fields, ports->source, text->source);
    if (ports->target && function_reads(predictor->function, ports->target))
        add_field(&fields, ports->target, ports->source ? text->target : text->source);
    for (int c = 0; c < predictor->columns.n; c++) {
        const ColumnSpec *spec = &predictor->columns.specs[c];
        if (spec->kind == COLUMN_TEXT || spec->kind == COLUMN_LABELS)
            add_field(&fields, spec->input,
                      text->columns[columns_find(predictor->given, spec->input)]);
    }
    return fields;
}

/* "Berlin: B-LOC, not B-PER; …": the positions whose tag is wrong. */
static const char *wrong_tags(Job *job, const JudgedTask *task, const Corpus *corpus,
                              const JudgedRow *row, const Line *words)
{
    const Rows *labels = &corpus->columns[task->prediction->label];
    const int32_t *right = labels->ids.data + labels->start[row->row],
                  *predicted = task->ids.data + row->predicted, *firsts;
    const bool by_words = predicted_words(task->prediction, corpus, row->row, &firsts) >= 0;
    const char *list = "";
    int64_t wrong = 0;
    for (int64_t i = 0; i < row->n; i++) {
        const int32_t label = right[by_words ? firsts[i] : i];
        if (label == predicted[i] || wrong++ >= MOST_WRONG)
            continue;
        const char *word = words ? word_at(job->arena, words, i) : NULL;
        list = arena_printf(job->arena, "%s%s%s: %s, not %s", list, *list ? "; " : "",
                            word ? word : arena_printf(job->arena, "position %" PRId64, i + 1),
                            class_name(job, task->prediction, label),
                            class_name(job, task->prediction, predicted[i]));
    }
    return wrong > MOST_WRONG
               ? arena_printf(job->arena, "%s; %" PRId64 " more", list, wrong - MOST_WRONG)
           : wrong ? list
                   : "none";
}

/* Names of ids, with blanks between them. */
static const char *names_of(Job *job, const Prediction *p, const int32_t *ids, int64_t n)
{
    Text list = {0};
    for (int64_t i = 0; i < n; i++)
        text_add(&list, "%s%s", i ? " " : "", class_name(job, p, ids[i]));
    return text_keep(job->arena, &list);
}

/* What each task shows of a record: its heads, and whether it is worth showing. */
typedef struct WorstForm {
    const char *title, *note, *heads[4];
    double least; /* records of a loss up to this one are right */
} WorstForm;

static void put_judgement(Job *job, const JudgedTask *task, const Judged *judged,
                          const Corpus *corpus, const JudgedRow *row, const Line *words,
                          RunTable *table)
{
    const Prediction *p = task->prediction;
    const Rows *labels = p->label < 0 ? NULL : &corpus->columns[p->label];
    const int32_t *right = labels ? labels->ids.data + labels->start[row->row] : NULL,
                  *ids = task->ids.data + row->predicted;
    if (task == &judged->classes) {
        report_cell(job, table, class_name(job, p, right[0]));
        report_cell(job, table, class_name(job, p, ids[0]));
        report_percent(job, table, (int64_t)(1e6 * row->value), 1000000);
    } else if (task == &judged->tags) {
        report_cell(job, table, wrong_tags(job, task, corpus, row, words));
    } else if (task == &judged->sequences) {
        report_cell(job, table, names_of(job, p, right, rows_length(labels, row->row)));
        report_cell(job, table, names_of(job, p, ids, row->n));
    } else if (task == &judged->numbers) {
        float given;
        memcpy(&given, right, sizeof given);
        report_number(job, table, (double)given, 4);
        report_number(job, table, row->value, 4);
    }
}

static void add_worst(Job *job, const Judged *judged, const JudgedTask *task, const WorstForm *form,
                      const Fields *fields, const Corpus *corpus, RunView *view)
{
    if (!task->prediction)
        return;
    RunTable *table = new_table(job, view);
    qsort(task->rows, (size_t)task->n, sizeof *task->rows, compare_losses);
    REPORT_HEADS(job, table, form->title, form->note, "record", form->heads[0]);
    for (int f = 0; f < fields->n; f++)
        vec_push(job->arena, table->heads, fields->heads[f]);
    for (int h = 1; h < 4 && form->heads[h]; h++)
        vec_push(job->arena, table->heads, form->heads[h]);
    for (int64_t i = 0; i < task->n && i < MOST_WORST && !(task->rows[i].loss <= form->least);
         i++) {
        const JudgedRow *row = &task->rows[i];
        const int64_t record = corpus->line[row->row];
        report_count(job, table, record + 1);
        report_cell(job, table,
                    isinf(row->loss) ? "–" : arena_printf(job->arena, "%.4g", row->loss));
        for (int f = 0; f < fields->n; f++)
            report_cell(job, table, cell_text(job, &fields->lines[f]->at[record]));
        put_judgement(job, task, judged, corpus, row,
                      fields->n == 1 ? &fields->lines[0]->at[record] : NULL, table);
    }
}

/* How well each label of sets is found. */
static void add_sets(Job *job, const JudgedSets *sets, RunView *view)
{
    MatchCount *of = ARENA_ARRAY(job->arena, MatchCount, sets->n + 1);
    for (int64_t i = 0; i < sets->n; i++)
        of[i] = sets->of[i].count;
    add_matches(job, arena_printf(job->arena, "Labels of %s", sets->prediction->name), "records",
                of, sets->prediction->names, sets->n, view);
}

static void add_tables(Job *job, const Judged *judged, const Fields *fields, const Corpus *corpus,
                       RunView *view)
{
    static const WorstForm classes = {
        "Records of the greatest loss",
        "The loss is −ln of the label's probability: at the top is what the model is sure of and "
        "what is wrong, be it the model or the label.",
        {"loss", "label", "prediction", "probability"},
        -1};
    static const WorstForm tags = {"Records of the greatest loss",
                                   "The mean over the positions of −ln of the label's probability.",
                                   {"loss", "wrong tags"},
                                   -1};
    static const WorstForm sequences = {"Records with the most errors",
                                        "Edits from the best path to the labels.",
                                        {"errors", "labels", "prediction"},
                                        0};
    static const WorstForm numbers = {
        "Records that are the furthest off", NULL, {"difference", "given", "predicted"}, 0};
    static const WorstForm vectors = {
        "Records whose partner is the furthest",
        "The rank of the partner among all records, the worse of both ways.",
        {"rank"},
        1};
    if (judged->classes.prediction) {
        const JudgedTask *task = &judged->classes;
        add_matrix(job, task, "records", view);
        add_matches(job, arena_printf(job->arena, "Classes of %s", task->prediction->name),
                    "records", task->counts.of, task->prediction->names, task->counts.n, view);
    }
    if (judged->tags.prediction) {
        const JudgedTask *task = &judged->tags;
        add_matrix(job, task, "positions", view);
        if (task->spans.has_spans)
            add_matches(job, arena_printf(job->arena, "Spans of %s", task->prediction->name),
                        "spans", task->spans.of, task->spans.types, task->spans.n_types, view);
        else
            add_matches(job, arena_printf(job->arena, "Tags of %s", task->prediction->name),
                        "positions", task->counts.of, task->prediction->names, task->counts.n,
                        view);
    }
    if (judged->sets.prediction)
        add_sets(job, &judged->sets, view);
    add_worst(job, judged, &judged->classes, &classes, fields, corpus, view);
    add_worst(job, judged, &judged->tags, &tags, fields, corpus, view);
    add_worst(job, judged, &judged->sequences, &sequences, fields, corpus, view);
    add_worst(job, judged, &judged->numbers, &numbers, fields, corpus, view);
    add_worst(job, judged, &judged->vectors, &vectors, fields, corpus, view);
}

bool study_predictions(Job *job, RunFolder *run, const CorpusText *text,
                       const StudyOptions *options, RunView *view)
{
    Predictor predictor;
    TrainFigures figures = train_no_figures();
    Judged judged = {0};
    Corpus *corpus = evaluation_records(job, run, text);
    bool ok = corpus &&
              predictor_prepare(&predictor, job, &run->inference, &run->columns, run->kind, NULL) &&
              run_folder_load(job, run, options->checkpoint) &&
              thresholds_of_run(job, &predictor, run) &&
              predictor_measure(&predictor, job, corpus, false, &figures, &judged);
    if (ok) {
        const Fields fields = fields_of(&predictor, text);
        add_tables(job, &judged, &fields, corpus, view);
    }
    judged_free(&judged);
    corpus_free(corpus);
    return ok;
}
