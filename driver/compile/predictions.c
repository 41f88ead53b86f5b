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
            (!a->vocab || columns_take_vocabulary(a->job, &a->columns, a->vocab)));
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

static TfcTextInput column_input(const Artifact *a, const ColumnSpec *spec)
{
    const Vocabulary *vocab = column_vocab(spec, a->vocab);
    const TokenRules *rules = vocab_rules(vocab);
    const bool hides = spec->hide.rate > 0;
    return (TfcTextInput){.input = spec->kind == COLUMN_TEXT ? spec->input : NULL,
                          .of_source = spec->is_source,
                          .begin = spec->is_framed ? rules->source_begin : -1,
                          .end = spec->is_framed ? rules->source_end : -1,
                          .alone = -1,
                          .blank = hides ? vocab_blank(vocab) : -1,
                          .mask = hides ? rules->mask : -1,
                          .by_words = spec->by_words};
}

/* As corpus_source_frame has it. */
static TfcTextInput source_input(const Artifact *a)
{
    const bool begins = a->rules.source_begin < 0 && a->predictor.kind == CORPUS_SENTENCES;
    return (TfcTextInput){.input = a->ports.source,
                          .of_source = 1,
                          .begin = begins ? a->rules.begin : a->rules.source_begin,
                          .end = a->rules.source_end,
                          .alone = vocab_rules(vocab_source(a->vocab))->end,
                          .blank = -1,
                          .mask = -1};
}

/* As corpus_target_frame has it for lines. */
static TfcTextInput target_input(const Artifact *a)
{
    return (TfcTextInput){.input = a->ports.target,
                          .next = a->ports.next,
                          .is_target = 1,
                          .begin = a->rules.text.begin,
                          .end = a->rules.text.end,
                          .alone = a->rules.text.start,
                          .blank = -1,
                          .mask = -1};
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

bool compile_text_input(const Artifact *a, TfcTextInput *out)
{
    const Predictor *p = &a->predictor;
    if (!a->vocab || !a->names[TFC_PREDICT])
        return false;
    *out = p->kind == CORPUS_LINES     ? target_input(a)
           : p->kind != CORPUS_RECORDS ? source_input(a)
           : p->columns.n == 1         ? column_input(a, &p->columns.specs[0])
                                       : (TfcTextInput){0};
    return out->input && reads_alone(a->functions[TFC_PREDICT], out->input, out->next) &&
           lies_along_text(p);
}

/* ---- what texts are generated from ---- */

/* A source beside columns: with the tokens around it. */
static TfcTextInput source_column(const Artifact *a)
{
    return (TfcTextInput){.input = a->ports.source,
                          .of_source = 1,
                          .begin = a->rules.source_begin,
                          .end = a->rules.source_end,
                          .alone = -1,
                          .blank = -1,
                          .mask = -1};
}

static TfcColumn read_text(Artifact *a, TfcTextInput input)
{
    TfcTextInput *text = ARENA_NEW(a->job->arena, TfcTextInput);
    *text = input;
    return (TfcColumn){.text = text};
}

static TfcColumn read_column(Artifact *a, const ColumnSpec *spec)
{
    if (spec->kind == COLUMN_TEXT && spec->vocab && vocab_kind(spec->vocab) == VOCAB_JSON)
        a->records_lack =
            arena_printf(a->job->arena, "`%s` has a tokenizer.json of its own", spec->input);
    if (spec->kind == COLUMN_LABELS && (!spec->labels || spec->by_words))
        a->records_lack =
            arena_printf(a->job->arena,
                         spec->labels ? "the labels `%s` are those of words"
                                      : "the labels of `%s` are not known without a run",
                         spec->input);
    if (a->vocab && spec->kind == COLUMN_TEXT)
        return read_text(a, column_input(a, spec));
    if (spec->kind == COLUMN_LABELS && spec->labels)
        return (TfcColumn){.labels = (const char *const *)spec->labels->words.data,
                           .n_labels = (int64_t)spec->labels->words.count,
                           .first = spec->first};
    return (TfcColumn){.text = NULL};
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
        a->read[i] = c >= 0 ? read_column(a, &a->columns.specs[c]) : read_text(a, source_column(a));
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
    const bool takes = artifact_takes_records(a) && a->read[input].text;
    const int c = takes ? columns_find(&a->columns, a->read[input].text->input) : -1;
    return c < 0 ? NULL : a->columns.specs[c].vocab;
}

bool compile_check_records(const Artifact *a)
{
    const TfcProgram *encode = a->programs[TFC_ENCODE];
    if (!artifact_takes_records(a))
        return job_error(a->job, "--emit %s: records are not taken: %s", a->emit,
                         a->records_lack ? a->records_lack
                                         : "no vocabulary is inside; --vocab gives it");
    for (int32_t i = 0; i < encode->n_inputs; i++)
        if (column_has_numbers(&a->read[i]) && encode->inputs[i].shape.rank > 1 &&
            encode->inputs[i].shape.dims[1].dim >= encode->n_given)
            return job_error(a->job,
                             "--emit %s: `%s` lies along a dimension that is made of others, which "
                             "a library takes (-o lib%s.so)",
                             a->emit, encode->inputs[i].name, a->name);
    return true;
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

static void put_name(const char *name, Text *out)
{
    if (name)
        put_c_string(name, out);
    else
        text_string(out, "0");
}

/* own: the name of the vocabulary that it has of its own, or "0". */
static void put_input(const char *name, const TfcTextInput *input, const char *own, Text *out)
{
    text_add(out, "static const TfcTextInput %s = {", name);
    put_name(input->input, out);
    text_string(out, ", ");
    put_name(input->next, out);
    text_add(out, ", %s", own);
    const int64_t numbers[] = {input->of_source, input->is_target, input->begin, input->end,
                               input->alone,     input->blank,     input->mask,  input->by_words};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        text_add(out, ", %" PRId64, numbers[i]);
    text_string(out, "};\n");
}

static bool put_text_input(const Artifact *a, Text *out)
{
    TfcTextInput input;
    if (!a->has_text || !compile_text_input(a, &input))
        return false;
    put_input("text_input", &input, "0", out);
    return true;
}

void compile_put_predictions(const Artifact *a, Text *out)
{
    const Predictor *p = &a->predictor;
    if (!a->names[TFC_PREDICT])
        return;
    for (int i = 0; i < p->n; i++)
        put_labels("labels", i, p->all[i].names, p->all[i].n_classes, out);
    text_string(out, "static const TfcPrediction all_predictions[] = {\n");
    for (int i = 0; i < p->n; i++)
        put_prediction(&p->all[i], i, out);
    text_string(out, "};\n");
    const bool takes_text = put_text_input(a, out);
    text_add(out,
             "static const TfcPredictions predictions_constant = {%d, all_predictions, %s};\n\n",
             p->n, takes_text ? "&text_input" : "0");
}

int compile_put_columns(const Artifact *a, Text *out)
{
    const int n = a->read ? a->programs[TFC_ENCODE]->n_inputs : 0;
    if (!n)
        return 0;
    for (int i = 0; i < n; i++) {
        put_labels("column_labels", i, a->read[i].labels, a->read[i].n_labels, out);
        if (a->read[i].text)
            put_input(arena_printf(a->job->arena, "column_text_%d", i), a->read[i].text,
                      compile_own_vocabulary(a, i)
                          ? arena_printf(a->job->arena, "&own_vocabulary_%d", i)
                          : "0",
                      out);
    }
    text_string(out, "static const TfcColumn columns_constant[] = {\n");
    for (int i = 0; i < n; i++) {
        const TfcColumn *column = &a->read[i];
        text_add(out, column->text ? "    {&column_text_%d, " : "    {0, ", i);
        text_add(out, column->labels ? "column_labels_%d, " : "0, ", i);
        text_add(out, "%" PRId64 ", %" PRId64 "},\n", column->n_labels, column->first);
    }
    text_string(out, "};\n\n");
    return n;
}
