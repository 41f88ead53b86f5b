/* What the run's columns say of what is compiled: of each prediction of the function predict, and
 * which input a text feeds; and of the inputs that texts are generated from. For the model's
 * constant (TfcPredictions and TfcColumn of runtime/model/abi.h). */
#include "driver/compile/artifact.h"

#include "driver/run/column_words.h"

#include <inttypes.h>
#include <string.h>

/* ---- what is predicted ---- */

/* Without a run the lists that lie beside the model; classes of others have no names. */
static bool read_labels_beside(Artifact *a)
{
    for (int c = 0; c < a->columns.n; c++)
        if (a->columns.words[c] && !strcmp(a->columns.words[c], "words"))
            a->columns.words[c] = NULL;
    return column_words_make(a->job, a->session.options.reach.folder, &a->ports, &a->columns, NULL,
                             0, NULL);
}

static bool read_labels(Artifact *a)
{
    RunRecord record;
    if (!a->run)
        return read_labels_beside(a);
    return run_record_read(a->job, a->run, &record) &&
           column_words_read(a->job, a->run, &record, &a->columns);
}

static bool find_columns(Artifact *a)
{
    return a->columns.specs || /* they are there */
           (columns_of(a->job, a->session.model->module, &a->ports, &a->columns) &&
            read_labels(a) &&
            (!a->vocab ||
             columns_take_vocabulary(a->job, a->session.model, &a->columns, a->vocab)));
}

/* The one text that predictions of records read has its own vocabulary: nothing inside reads
 * another. */
static void take_own_vocabulary(Artifact *a)
{
    const DataColumns *read = &a->predictor.columns;
    if (a->kind != CORPUS_RECORDS || read->n != 1 || !read->specs[0].vocab)
        return;
    a->vocab = read->specs[0].vocab;
    a->rules = *vocab_rules(a->vocab);
}

bool compile_find_predictions(Artifact *a)
{
    inference_init(&a->inference, &a->session, NULL, a->vocab);
    if (!find_columns(a) ||
        !predictor_find(&a->predictor, a->job, &a->inference, &a->columns, a->kind, a->only))
        return false;
    take_own_vocabulary(a);
    return true;
}

/* ---- the input that a text feeds ---- */

static bool is_one_of(const char *name, const char *a, const char *b)
{
    return (a && !strcmp(name, a)) || (b && !strcmp(name, b));
}

/* Whether the function reads `input` and no other but `next`. */
static bool reads_alone(const Function *function, const char *input, const char *next)
{
    bool reads = false;
    FOR_OPS (op, &function->body) {
        const char *name = op->kind == OP_input ? op_string(op, ATTR_name) : NULL;
        if (name && !is_one_of(name, input, next))
            return false;
        reads = reads || (name && !strcmp(name, input));
    }
    return reads;
}

/* A column as records have it: a text without a vocabulary, and labels without a list, are ids. */
static TfcColumn column_input(const Artifact *a, const ColumnSpec *spec)
{
    ColumnSpec read = *spec;
    if (spec->kind == COLUMN_TEXT ? !a->vocab : spec->kind == COLUMN_LABELS && !spec->labels)
        read.kind = COLUMN_INTEGERS;
    return (TfcColumn){.row = column_row(&read, a->vocab),
                       .of_source = spec->is_source,
                       .by_words = spec->by_words};
}

static TfcColumn side_input(const char *input, TextFrame frame)
{
    return (TfcColumn){
        .row = {.input = input, .kind = COLUMN_TEXT, .is_along = 1, .width = 1, .frame = frame},
        .of_source = !frame.is_target};
}

/* The column of the model's source, with the tokens that stand around a source of this kind. */
static TfcColumn source_input(const Artifact *a, CorpusKind kind)
{
    return side_input(a->ports.source, corpus_source_frame(a->vocab, kind));
}

static TfcColumn target_input(const Artifact *a)
{
    TfcColumn target = side_input(a->ports.target, corpus_target_frame(a->vocab, CORPUS_LINES));
    target.next = a->ports.next;
    return target;
}

/* Whether what is predicted of positions is of the text's, and not along another dimension. */
static bool lies_along_text(const Predictor *p)
{
    const int side = p->kind == CORPUS_LINES     ? SIDE_TARGET
                     : p->kind != CORPUS_RECORDS ? SIDE_SOURCE
                                                 : p->columns.specs[0].side;
    for (int i = 0; i < p->n; i++)
        if (p->all[i].side >= 0 && p->all[i].side != side)
            return false;
    return true;
}

bool compile_text_input(const Artifact *a, TfcColumn *out)
{
    const Predictor *p = &a->predictor;
    if (!a->vocab || !a->names[TFC_PREDICT])
        return false;
    *out = p->kind == CORPUS_LINES     ? target_input(a)
           : p->kind != CORPUS_RECORDS ? source_input(a, p->kind)
           : p->columns.n == 1         ? column_input(a, &p->columns.specs[0])
                                       : (TfcColumn){0};
    return out->row.input && out->row.kind == COLUMN_TEXT &&
           reads_alone(a->functions[TFC_PREDICT], out->row.input, out->next) && lies_along_text(p);
}

/* ---- what texts are generated from ---- */

static TfcColumn read_column(Artifact *a, const ColumnSpec *spec)
{
    if (spec->kind == COLUMN_TEXT && spec->vocab && vocab_kind(spec->vocab) == VOCAB_JSON)
        a->records_lack =
            arena_printf(a->job->arena, "`%s` has a tokenizer.json of its own", spec->input);
    if (spec->kind == COLUMN_LABELS && (!spec->labels || spec->by_words || spec->many))
        a->records_lack =
            arena_printf(a->job->arena,
                         !spec->labels ? "the labels of `%s` are not known without a run"
                         : spec->many  ? "`%s` is fed by sets of labels"
                                       : "the labels `%s` are those of words",
                         spec->input);
    return column_input(a, spec);
}

/* A source beside columns. */
static TfcColumn read_source(const Artifact *a)
{
    return a->vocab ? source_input(a, CORPUS_PAIRS) : side_input(a->ports.source, TEXT_UNFRAMED);
}

bool compile_find_columns(Artifact *a)
{
    const TfcProgram *encode = a->programs[TFC_ENCODE];
    if (!find_columns(a))
        return false;
    a->read = ARENA_ARRAY(a->job->arena, TfcColumn, encode->n_inputs);
    for (int32_t i = 0; i < encode->n_inputs; i++) {
        const char *input = encode->inputs[i].name;
        const int c = columns_find(&a->columns, input);
        a->read[i] = c >= 0 ? read_column(a, &a->columns.specs[c]) : read_source(a);
    }
    if (a->has_text && a->records_lack)
        diag_remark(
            &a->job->diags, (Loc){0},
            "the function translations, of records, is left out: %s; generate takes its ids",
            a->records_lack);
    return true;
}

const Vocabulary *compile_own_vocabulary(const Artifact *a, int input)
{
    const RowColumn *row = artifact_takes_records(a) ? &a->read[input].row : NULL;
    const int c = row && row->kind == COLUMN_TEXT ? columns_find(&a->columns, row->input) : -1;
    return c < 0 ? NULL : a->columns.specs[c].vocab;
}

bool compile_check_records(const Artifact *a)
{
    return artifact_takes_records(a) ||
           job_error(a->job, "--emit %s: records are not taken: %s", a->emit,
                     a->records_lack ? a->records_lack
                                     : "no vocabulary is inside; --vocab gives it");
}

/* ---- the constant ---- */

/* A string of C: bytes that are not plain, or whose characters a terminal obeys, in octal, of three
 * digits, which no digit behind them joins. */
static void put_c_string(const char *text, Text *out)
{
    const char *end = text + strlen(text);
    text_string(out, "\"");
    for (const char *at = text; at < end;) {
        const size_t size = text_visible_length(at, (size_t)(end - at));
        if (size && !strchr("\"\\?\t", *at))
            text_put(out, at, size);
        else
            text_add(out, "\\%03o", (unsigned char)*at);
        at += size ? size : 1;
    }
    text_string(out, "\"");
}

/* names NULL: there are none, and no array. */
static void put_labels(const char *array, int number, const char *const *names, int64_t n,
                       Text *out)
{
    if (!names)
        return;
    text_add(out, "static const char *const %s_%d[] = {\n", array, number);
    for (int64_t i = 0; i < n; i++) {
        text_string(out, "    ");
        put_c_string(names[i], out);
        text_string(out, ",\n");
    }
    text_string(out, "};\n");
}

static void put_prediction(const Prediction *p, int number, Text *out)
{
    text_string(out, "    {");
    put_c_string(p->name, out);
    text_add(out, ", %" PRId64 ", %" PRId64 ", %d, %d, ", p->classes ? p->n_classes : 0, p->width,
             p->side >= 0, p->is_ctc);
    text_add(out, p->names ? "labels_%d},\n" : "0},\n", number);
}

/* The digits that tell each f32 from the others, as C reads it. */
static void put_thresholds(const Prediction *p, int number, Text *out)
{
    if (!p->thresholds)
        return;
    text_add(out, "static const float thresholds_%d[] = {", number);
    for (int64_t i = 0; i < p->n_classes; i++)
        text_add(out, "%s(float)%.9g", i ? ", " : "", (double)p->thresholds[i]);
    text_string(out, "};\n");
}

static void put_set(const Prediction *p, int number, Text *out)
{
    if (!p->thresholds) {
        text_string(out, "    {0, 0, 0},\n");
        return;
    }
    text_add(out, "    {thresholds_%d, %" PRId64 ", ", number, p->n_classes);
    put_c_string(p->mark, out);
    text_string(out, "},\n");
}

static void put_name(const char *name, Text *out)
{
    if (name)
        put_c_string(name, out);
    else
        text_string(out, "0");
}

void compile_put_frame(const TextFrame *frame, Text *out)
{
    const int64_t ids[] = {frame->begin, frame->end,  frame->alone,
                           frame->blank, frame->mask, frame->is_target};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        text_add(out, "%s%" PRId64, i ? ", " : "{", ids[i]);
    text_string(out, "}");
}

/* The arrays that column `number` points to: its labels and ranges of ids. */
static void put_column_arrays(const RowColumn *row, int number, Text *out)
{
    put_labels("column_labels", number, row->labels, row->n_labels, out);
    for (int64_t i = 0; i < row->ids.n; i++) {
        if (!i)
            text_add(out, "static const IdRange column_ids_%d[] = {\n    ", number);
        compile_put_range(&row->ids.at[i], out);
        text_string(out, i + 1 < row->ids.n ? ", " : "\n};\n");
    }
}

/* own: the name of the vocabulary that it has of its own, or "0". */
static void put_column(const TfcColumn *column, int number, const char *own, Text *out)
{
    const RowColumn *row = &column->row;
    text_string(out, "{{");
    put_name(row->input, out);
    text_add(out, ", %" PRId64 ", %" PRId64 ", %" PRId64 ", ", row->kind, row->is_along,
             row->width);
    compile_put_frame(&row->frame, out);
    text_add(out, ", {%" PRId64 ", %" PRId64 "}", row->marks.between, row->marks.is_set);
    text_add(out, row->labels ? ", column_labels_%d" : ", 0", number);
    text_add(out, ", %" PRId64 ", %" PRId64 ", 0, 0, {%" PRId64 ", ", row->n_labels, row->first,
             row->ids.n);
    text_add(out, row->ids.n ? "column_ids_%d" : "0", number);
    text_add(out, "}, %" PRId64 "}, %s, %" PRId64 ", %" PRId64 ", ", row->missing, own,
             column->of_source, column->by_words);
    put_name(column->next, out);
    text_string(out, "}");
}

static bool put_text_input(const Artifact *a, Text *out)
{
    TfcColumn input;
    if (!a->has_text || !compile_text_input(a, &input))
        return false;
    text_string(out, "static const TfcColumn text_input = ");
    put_column(&input, 0, "0", out);
    text_string(out, ";\n");
    return true;
}

void compile_put_predictions(const Artifact *a, Text *out)
{
    const Predictor *p = &a->predictor;
    if (!a->names[TFC_PREDICT])
        return;
    for (int i = 0; i < p->n; i++)
        put_labels("labels", i, p->all[i].names, p->all[i].n_classes, out);
    for (int i = 0; i < p->n; i++)
        put_thresholds(&p->all[i], i, out);
    text_string(out, "static const TfcPrediction all_predictions[] = {\n");
    for (int i = 0; i < p->n; i++)
        put_prediction(&p->all[i], i, out);
    text_string(out, "};\nstatic const TfcLabelSet all_sets[] = {\n");
    for (int i = 0; i < p->n; i++)
        put_set(&p->all[i], i, out);
    text_string(out, "};\n");
    const bool takes_text = put_text_input(a, out);
    text_add(
        out,
        "static const TfcPredictions predictions_constant = {%d, all_predictions, all_sets, %s};\n\n",
        p->n, takes_text ? "&text_input" : "0");
}

int compile_put_columns(const Artifact *a, Text *out)
{
    const int n = a->read ? a->programs[TFC_ENCODE]->n_inputs : 0;
    if (!n)
        return 0;
    for (int i = 0; i < n; i++)
        put_column_arrays(&a->read[i].row, i, out);
    text_string(out, "static const TfcColumn columns_constant[] = {\n");
    for (int i = 0; i < n; i++) {
        const char *own = compile_own_vocabulary(a, i)
                              ? arena_printf(a->job->arena, "&own_vocabulary_%d", i)
                              : "0";
        text_string(out, "    ");
        put_column(&a->read[i], i, own, out);
        text_string(out, ",\n");
    }
    text_string(out, "};\n\n");
    return n;
}
