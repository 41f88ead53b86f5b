/* The function predict of what is compiled: what the run's columns say of each prediction, and
 * which input a text feeds; for the model's constant (TfcPredictions of runtime/model/abi.h). */
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
    return column_words_make(a->job, &a->ports, &a->columns, NULL, 0, NULL);
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
    return columns_of(a->job, a->session.model->module, &a->ports, &a->columns) && read_labels(a) &&
           (!a->vocab || columns_take_vocabulary(a->job, &a->columns, a->vocab));
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

/* ---- the constant ---- */

/* A string of C: bytes that are not plain in octal, of three digits, which no digit behind them
 * joins. */
static void put_c_string(const char *text, Text *out)
{
    text_string(out, "\"");
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || strchr("\"\\?\177", *at))
            text_add(out, "\\%03o", (unsigned char)*at);
        else
            text_put(out, at, 1);
    text_string(out, "\"");
}

static void put_labels(const Prediction *p, int number, Text *out)
{
    if (!p->names)
        return;
    text_add(out, "static const char *const labels_%d[] = {\n", number);
    for (int64_t i = 0; i < p->n_classes; i++) {
        text_string(out, "    ");
        put_c_string(p->names[i], out);
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

static bool put_text_input(const Artifact *a, Text *out)
{
    TfcTextInput input;
    if (!a->has_text || !compile_text_input(a, &input))
        return false;
    text_string(out, "static const TfcTextInput text_input = {");
    put_name(input.input, out);
    text_string(out, ", ");
    put_name(input.next, out);
    const int64_t numbers[] = {input.of_source, input.is_target, input.begin, input.end,
                               input.alone,     input.blank,     input.mask,  input.by_words};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        text_add(out, ", %" PRId64, numbers[i]);
    text_string(out, "};\n");
    return true;
}

void compile_put_predictions(const Artifact *a, Text *out)
{
    const Predictor *p = &a->predictor;
    if (!a->names[TFC_PREDICT])
        return;
    for (int i = 0; i < p->n; i++)
        put_labels(&p->all[i], i, out);
    text_string(out, "static const TfcPrediction all_predictions[] = {\n");
    for (int i = 0; i < p->n; i++)
        put_prediction(&p->all[i], i, out);
    text_string(out, "};\n");
    const bool takes_text = put_text_input(a, out);
    text_add(out,
             "static const TfcPredictions predictions_constant = {%d, all_predictions, %s};\n\n",
             p->n, takes_text ? "&text_input" : "0");
}
